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
	"sync"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

const (
	tagSize = 16 // truncated HMAC-SHA256 over counter, head and payload

	// sendLimit is how long one frame may take to leave. Frames are small and
	// the socket buffers are not: only a peer that does not run at all gets there.
	sendLimit = 2 * time.Second
)

// ErrFrame is what a sealed frame is that breaks the protocol.
var ErrFrame = errors.New("malformed control frame")

// Sealed is a connection after the exchange that carries frames of which each is authentic, and in order. Recv has one caller at a
// time, Send any number.
type Sealed struct {
	Conn net.Conn

	in      []byte // key of what arrives
	inCount uint64 // frames that have arrived

	mu       sync.Mutex
	out      []byte // key of what leaves
	outCount uint64 // frames that have left, under mu
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

// Send writes one frame. It blocks for at most sendLimit, of the time that this process has seen.
func (s *Sealed) Send(kind byte, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := AppendFrame(make([]byte, 0, HeadSize+len(payload)+tagSize), kind, payload)
	b = append(b, tag(s.out, s.outCount, b[:HeadSize], payload)...)
	s.outCount++
	if err := s.Conn.SetWriteDeadline(time.Time{}); err != nil {
		return err
	}
	defer limit.After(sendLimit, func() { _ = s.Conn.SetWriteDeadline(limit.Past) }).Stop()
	_, err := s.Conn.Write(b)
	return err
}

// Recv reads one frame, of a kind for which most gives the bytes of the payload that it may have; -1: there is no such kind. What it returns is authentic; whether it
// comes at the right time is for the caller to judge.
func (s *Sealed) Recv(most func(kind byte) int) (kind byte, payload []byte, err error) {
	var head [HeadSize]byte
	if _, err := io.ReadFull(s.Conn, head[:]); err != nil {
		return 0, nil, err
	}
	kind = head[0]
	n := binary.LittleEndian.Uint32(head[1:])
	if int64(n) > int64(most(kind)) {
		return 0, nil, fmt.Errorf("%w: kind %d with %d bytes", ErrFrame, kind, n)
	}
	// The head is not authentic yet: memory is taken as the bytes arrive, not as it says.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, s.Conn, int64(n)+tagSize); err != nil {
		return 0, nil, err
	}
	payload = body.Bytes()[:n]
	if !hmac.Equal(body.Bytes()[n:], tag(s.in, s.inCount, head[:], payload)) {
		return 0, nil, fmt.Errorf("%w: its authentication code is wrong", ErrFrame)
	}
	s.inCount++
	return kind, payload, nil
}
