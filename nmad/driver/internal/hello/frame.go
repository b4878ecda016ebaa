package hello

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pm2-go/pm2/nmad/driver"
)

// MaxFrame is the longest payload of a frame, in bytes.
const MaxFrame = 512

// Kinds of frames. A driver that goes on with frames after the proofs numbers
// its own from KindDriver.
const (
	kindHello   = 0xA1 // no printable ASCII: a stray text protocol is known by its first byte
	kindProof   = 0xA2
	kindRefusal = 0xA3
	kindLack    = 0xA4
	kindBusy    = 0xA5 // likewise, for now
	KindDriver  = 0xB0
)

// frameHeader is the size of kind and length, in bytes.
const frameHeader = 3

// AppendFrame appends the frame of that payload to b. The payload must not be
// longer than MaxFrame.
func AppendFrame(b []byte, kind byte, payload []byte) []byte {
	b = append(b, kind)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(payload)))
	return append(b, payload...)
}

// WriteFrame sends one frame with one Write.
func WriteFrame(w io.Writer, kind byte, payload []byte) error {
	_, err := w.Write(AppendFrame(make([]byte, 0, frameHeader+len(payload)), kind, payload))
	return err
}

// ReadFrame reads one frame, which must be of that kind, and not one byte more.
// It reads exactly as many bytes as the frame has, in two reads. A lack in its place
// is an ErrLack, and, if it may pass, an ErrBusy; a refusal, or anything else, an ErrRefused.
func ReadFrame(r io.Reader, kind byte) ([]byte, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	return ReadPayload(r, kind, head)
}

// ReadPayload goes on after the three bytes of a frame's header.
func ReadPayload(r io.Reader, kind byte, head [frameHeader]byte) ([]byte, error) {
	n := int(binary.LittleEndian.Uint16(head[1:]))
	if got := head[0]; got != kind && (got < kindRefusal || got > kindBusy) {
		return nil, refused("it does not speak our protocol (first bytes %#x)", head)
	}
	if n > MaxFrame {
		return nil, refused("it sent a frame of %d bytes, at most %d are allowed", n, MaxFrame)
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, err
	}
	switch head[0] {
	case kindRefusal:
		return nil, &Refusal{Reason: printable(payload), ByPeer: true}
	case kindLack, kindBusy:
		return nil, &lack{errors.New(printable(payload)), true, head[0] == kindBusy}
	}
	return payload, nil
}

// Refusal is the error of a peer that was turned away, or turned us away. It
// is an ErrRefused.
type Refusal struct {
	Reason string
	ByPeer bool // the reason is what the peer said
}

func (r *Refusal) Error() string {
	if r.ByPeer {
		return fmt.Sprintf("%v by the peer, which says: %s", driver.ErrRefused, r.Reason)
	}
	return fmt.Sprintf("%v the peer: %s", driver.ErrRefused, r.Reason)
}

func (r *Refusal) Unwrap() error { return driver.ErrRefused }

func refused(format string, args ...any) error {
	return &Refusal{Reason: fmt.Sprintf(format, args...)}
}

// printable makes text of a stranger safe to print.
func printable(b []byte) string {
	const most = 300
	if len(b) > most {
		b = b[:most]
	}
	out := make([]byte, len(b))
	for i, c := range b {
		if c < ' ' || c > '~' {
			c = '?'
		}
		out[i] = c
	}
	return string(out)
}
