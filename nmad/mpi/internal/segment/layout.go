package segment

import "github.com/pm2-go/pm2/nmad/internal/mapped"

// Slots is how many pieces a member may have published that others have not taken yet.
const Slots = 16

// PieceOf is the longest piece, in bytes, where there are so many members. The ring of a few members is longer than the second cache of a core: so what a reader takes has left the writer's, and it
// comes from the cache that both share (docs/decisions/collectives-in-shared-memory.md). Many members have shorter ones, which together are as long as those of eight.
func PieceOf(members int) int { return max(min(longest, longest*8/max(members, 1))&^(page-1), page) }

const longest = 128 << 10

// MaxMembers is how many members a segment has at most: as many bits a station has for those that sleep.
const MaxMembers = 256

// A station, by line of 64 bytes: taken, bits of sleepers, heads of the slots; from the next page on, the slots' bodies. A head is a flag, a description, and the piece, if that is short.
const (
	line     = 64
	page     = 4096
	takenAt  = 0
	bitsAt   = line
	headsAt  = 2 * line
	short    = line - 16
	bodiesAt = page
)

// station is how many bytes each of so many members has.
func station(members int) int { return bodiesAt + Slots*PieceOf(members) }

// Size is how many bytes a segment of so many members has.
func Size(members int) int { return members * station(members) }

// CardBytes is the length of what tells other processes where a segment is, in bytes.
const CardBytes = mapped.CardBytes

// pieces is how many an operation may have.
const pieces = 1<<pieceBits - 1

const pieceBits = 22

// MaxPieces is how many pieces a member may publish in an operation, MaxOperations how many operations there may be.
const (
	MaxPieces     = pieces - 1
	MaxOperations = 1<<(64-pieceBits) - 1
)

func mark(op uint64, k int) uint64 { return op<<pieceBits | uint64(k+1) }

// last is the mark after all of an operation.
func last(op uint64) uint64 { return op<<pieceBits | pieces }
