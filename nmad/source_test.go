package nmad

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/pioman"
)

// TestArrivalsBesideWantOfRoom: a gate whose sleeper sleeps, and which is about to wait for
// room in its place, has bytes to take in that no poll has got to: many short parts. It
// takes them in; else neither these bytes nor, as the peer may be waiting just so, the room
// would ever come.
func TestArrivalsBesideWantOfRoom(t *testing.T) {
	const arrives, leaves = 2 * rounds * flow.AtOnce, 5 * rounds * flow.AtOnce
	j := newJob(t, 2, &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: arrives}}, nil)
	zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	start := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var a, b, x, y Request
	there, back := pattern(arrives, 1), pattern(leaves, 2)
	got, gotBack := make([]byte, arrives), make([]byte, leaves)
	parts := inParts(got, 4096)
	start(one.Post(&a, &Operation{Match: Tag(1), Buf: there}))
	start(zero.Post(&x, &Operation{Kind: KindRecv, Match: Tag(1), Parts: parts}))
	zero.poll() // asks for the bytes
	sleeper := railSource{&zero.rails[0]}
	if !sleeper.Arm() {
		t.Fatal("nothing has arrived, and the gate cannot be armed")
	}
	start(zero.Post(&b, &Operation{Match: Tag(2), Buf: back}))
	start(one.Post(&y, &Operation{Kind: KindRecv, Match: Tag(2), Buf: gotBack}))
	one.poll() // sends all, and asks for what fits only in parts
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		zero.poll()
	}()
	select {
	case <-polled:
	case <-time.After(20 * time.Second):
		t.Fatal("the gate waits for room, and does not take in what has arrived")
	}
	sleeper.Disarm()
	for _, r := range []*Request{&a, &b, &x, &y} {
		for over := false; !over; {
			zero.poll()
			one.poll()
			var err error
			if over, err = r.Test(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !bytes.Equal(got, there) || !bytes.Equal(gotBack, back) {
		t.Error("bytes are damaged")
	}
	j.close()
}

// late is a link that finds room, or a packet, between the look of a sender and the call that waits for room.
type late struct {
	*simnet.Link
	comes func() // at the next Arm that waits for room, once
	armed *bool  // what the last Arm has said
}

func (lt *late) Arm(wantRoom bool) bool {
	if wantRoom && lt.comes != nil {
		lt.comes()
		lt.comes = nil
	}
	*lt.armed = lt.Link.Arm(wantRoom)
	return *lt.armed
}

// TestArmedAgain: a thread has something to send for which there is no room, while a sleeper sleeps on the link. It
// arms the link for room, which has come meanwhile: it sends, and nothing waits for room any more. The link is to be
// armed for what arrives still, or the sleeper, which the engine takes to be covered by it, hears of nothing again.
func TestArmedAgain(t *testing.T) {
	for what, comes := range map[string]func(p *pair){
		"room":     func(p *pair) { p.gates[1].poll() },
		"a packet": func(p *pair) { p.gates[1].Isend(2, nil) },
	} {
		p := newPair(simnet.Options{Packets: 4}, wide)
		g := p.gates[0]
		armed := false
		l := &late{Link: p.links[0], comes: func() { comes(p) }, armed: &armed}
		g.locked.link = l
		g.fresh().initRail(0, l)
		sleeper := railSource{&g.rails[0]}
		if !sleeper.Arm() || !armed {
			t.Fatal("nothing has arrived, and the gate cannot be armed")
		}
		for range 5 {
			g.Isend(1, nil)
		}
		if l.comes != nil {
			t.Fatal("no thread has waited for room")
		}
		if !armed {
			t.Errorf("%s has come: the sleeper hears of nothing", what)
		}
		if what == "room" && g.locked.flow.Outgoing() {
			t.Error("a message has not left")
		}
		sleeper.Disarm()
	}
}

// TestArmBesideWaiter: no thread sleeps for a gate while a waiter polls it for bytes of a long message, and
// an engine may once that one has given up.
func TestArmBesideWaiter(t *testing.T) {
	const size = 1 << 20
	j := newJob(t, 2, &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: size}}, nil)
	zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	var a, x Request
	there, got := pattern(size, 1), make([]byte, size)
	if err := errors.Join(one.Post(&a, &Operation{Match: Tag(1), Buf: there}), zero.Post(&x, &Operation{Kind: KindRecv, Match: Tag(1), Buf: got})); err != nil {
		t.Fatal(err)
	}
	zero.poll() // asks for the bytes
	sleeper := railSource{&zero.rails[0]}
	if !sleeper.Arm() {
		t.Fatal("nothing has arrived and no thread waits, and the gate cannot be armed")
	}
	sleeper.Disarm()
	zero.spin = time.Minute
	s, stop := oneVP(t) // a thread polls on also where its CPU is wanted
	defer stop()
	waited := make(chan error)
	go func() {
		var err error
		marcel.RunOn(s, func() { err = x.Wait() })
		waited <- err
	}()
	for end, there := time.Now().Add(20*time.Second), false; !there; runtime.Gosched() {
		h := zero.lock()
		there = h.waiterPolls()
		h.unlockOnly()
		if time.Now().After(end) {
			t.Fatal("a waiter polls for a long message, and does not say so")
		}
	}
	for range 1000 {
		h := zero.lock()
		armed := h.arm(&zero.rails[0])
		meant := h.waiterPolls() // still: else the waiter has not run for so long that its word did not count
		h.unlockOnly()
		if armed && meant {
			t.Fatal("the sleeper sleeps for a gate that a waiter polls")
		}
		if armed {
			sleeper.Disarm()
		}
	}
	for end := time.Now().Add(20 * time.Second); zero.tick(nil) != pioman.Moved; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("a waiter polls for a long message, and to the engine the gate is quiet: it will have the sleeper block for it")
		}
	}
	for over := false; !over; {
		one.poll()
		var err error
		if over, err = a.Test(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-waited; err != nil || !bytes.Equal(got, there) {
		t.Errorf("the message: %v, or damaged", err)
	}
	h := zero.lock()
	h.waiterUntil = asm.Cycles() // the waiter's patience is over
	h.unlockOnly()
	if !sleeper.Arm() {
		t.Error("no waiter polls any more, and the gate cannot be armed")
	}
	sleeper.Disarm()
	j.close()
}

// TestCloseWithBytesToCome: a side that closes still sends what it owes, though a sleeper has armed the rail and bytes
// lie in the link of a message whose receive has ended: the holder of the lock does not try for ever to arm it anew.
func TestCloseWithBytesToCome(t *testing.T) {
	t.Setenv(shm.EnvCopy, "two") // else all of it is there before anything can happen
	overAll(t, func(t *testing.T, d driver.Driver) {
		size := 8 << 20
		if _, ok := d.(*simnet.Net); ok {
			size = 64 << 10
		}
		j := newJob(t, 2, d, func(c *Config) { c.Linger = 100 * time.Millisecond })
		zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
		in, out := zero.Irecv(1, make([]byte, size)), one.Isend(1, pattern(size, 1))
		left := zero.Isend(2, pattern(size, 2)) // its announcement leaves
		moved := func() uint64 {
			h := zero.lock()
			defer h.unlock()
			return h.flow.Ledger().Moved[flow.Pull]
		}
		eventually(t, func() bool {
			zero.poll()
			if moved() == 0 {
				one.poll()
			}
			return moved() > 0
		})
		sleeper := railSource{&zero.rails[0]}
		if sleeper.Descriptor() >= 0 {
			eventually(t, func() bool {
				zero.poll()
				return sleeper.Arm()
			})
		}
		for range 20 {
			one.poll()
		}
		zero.beginClose(ErrClosed)
		got := make([]byte, size)
		r := one.Irecv(2, got)
		over := make(chan struct{})
		go func() {
			defer close(over)
			eventually(t, func() bool {
				one.poll()
				zero.poll()
				a, _ := r.Test()
				b, _ := left.Test()
				return a && b
			})
		}()
		select {
		case <-over:
		case <-time.After(20 * time.Second):
			t.Fatal("the side that closes hangs")
		}
		if sleeper.Descriptor() >= 0 {
			sleeper.Disarm()
		}
		if err := in.Wait(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if !bytes.Equal(got, pattern(size, 2)) {
			t.Error("damaged")
		}
		each(2, func(rank int) {
			_ = j.sessions[rank].Close() // out may be given up
			j.engines[rank].Close()
		})
		_ = out.Wait()
	})
}

// TestBytesUnasked: a peer that pushes bytes of no message ends its gate, and does not keep the holder of the lock
// busy.
func TestBytesUnasked(t *testing.T) {
	p := newPair(simnet.Options{Packets: 4, Large: 1000}, wide)
	g := p.gates[0]
	sleeper := railSource{&g.rails[0]}
	if !sleeper.Arm() {
		t.Fatal("nothing has arrived, and the gate cannot be armed")
	}
	if n, err := p.links[1].Push(make([]byte, 100)); n != 100 || err != nil {
		t.Fatal(n, err)
	}
	var all []*Request
	for range 8 { // more than there is room for
		all = append(all, g.Isend(1, nil))
	}
	sleeper.Disarm()
	if err := g.Err(); !errors.Is(err, ErrProtocol) {
		t.Errorf("the gate says %v", err)
	}
	mustDone(t, all[7], ErrProtocol)
}
