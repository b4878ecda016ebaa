package meet

import (
	"encoding/binary"
	"io"
)

// Sizes of a frame of an exchange, in bytes.
const (
	HeadSize = 5   // kind and length
	MaxFrame = 512 // the longest payload
)

// Kinds of frames. A driver that goes on with frames after the proofs numbers its own from KindDriver; those of sealed
// frames are below them all.
const (
	kindHello   = 0xA1 // no printable ASCII: a stray text protocol is known by its first byte
	kindProof   = 0xA2
	kindRefusal = 0xA3
	kindLack    = 0xA4
	kindBusy    = 0xA5 // likewise, for now
	KindDriver  = 0xB0
)

// AppendFrame appends a frame with that payload to b. The payload must not be longer than MaxFrame.
func AppendFrame(b []byte, kind byte, payload []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(append(b, kind), uint32(len(payload))), payload...)
}

// WriteFrame writes one frame by one Write.
func WriteFrame(w io.Writer, kind byte, payload []byte) error {
	_, err := w.Write(AppendFrame(make([]byte, 0, HeadSize+len(payload)), kind, payload))
	return err
}

// ReadFrame reads one frame, which must be of that kind, in two reads, and not one byte more. Its error is a Refusal if
// the peer has sent one in its place, or anything else.
func ReadFrame(r io.Reader, kind byte) ([]byte, error) {
	var head [HeadSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	return ReadPayload(r, kind, head)
}

// ReadPayload is ReadFrame for a caller that has read the head.
func ReadPayload(r io.Reader, kind byte, head [HeadSize]byte) ([]byte, error) {
	if got := head[0]; got != kind && (got < kindRefusal || got > kindBusy) {
		return nil, Refused("it does not speak our protocol (first bytes %#x)", head)
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > MaxFrame {
		return nil, Refused("it sent a frame of %d bytes, at most %d are allowed", n, MaxFrame)
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, err
	}
	if head[0] != kind {
		return nil, &Refusal{Reason: printable(payload), ByPeer: true, kind: head[0]}
	}
	return payload, nil
}
