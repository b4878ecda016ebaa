package segment

import "github.com/pm2-go/pm2/nmad/internal/mapped"

// Slots is how many pieces a member may have published that their readers have not released yet.
const Slots = 16

// PieceOf returns the length of the longest piece, in bytes, where there are so many members. The ring of a few members
// is longer than the second-level cache of a core: so a piece has left the writer's cache when a reader takes it, and
// comes from the cache that both share (docs/decisions/collectives-in-shared-memory.md). Many members have shorter
// pieces, so that all rings together are as long as those of eight members.
func PieceOf(members int) int { return max(min(MaxPiece, MaxPiece*8/max(members, 1))&^(page-1), page) }

// MaxPiece is the length of the longest piece of any segment, in bytes.
const MaxPiece = 128 << 10

// MaxMembers is how many members a segment has at most: a station has so many bits for members that sleep.
const MaxMembers = 256

// A station has, in lines of 64 bytes: released, the bits of sleepers, the heads of the slots; and from the next page
// on the bodies of the slots. A head is a flag, a label, and the piece if that is short. A longer piece is in the body.
const (
	line       = 64
	page       = 4096
	releasedAt = 0
	bitsAt     = line
	headsAt    = 2 * line
	short      = line - 16
	bodiesAt   = page
)

// station returns how many bytes the station of a member has, of so many members.
func station(members int) int { return bodiesAt + Slots*PieceOf(members) }

// Size returns how many bytes a segment of so many members has.
func Size(members int) int { return members * station(members) }

// LocatorBytes is the length of a locator, in bytes: the text by which other processes find a segment.
const LocatorBytes = mapped.LocatorBytes

// pieces is how many numbers of pieces an operation has.
const pieces = 1<<pieceBits - 1

const pieceBits = 22

// MaxPieces is how many pieces a member may publish in an operation, MaxOperations how many operations a segment may
// have.
const (
	MaxPieces     = pieces - 1
	MaxOperations = 1<<(64-pieceBits) - 1
)

// mark returns the flag of a piece.
func mark(op uint64, k int) uint64 { return op<<pieceBits | uint64(k+1) }

// last returns the mark after all pieces of an operation.
func last(op uint64) uint64 { return op<<pieceBits | pieces }
