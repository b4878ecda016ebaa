package nmad

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// What a plain message needs is two lines, also in an array of requests.
func TestRequestLayout(t *testing.T) {
	const line, lines = 64, 2
	if strconv.IntSize != 64 {
		t.Skip("laid out for words of 8 bytes")
	}
	if size := reflect.TypeFor[Request]().Size(); size != line*lines {
		t.Errorf("a request has %d bytes, want %d", size, line*lines)
	}
}

// A request that is made anew is all that its message allocates, whatever the protocol.
func TestRequestsMadeAnew(t *testing.T) {
	effort.SkipIfNotInlined(t)
	p := newPair(simnet.Options{}, wide)
	for name, size := range map[string]int{"eager": 48, "rendezvous": 500} {
		msg, buf := pattern(size, 1), make([]byte, size)
		if n := testing.AllocsPerRun(500, func() {
			r, s := p.gates[1].Irecv(3, buf), p.gates[0].Isend(3, msg)
			p.settle()
			s.Wait()
			r.Wait()
		}); n != 2 {
			t.Errorf("%s: %v allocations per message, want the two requests", name, n)
		}
	}
}

// What a request says is of its last message.
func TestRequestForgets(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	var r Request
	sent := p.gates[0].Isend(3, make([]byte, 100))
	if err := p.gates[1].Post(&r, &Op{Kind: OpRecv, Match: Match{Tag: 3, Mask: 3}, Buf: make([]byte, 10)}); err != nil {
		t.Fatal(err)
	}
	p.settle()
	mustDone(t, sent, nil)
	mustDone(t, &r, ErrTruncated)
	if e := r.Envelope(); e.Size != 100 || r.Len() != 10 {
		t.Fatalf("received %+v, %d bytes", e, r.Len())
	}
	for _, size := range []int{5, 500} { // eager, announced
		take := p.gates[0].Irecv(4, make([]byte, size))
		if err := p.gates[1].IsendInto(&r, 4, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		p.settle()
		mustDone(t, take, nil)
		mustDone(t, &r, nil)
		if e := r.Envelope(); e != (Envelope{0, 4, uint64(size)}) || r.Len() != size {
			t.Errorf("sent %d bytes: %+v, %d bytes", size, e, r.Len())
		}
	}
}
