package roster

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// frameKind says what a frame is.
type frameKind = byte

const (
	kindCard    frameKind = 1 + iota // to rank 0: the cards of a subtree
	kindTable                        // from rank 0: all cards, packed
	kindReady                        // to rank 0: empty
	kindGo                           // from rank 0: empty
	kindLeave                        // both ways: rank
	kindDead                         // both ways: rank, reason
	kindAbort                        // both ways: rank, reason
	kindBeat                         // both ways, once the job runs: empty
	kindQuit                         // both ways, once the job runs: empty. To a parent: this member looks for another one; from one: it gives up its members
	kindSubtree                      // to a parent, once the job runs: all ranks that this member speaks for besides itself
)

const maxReason = 512

// errFrame is what a frame is that breaks the protocol.
var errFrame = meet.ErrFrame

// limitOf is the largest payload of a frame of a kind in a job of that size; -1: there is no such kind.
func limitOf(k frameKind, size int) int {
	switch k {
	case kindReady, kindGo, kindBeat, kindQuit:
		return 0
	case kindCard, kindTable:
		return 4 + size*maxCard
	case kindLeave:
		return 4
	case kindDead, kindAbort:
		return 4 + 2 + maxReason
	case kindSubtree:
		return 4 * size
	}
	return -1
}

// wire is a control connection.
type wire struct {
	*meet.Sealed
	heard atomic.Uint32 // Roster.ticks when the last frame came; the reader writes
}

// send sends a frame. A connection that does not take it ends, and its reader tells why.
func (w *wire) send(k frameKind, payload []byte) {
	if err := w.Send(k, payload); err != nil && !isReset(err) {
		_ = w.Conn.Close()
	} // Else the other side has closed: the reader comes to that end by itself, behind what was sent before it, such as that this process is lost.
}

// recv reads one frame of a job of that size.
func (w *wire) recv(size int) (frameKind, []byte, error) {
	return w.Recv(func(k frameKind) int { return limitOf(k, size) })
}

// A notice says something about one process.
func notice(rank int, reason string) []byte {
	x := coder{b: encodeRanks(rank), writes: true}
	x.string(reason[:min(len(reason), maxReason)], maxReason)
	return x.b
}

func parseNotice(b []byte, size int) (rank int, reason string, err error) {
	x := coder{b: b}
	n := x.u32(0)
	reason = x.string("", maxReason)
	if !x.done() || int64(n) >= int64(size) {
		return 0, "", fmt.Errorf("%w: a notice about rank %d", errFrame, n)
	}
	return int(n), reason, nil
}

func encodeRanks(ranks ...int) []byte {
	x := coder{writes: true}
	for _, rank := range ranks {
		x.u32(uint32(rank))
	}
	return x.b
}

// parseRanks reads ranks of a job of that size, in rising order.
func parseRanks(b []byte, size int) (ranks []int, err error) {
	for x := (coder{b: b}); !x.done(); {
		n := int(x.u32(0))
		if x.bad || n >= size || len(ranks) > 0 && n <= ranks[len(ranks)-1] {
			return nil, fmt.Errorf("%w: %d bytes of ranks", errFrame, len(b))
		}
		ranks = append(ranks, n)
	}
	return ranks, nil
}

// parseLeave reads the rank that leaves.
func parseLeave(b []byte, size int) (int, error) {
	ranks, err := parseRanks(b, size)
	if err != nil || len(ranks) != 1 {
		return 0, fmt.Errorf("%w: %d bytes say which rank leaves", errFrame, len(b))
	}
	return ranks[0], nil
}

// coder takes values off a slice, or appends them to it, so that what is written and read in one order is said once. Each
// method is given the value that is to be written, and returns it, or the one that was read. Once something was missing
// there the coder stays bad and returns zeros, so that a caller checks once, at the end.
type coder struct {
	b      []byte
	writes bool
	bad    bool
}

// next is the next n bytes, to be read or to be written.
func (x *coder) next(n int) (b []byte) {
	if x.writes {
		x.b = append(x.b, make([]byte, n)...)
		return x.b[len(x.b)-n:]
	}
	if x.bad = x.bad || len(x.b) < n; x.bad {
		return make([]byte, n)
	}
	b, x.b = x.b[:n], x.b[n:]
	return b
}

func (x *coder) u32(v uint32) uint32 {
	b := x.next(4)
	if x.writes {
		binary.LittleEndian.PutUint32(b, v)
	}
	return binary.LittleEndian.Uint32(b)
}

func (x *coder) u64(v uint64) uint64 {
	b := x.next(8)
	if x.writes {
		binary.LittleEndian.PutUint64(b, v)
	}
	return binary.LittleEndian.Uint64(b)
}

// string has a string of at most limit bytes, its length before it in two of them.
func (x *coder) string(s string, limit int) string {
	b := x.next(2)
	if x.writes {
		binary.LittleEndian.PutUint16(b, uint16(len(s)))
		copy(x.next(len(s)), s)
		return s
	}
	n := int(binary.LittleEndian.Uint16(b))
	if x.bad = x.bad || n > limit; x.bad {
		return ""
	}
	return string(x.next(n))
}

// done says whether the payload had all that was read of it, and no more.
func (x *coder) done() bool { return !x.bad && len(x.b) == 0 }
