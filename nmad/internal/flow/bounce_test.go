package flow

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestBounceGoesOn: whatever part of a piece a link moves, its next call goes on with the rest of the memory that it was
// given, as driver.Link demands: a link that borrows may have filled it, or may still read it.
func TestBounceGoesOn(t *testing.T) {
	for range effort.Of(400) {
		for _, dir := range []Direction{Push, Pull} {
			pulls := dir == Pull
			var parts [][]byte
			var want []byte
			for range 1 + rand.IntN(6) {
				b := make([]byte, 1+rand.IntN([]int{40, LongPiece + 9, 3 * LongPiece}[rand.IntN(3)]))
				for i := range b {
					b[i] = byte(rand.Uint32())
				}
				parts, want = append(parts, b), append(want, b...)
			}
			if pulls {
				for _, b := range parts {
					clear(b)
				}
			}
			p, x, c := &Pieces{Parts: parts}, &Stream{dir: dir}, &chunk{size: len(want)}
			var rest []byte // what the link was given and has not moved
			var out []byte
			link := func(b []byte) (int, error) {
				if len(rest) > 0 && (len(b) < len(rest) || &b[0] != &rest[0]) {
					t.Fatalf("a call goes on with %d bytes elsewhere; %d are left of the memory that the link was given", len(b), len(rest))
				}
				n := len(b)
				if rand.IntN(2) == 0 {
					n = rand.IntN(n)
				}
				if pulls { // as a link that borrows: all is there before the link tells of it
					copy(b, want[c.moved+len(out):])
				}
				out, rest = append(out, b[:n]...), b[n:]
				return n, nil
			}
			var all []byte
			for c.moved < c.size {
				out = out[:0]
				n, err := x.copyPieces(p, c, c.size-c.moved, link)
				if err != nil || n != len(out) {
					t.Fatal(n, len(out), err)
				}
				c.moved += n
				all = append(all, out...)
			}
			if got := bytes.Join(parts, nil); !bytes.Equal(all, want) || !bytes.Equal(got, want) {
				t.Fatalf("pulls %v: the bytes are damaged", pulls)
			}
		}
	}
}
