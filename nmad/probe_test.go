package nmad

import (
	"bytes"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// TestPeek looks at messages of every protocol before they are received, any number of times: they are
// whole afterwards.
func TestPeek(t *testing.T) {
	for _, size := range []int{0, 1, 60, 1000} {
		for name, sync := range map[string]bool{"plain": false, "synchronous": true} {
			p := newPair(simnet.Options{}, wide)
			msg := pattern(size, 1)
			var s Request
			if err := p.gates[0].Post(&s, &Operation{Match: Tag(5), Buf: msg, Sync: sync}); err != nil {
				t.Fatal(err)
			}
			g, all := p.gates[1], p.session(1)
			look := func(what string, room int, peek func([]byte) (Envelope, int, bool)) {
				t.Helper()
				buf := pattern(room+1, 9)
				last := buf[room]
				e, n, ok := peek(buf[:room])
				want := min(size, room)
				if sync || size > 64 {
					want = 0
				}
				if !ok || e != (Envelope{0, 5, uint64(size)}) || n != want || !bytes.Equal(buf[:n], msg[:n]) || buf[room] != last {
					t.Errorf("%s, %d bytes, %s, room for %d: %v, %+v, %d bytes", name, size, what, room, ok, e, n)
				}
			}
			for _, room := range []int{0, 1, 10, 64, 2000} {
				look("gate", room, func(b []byte) (Envelope, int, bool) { return g.Peek(Tag(5), b) })
				look("mask", room, func(b []byte) (Envelope, int, bool) { return g.Peek(Match{Tag: 5, Mask: 1}, b) })
				look("session", room, func(b []byte) (Envelope, int, bool) { return all.Peek(Tag(5), b) })
			}
			if _, _, ok := g.Peek(Tag(6), make([]byte, 4)); ok {
				t.Error("a message with another tag was seen")
			}
			x := g.Claim(Tag(5))
			if x == nil {
				t.Fatal("the message is gone")
			}
			look("claimed", 10, func(b []byte) (Envelope, int, bool) { return x.Envelope, x.Peek(b), true })
			if _, _, ok := g.Peek(Tag(5), nil); ok {
				t.Error("a message that was claimed is seen")
			}
			buf := make([]byte, size)
			r := x.Start(&Operation{Kind: KindRecv, Parts: inParts(buf, 7, 0, 3)})
			if n := x.Peek(make([]byte, 10)); n != 0 {
				t.Errorf("%d bytes of a message that is being received", n)
			}
			p.settle()
			mustDone(t, &s, nil)
			mustDone(t, r, nil)
			if !bytes.Equal(buf, msg) || r.Len() != size {
				t.Errorf("%s, %d bytes: damaged", name, size)
			}
		}
	}
}
