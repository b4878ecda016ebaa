package roster

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// frameKind is the kind of a frame. docs/wire.md has the payloads.
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

// maxPayload returns the largest payload of a frame of kind k, in bytes; -1 if there is no such kind.
func maxPayload(k frameKind, size int) int {
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
	rank  int           // of the process at the other end
	heard atomic.Uint32 // Roster.ticks when the last frame came; the reader writes it
}

// newWire goes on with conn after the exchange with peer. dialed says which side has dialed: true if this process has.
func (r *Roster) newWire(conn net.Conn, peer *meet.Peer, dialed bool) *wire {
	w := &wire{Sealed: peer.Seal(conn, dialed), rank: int(peer.Rank)}
	w.Room = windowRoom(conn)
	w.heard.Store(r.ticks.Load())
	return w
}

// send sends a frame. If it cannot be sent the connection ends, and its reader reports why.
func (w *wire) send(k frameKind, payload []byte) {
	if err := w.Send(k, payload); err != nil && !isReset(err) {
		_ = w.Conn.Close()
	} // Else the other side has closed: the reader comes to that end by itself, behind what was sent before it, such as that this process is lost.
}

// recv reads the next frame, in a job of that size. It blocks.
func (w *wire) recv(size int) (frameKind, []byte, error) {
	return w.Recv(func(k frameKind) int { return maxPayload(k, size) })
}

// notice returns the payload of a frame that says something about one process.
func notice(rank int, reason string) []byte {
	x := coder{b: encodeRanks(rank), writing: true}
	x.string(reason[:min(len(reason), maxReason)], maxReason)
	return x.b
}

func parseNotice(b []byte, size int) (rank int, reason string, err error) {
	x := coder{b: b}
	n := x.u32(0)
	reason = x.string("", maxReason)
	if !x.done() || int64(n) >= int64(size) {
		return 0, "", fmt.Errorf("%w: a notice about rank %d", meet.ErrFrame, n)
	}
	return int(n), reason, nil
}

func encodeRanks(ranks ...int) []byte {
	x := coder{writing: true}
	for _, rank := range ranks {
		x.u32(uint32(rank))
	}
	return x.b
}

// parseRanks reads ranks, in rising order, of a job of that size.
func parseRanks(b []byte, size int) (ranks []int, err error) {
	for x := (coder{b: b}); !x.done(); {
		n := int(x.u32(0))
		if x.err != nil || n >= size || len(ranks) > 0 && n <= ranks[len(ranks)-1] {
			return nil, fmt.Errorf("%w: %d bytes of ranks", meet.ErrFrame, len(b))
		}
		ranks = append(ranks, n)
	}
	return ranks, nil
}

// parseEvent reads which rank has gone, of a LEAVE or DEAD frame.
func parseEvent(k frameKind, b []byte, size int) (e Event, err error) {
	if k == kindDead {
		e.Kind = Died
		e.Rank, e.Reason, err = parseNotice(b, size)
		return e, err
	}
	ranks, err := parseRanks(b, size)
	if err != nil || len(ranks) != 1 {
		return e, fmt.Errorf("%w: %d bytes say which rank leaves", meet.ErrFrame, len(b))
	}
	return Event{Rank: ranks[0], Kind: Left, Reason: fmt.Sprintf("rank %d closed its session", ranks[0])}, nil
}

// coder reads values off a slice, or appends them to it, so that the order of the values stands in the code once.
// Each method gets the value to write and returns the value written or read. After an error the coder returns zeros, so
// a caller checks once, at the end.
type coder struct {
	b       []byte // to read from; or what was written
	writing bool   // it writes
	err     error  // bytes were missing, or a string is too long
}

// next returns the next n bytes, to read or to write.
func (x *coder) next(n int) (b []byte) {
	if x.writing {
		x.b = append(x.b, make([]byte, n)...)
		return x.b[len(x.b)-n:]
	}
	if x.err == nil && len(x.b) < n {
		x.err = io.ErrUnexpectedEOF
	}
	if x.err != nil {
		return make([]byte, n)
	}
	b, x.b = x.b[:n], x.b[n:]
	return b
}

func (x *coder) u32(v uint32) uint32 {
	b := x.next(4)
	if x.writing {
		binary.LittleEndian.PutUint32(b, v)
	}
	return binary.LittleEndian.Uint32(b)
}

func (x *coder) u64(v uint64) uint64 {
	b := x.next(8)
	if x.writing {
		binary.LittleEndian.PutUint64(b, v)
	}
	return binary.LittleEndian.Uint64(b)
}

// string reads or writes a string of at most limit bytes. Its length stands before it, in two bytes.
func (x *coder) string(s string, limit int) string {
	b, n := x.next(2), len(s)
	if x.writing {
		binary.LittleEndian.PutUint16(b, uint16(n))
	} else {
		n = int(binary.LittleEndian.Uint16(b))
	}
	if n > limit && x.err == nil {
		x.err = fmt.Errorf("a string that begins with %.40q has %d bytes, at most %d are allowed", s, n, limit)
	}
	if x.err != nil {
		return ""
	}
	if b = x.next(n); x.writing {
		copy(b, s)
	}
	return string(b)
}

// done reports whether all bytes were read, and none was missing.
func (x *coder) done() bool { return x.err == nil && len(x.b) == 0 }
