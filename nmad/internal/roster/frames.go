package roster

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// kind says what a frame is.
type kind = byte

const (
	kindCard    kind = 1 + iota // to rank 0: the cards of a subtree
	kindTable                   // from rank 0: all cards, packed
	kindReady                   // to rank 0: empty
	kindGo                      // from rank 0: empty
	kindLeave                   // both ways: rank
	kindDead                    // both ways: rank, reason
	kindAbort                   // both ways: rank, reason
	kindBeat                    // both ways, once the job runs: empty
	kindQuit                    // both ways, once the job runs: empty. To a parent: this member looks for another one; from one: it gives up its members
	kindSubtree                 // to a parent, once the job runs: all ranks that this member speaks for besides itself
)

const maxReason = 512

// errFrame is what a frame is that breaks the protocol.
var errFrame = meet.ErrFrame

// limitOf is the largest payload of a frame of a kind in a job of that size; -1: there is no such kind.
func limitOf(k kind, size int) int {
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
func (w *wire) send(k kind, payload []byte) {
	if err := w.Send(k, payload); err != nil && !isReset(err) {
		_ = w.Conn.Close()
	} // Else the other side has closed: the reader comes to that end by itself, behind what was sent before it, such as that this process is lost.
}

// recv reads one frame of a job of that size.
func (w *wire) recv(size int) (kind, []byte, error) {
	return w.Recv(func(k kind) int { return limitOf(k, size) })
}

// A notice says something about one process.
func notice(rank int, reason string) []byte {
	return appendString(encodeRanks(rank), reason[:min(len(reason), maxReason)])
}

func parseNotice(b []byte, size int) (rank int, reason string, err error) {
	r := reader{b: b}
	n := r.u32()
	reason = r.string(maxReason)
	if !r.done() || int64(n) >= int64(size) {
		return 0, "", fmt.Errorf("%w: a notice about rank %d", errFrame, n)
	}
	return int(n), reason, nil
}

func encodeRanks(ranks ...int) (b []byte) {
	for _, rank := range ranks {
		b = appendU32(b, uint32(rank))
	}
	return b
}

// parseRanks reads ranks of a job of that size, in rising order.
func parseRanks(b []byte, size int) (ranks []int, err error) {
	for r := (reader{b: b}); !r.done(); {
		n := int(r.u32())
		if r.bad || n >= size || len(ranks) > 0 && n <= ranks[len(ranks)-1] {
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

func appendU32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func appendU64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// appendString writes the length as two bytes; longer strings are cut.
func appendString(b []byte, s string) []byte {
	s = s[:min(len(s), 1<<16-1)]
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

// reader takes values off a slice. Once something was missing it stays bad and
// returns zeros, so that a caller checks once, at the end.
type reader struct {
	b   []byte
	bad bool
}

func (d *reader) take(n int) []byte {
	if d.bad || len(d.b) < n {
		d.bad = true
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *reader) u32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *reader) u64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// string reads a string of at most limit bytes.
func (d *reader) string(limit int) string {
	b := d.take(2)
	if b == nil {
		return ""
	}
	n := int(binary.LittleEndian.Uint16(b))
	if n > limit {
		d.bad = true
		return ""
	}
	return string(d.take(n))
}

// done says whether everything was there and nothing is left.
func (d *reader) done() bool { return !d.bad && len(d.b) == 0 }
