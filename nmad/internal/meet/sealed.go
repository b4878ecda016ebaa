package meet

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

const (
	tagSize = 16 // truncated HMAC-SHA256 over counter, head and payload

	// sendLimit is how long Send waits for the socket to take a frame. Its buffer is full only if the peer does not
	// run, or gets many long frames at once.
	sendLimit = 10 * time.Millisecond
	roomPause = 20 * time.Millisecond // between two looks of flush whether the peer has room again
	// maxBacklog is how many bytes may wait for the socket when one more frame is added: what a job has to say of each
	// rank once, and a long frame.
	maxBacklog = 16 << 20
)

// ErrFrame is wrapped by the errors of sealed frames that break the protocol.
var ErrFrame = errors.New("malformed control frame")

// Sealed is a connection after the exchange, for authentic frames in order. Any number of goroutines may call Send, one
// at a time Recv.
type Sealed struct {
	Conn net.Conn
	Room func() int // how many bytes may be written now; the rest waits here until there is room. nil: any number. Set before the first Send

	in      []byte // key of the frames that arrive
	inCount uint64 // frames that have arrived

	mu       sync.Mutex
	out      []byte // key of the frames that leave; under mu
	outCount uint64 // frames sent; under mu
	unsent   []byte // bytes for flush to write next; under mu
	flushing bool   // flush runs; under mu
	err      error  // nothing leaves any more, under mu
	flusher  sync.WaitGroup
}

// Seal goes on with conn after the exchange in which it has found the peer; dialed says on which side.
func (p *Peer) Seal(conn net.Conn, dialed bool) *Sealed {
	s := &Sealed{Conn: conn, in: p.seal("pm2 frames up"), out: p.seal("pm2 frames down")}
	if dialed {
		s.in, s.out = s.out, s.in
	}
	return s
}

func tag(key []byte, count uint64, head, payload []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(binary.LittleEndian.AppendUint64(make([]byte, 0, 8), count))
	m.Write(head)
	m.Write(payload)
	return m.Sum(nil)[:tagSize]
}

// Send sends one frame. It waits at most sendLimit for the socket to take it; a goroutine writes the rest, and all of a
// frame for which there is no Room. An error is that of this frame or of an earlier one.
func (w *Sealed) Send(kind byte, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	b := AppendFrame(make([]byte, 0, HeadSize+len(payload)+tagSize), kind, payload)
	b = append(b, tag(w.out, w.outCount, b[:HeadSize], payload)...)
	w.outCount++
	if w.flushing {
		if len(w.unsent) > maxBacklog {
			w.err = fmt.Errorf("the other side has not taken %d bytes", maxBacklog)
			return w.err
		}
		w.unsent = append(w.unsent, b...)
		return nil
	}
	var n int
	if w.room(len(b)) == len(b) {
		if w.err = w.Conn.SetWriteDeadline(time.Now().Add(sendLimit)); w.err == nil {
			n, w.err = w.Conn.Write(b)
		}
		if !errors.Is(w.err, os.ErrDeadlineExceeded) {
			return w.err
		}
	}
	w.unsent, w.flushing, w.err = b[n:], true, w.Conn.SetWriteDeadline(time.Time{})
	w.flusher.Go(w.flush)
	return w.err
}

// room returns how many of n bytes may be written now.
func (w *Sealed) room(n int) int {
	if w.Room == nil {
		return n
	}
	return min(n, w.Room())
}

// flush is that goroutine: it writes unsent bytes until there are none.
func (w *Sealed) flush() {
	for {
		w.mu.Lock()
		b := w.unsent
		w.unsent, w.flushing = nil, len(b) > 0
		w.mu.Unlock()
		if len(b) == 0 {
			return
		}
		if err := w.write(b); err != nil {
			w.mu.Lock()
			w.err = err
			w.mu.Unlock()
			return
		}
	}
}

// write writes b, as there is room. It blocks; the owner ends it by closing Conn.
func (w *Sealed) write(b []byte) error {
	for len(b) > 0 {
		n := w.room(len(b))
		if n == 0 {
			time.Sleep(roomPause)
			continue
		}
		if _, err := w.Conn.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// Flush blocks until all that Send has returned for has been written, or the connection has ended.
func (w *Sealed) Flush() { w.flusher.Wait() }

// Recv reads one frame. most returns how many bytes the payload of a kind may have; -1: there is no such kind. The
// frame is authentic; the caller judges whether it comes at the right time.
func (w *Sealed) Recv(most func(kind byte) int) (kind byte, payload []byte, err error) {
	var head [HeadSize]byte
	if _, err := io.ReadFull(w.Conn, head[:]); err != nil {
		return 0, nil, err
	}
	kind = head[0]
	n := binary.LittleEndian.Uint32(head[1:])
	if int64(n) > int64(most(kind)) {
		return 0, nil, fmt.Errorf("%w: kind %d with %d bytes", ErrFrame, kind, n)
	}
	// The head is not authentic yet: memory is taken as the bytes arrive, not as it says.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, w.Conn, int64(n)+tagSize); err != nil {
		return 0, nil, err
	}
	payload = body.Bytes()[:n]
	if !hmac.Equal(body.Bytes()[n:], tag(w.in, w.inCount, head[:], payload)) {
		return 0, nil, fmt.Errorf("%w: its authentication code is wrong", ErrFrame)
	}
	w.inCount++
	return kind, payload, nil
}
