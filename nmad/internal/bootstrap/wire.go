package bootstrap

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// kind says what a frame is.
type kind uint8

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
	kindSubtree                 // to a parent, from a process that has connected after GO: the ranks that it speaks for
	lastKind    = kindSubtree
)

const (
	headSize  = 8  // length of the payload (4), kind (1), zero (3)
	tagSize   = 16 // truncated HMAC-SHA256 over counter, head and payload
	maxReason = 512
	maxNotice = 4 + 2 + maxReason

	// sendLimit is how long one frame may take to leave. Frames are small and
	// the socket buffers are not: only a peer that does not run at all gets there.
	sendLimit = 2 * time.Second
)

// errFrame is what a frame is that breaks the protocol.
var errFrame = errors.New("malformed control frame")

// limit is the largest payload of a frame in a job of that size.
func (k kind) limit(size int) int {
	switch k {
	case kindCard, kindTable:
		return 4 + size*maxCard
	case kindLeave:
		return 4
	case kindDead, kindAbort:
		return maxNotice
	case kindSubtree:
		return 4 * size
	}
	return 0
}

// wire is a control connection after the handshake. recv has one caller at a
// time, send any number.
type wire struct {
	conn net.Conn

	in      []byte        // key of what arrives
	inCount uint64        // frames that have arrived
	heard   atomic.Uint32 // Control.ticks when the last one came; the reader writes

	mu       sync.Mutex
	out      []byte // key of what leaves
	outCount uint64 // frames that have left, under mu
}

// newWire derives the two keys. Both sides call it with the nonces in the same
// order: rank 0's first.
func newWire(conn net.Conn, secret, of0, of1 []byte, rank0 bool) *wire {
	w := &wire{
		conn: conn,
		in:   code(secret, "pm2 frames from rank 0", of0, of1),
		out:  code(secret, "pm2 frames to rank 0", of0, of1),
	}
	if rank0 {
		w.in, w.out = w.out, w.in
	}
	return w
}

func frameTag(key []byte, count uint64, head, payload []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(binary.LittleEndian.AppendUint64(make([]byte, 0, 8), count))
	m.Write(head)
	m.Write(payload)
	return m.Sum(nil)[:tagSize]
}

// send writes one frame. It blocks for at most sendLimit, of the time that this process has seen.
func (w *wire) send(k kind, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := make([]byte, 0, headSize+len(payload)+tagSize)
	b = appendU32(b, uint32(len(payload)))
	b = append(b, byte(k), 0, 0, 0)
	b = append(b, payload...)
	b = append(b, frameTag(w.out, w.outCount, b[:headSize], payload)...)
	w.outCount++
	if err := w.conn.SetWriteDeadline(time.Time{}); err != nil {
		return err
	}
	defer limit.After(sendLimit, func() { _ = w.conn.SetWriteDeadline(limit.Past) }).Stop()
	_, err := w.conn.Write(b)
	return err
}

// recv reads one frame. What it returns is authentic and within the bounds of
// its kind; whether it comes at the right time is for the caller to judge.
func (w *wire) recv(size int) (kind, []byte, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(w.conn, head[:]); err != nil {
		return 0, nil, err
	}
	k := kind(head[4])
	n := binary.LittleEndian.Uint32(head[:])
	if k == 0 || k > lastKind || int64(n) > int64(k.limit(size)) {
		return 0, nil, fmt.Errorf("%w: kind %d with %d bytes", errFrame, k, n)
	}
	// The head is not authentic yet: memory is taken as the bytes arrive, not as it says.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, w.conn, int64(n)+tagSize); err != nil {
		return 0, nil, err
	}
	payload, tag := body.Bytes()[:n], body.Bytes()[n:]
	if !hmac.Equal(tag, frameTag(w.in, w.inCount, head[:], payload)) {
		return 0, nil, fmt.Errorf("%w: its authentication code is wrong", errFrame)
	}
	w.inCount++
	return k, payload, nil
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

func parseLeave(b []byte, size int) (int, error) {
	r := reader{b: b}
	n := r.u32()
	if !r.done() || int64(n) >= int64(size) {
		return 0, fmt.Errorf("%w: rank %d leaves", errFrame, n)
	}
	return int(n), nil
}
