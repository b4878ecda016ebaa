//go:build ofi && cgo

package ofi

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
)

// alone is a link without a network, whose packets the test makes.
func alone() *link {
	p := &port{f: &fabric{provider: "none"}, links: make([]*link, 2), failed: driver.ErrClosed}
	l := &link{port: p, number: 1, token: 77, maxBody: 1000}
	l.Init(Name, 1, func() {})
	p.links[1] = l
	return l
}

// packet makes one of the small track, with a body of that many bytes, or with rest, if there is one.
func packet(x prefix, body int, rest []byte) []byte {
	b := make([]byte, headSize+body)
	x.put(b)
	h := driver.Header{Seq: x.seq, Body: uint32(body)}
	h.Put(b[prefixSize:])
	for i := range b[headSize:] {
		b[headSize+i] = byte(x.seq)
	}
	if rest != nil {
		b = append(b[:prefixSize], rest...)
	}
	return b
}

// TestHostile: a packet that its sender must not send breaks its link, and no other; one of a stranger does nothing.
func TestHostile(t *testing.T) {
	good := prefix{link: 1, token: 77, kind: kindPacket}
	with := func(change func(*prefix)) prefix { x := good; change(&x); return x }
	window := func(at, key, size uint64) []byte {
		b := make([]byte, windowSize)
		(&window{at, key, size}).put(b)
		return b
	}
	long := packet(good, 8, nil)
	putWord(long[prefixSize:], uint64(9)<<32)
	for name, c := range map[string]struct {
		packet []byte
		breaks bool
	}{
		"good":                     {packet(good, 8, nil), false},
		"empty":                    {nil, false},
		"cut short":                {packet(good, 8, nil)[:prefixSize-1], false},
		"another token":            {packet(with(func(x *prefix) { x.token++ }), 8, nil), false},
		"no such link":             {packet(with(func(x *prefix) { x.link = 5 }), 8, nil), false},
		"no link":                  {packet(with(func(x *prefix) { x.link = 0 }), 8, nil), false},
		"no kind":                  {packet(with(func(x *prefix) { x.kind = 0 }), 8, nil), false},
		"unknown kind":             {packet(with(func(x *prefix) { x.kind = kindsEnd }), 8, nil), false},
		"out of order":             {packet(with(func(x *prefix) { x.seq = 1 }), 8, nil), true},
		"an old one":               {packet(with(func(x *prefix) { x.seq = 1<<32 - 1 }), 8, nil), true},
		"credit for nothing":       {packet(with(func(x *prefix) { x.credit = 8 }), 8, nil), true},
		"a header that lies":       {long, true},
		"no header":                {packet(good, 0, []byte{}), true},
		"too long a body":          {packet(good, 1001, nil), true},
		"a window onto nothing":    {packet(with(func(x *prefix) { x.kind = kindWindow }), 0, window(1, 2, 0)), true},
		"a window onto everything": {packet(with(func(x *prefix) { x.kind = kindWindow }), 0, window(1, 2, 1<<63)), true},
		"half a window":            {packet(with(func(x *prefix) { x.kind = kindWindow }), 0, window(1, 2, 3)[:20]), true},
		"a window":                 {packet(with(func(x *prefix) { x.kind = kindWindow }), 0, window(1, 2, 3)), false},
		"bytes without a window":   {packet(with(func(x *prefix) { x.kind = kindTaken }), 0, []byte{1, 0, 0, 0, 0, 0, 0, 0}), true},
		"fewer bytes than before":  {packet(with(func(x *prefix) { x.kind = kindTaken }), 0, bytes.Repeat([]byte{255}, 8)), true},
		"half a number":            {packet(with(func(x *prefix) { x.kind = kindTaken }), 0, make([]byte, 4)), true},
	} {
		t.Run(name, func(t *testing.T) {
			l := alone()
			l.port.arrived(c.packet)
			_, _, err := l.Recv(new(driver.Header))
			if errors.Is(err, driver.ErrProtocol) != c.breaks {
				t.Errorf("the link says %v", err)
			}
			if c.breaks {
				t.Log(err)
			}
		})
	}
}

// TestViolatedGoodbye: a link that was closed waits for nothing of a peer that violates the protocol.
func TestViolatedGoodbye(t *testing.T) {
	l := alone()
	l.port.failed, l.greeted, l.parting = nil, true, true
	l.out.offered.Store(1)
	l.End()
	if l.parted() {
		t.Fatal("a goodbye is over while bytes are on their way")
	}
	l.port.arrived(packet(prefix{link: 1, token: 77, seq: 5, kind: kindPacket}, 0, nil))
	if !l.parted() {
		t.Error("a goodbye waits for a peer whose packets come out of order")
	}
}

// TestOverflow: a sender that does not heed its credit breaks its link.
func TestOverflow(t *testing.T) {
	l := alone()
	seq := uint32(0)
	for ; l.State.Load() == 0; seq++ {
		if seq > inboxSize/1000 {
			t.Fatalf("%d packets of 1000 bytes were taken", seq)
		}
		l.port.arrived(packet(prefix{link: 1, token: 77, seq: seq, kind: kindPacket}, 1000, nil))
	}
	if seq < inboxSize/2000 {
		t.Errorf("only %d packets of 1000 bytes were taken", seq)
	}
}

// TestInbox: what is put in comes out, and the sender's reckoning of where it lies is the receiver's.
func TestInbox(t *testing.T) {
	var b inbox
	rng := rand.New(rand.NewPCG(3, 4))
	tail, put, got := uint64(0), 0, 0
	for got < 20_000 {
		n := driver.HeaderSize + rng.IntN(1+rng.IntN(16<<10))
		_, next, ok := place(tail, b.head.Load(), n)
		p := bytes.Repeat([]byte{byte(put)}, n)
		if b.put(p) != ok {
			t.Fatalf("the sender has room: %v, the receiver does not agree", ok)
		}
		if ok {
			tail, put = next, put+1
		}
		for range rng.IntN(4) {
			p, ok := b.next()
			if ok != (got < put) || b.empty() != (got+1 >= put) && ok {
				t.Fatalf("after %d of %d packets: %v, empty %v", got, put, ok, b.empty())
			}
			if !ok {
				break
			}
			if p[0] != byte(got) || p[len(p)-1] != byte(got) {
				t.Fatalf("packet %d has %d in it", got, p[0])
			}
			got++
		}
	}
}
