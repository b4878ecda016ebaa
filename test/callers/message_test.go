package callers

import (
	"encoding/binary"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
)

func put(b []byte, n uint64) { binary.LittleEndian.PutUint64(b, n) }

func get(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// word is a message that says a number.
func word(n uint64) []byte {
	b := make([]byte, 8)
	put(b, n)
	return b
}

// expect receives a message that must say that number.
func expect(g *nmad.Gate, tag, want uint64) error {
	var b [8]byte
	n, err := g.Recv(tag, b[:])
	if err == nil && (n != 8 || get(b[:]) != want) {
		err = fmt.Errorf("a message of %d bytes with tag %d says %d, want %d", n, tag, get(b[:]), want)
	}
	return err
}
