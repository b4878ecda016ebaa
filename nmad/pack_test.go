package nmad

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// TestPackSaysAll: what can be said about a send or a receive can be said of what is packed, and a
// message can be unpacked as its beginning says.
func TestPackSaysAll(t *testing.T) {
	p := newPair(simnet.Options{}, wide)
	one := p.session(1)
	q := one.NewQueue()
	var pack Pack
	pack.Copy([]byte{3}).Add([]byte("abc")).Add([]byte("the rest"))
	var s, r Request
	if err := p.gates[0].Post(&s, &Op{Match: Tag(4), Sync: true, Parts: pack.Parts(), Priority: 3}); err != nil {
		t.Fatal(err)
	}
	p.settle()
	if over, _ := s.Test(); over {
		t.Fatal("a synchronous send is done without a receive")
	}
	head, name, rest := make([]byte, 1), make([]byte, 3), make([]byte, 8)
	var places Pack
	places.Add(head).Add(name).Add(rest)
	if err := p.gates[1].Post(&r, &Op{Kind: OpRecv, Match: Tag(4), Queue: q, Parts: places.Parts()}); err != nil {
		t.Fatal(err)
	}
	p.settle()
	mustDone(t, &s, nil)
	if q.Pop() != &r || string(name) != "abc" || string(rest) != "the rest" {
		t.Errorf("%q, %q, or not in the queue", name, rest)
	}
	send := p.gates[0].Start(&Op{Match: Tag(5), Parts: pack.Parts(), Sync: true})
	any := one.Start(AnySource, &Op{Kind: OpRecv, Parts: places.Parts()})
	p.settle()
	mustDone(t, send, nil)
	mustDone(t, any, nil)
	if any.Source() != 0 || any.Tag() != 5 {
		t.Errorf("received %+v", any.Envelope())
	}
	send = p.gates[0].Start(&Op{Match: Tag(6), Parts: pack.Parts()})
	p.settle()
	x := p.gates[1].Claim(Tag(6))
	if x == nil || x.Peek(head) != 1 || head[0] != 3 {
		t.Fatal("the beginning is not to be seen")
	}
	places.Reset()
	clear(name)
	places.Add(head).Add(name[:head[0]]).Add(rest)
	recv := x.Start(&Op{Kind: OpRecv, Parts: places.Parts()})
	p.settle()
	mustDone(t, send, nil)
	mustDone(t, recv, nil)
	if string(name) != "abc" {
		t.Errorf("unpacked %q", name)
	}
}
