package nmad

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// TestExposed: where processes share CPUs long messages are read in the sender's memory, however they are received;
// what does not lie in one piece at either end goes over the large track.
func TestExposed(t *testing.T) {
	d, err := driver.Lookup("shm")
	if err != nil {
		t.Fatal(err)
	}
	j := newJob(t, 2, d, func(c *Config) { c.SharedCPUs = true })
	defer j.close()
	from, to := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	const size = 700_007
	track := func() uint64 { // bytes that have come over it
		h := to.lock()
		defer h.unlockOnly()
		return h.flow.Ledger().Moved[flow.Pull]
	}
	if err := from.Send(1, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Recv(1, nil); err != nil {
		t.Fatal(err)
	}
	if l := to.rails[0].link.Caps(); !l.Fetches || !l.Exposes {
		t.Skip("this kernel lets no process read another one's memory")
	}
	if x := from.Info().Exceptions; !slices.ContainsFunc(x, func(e Exception) bool { return e.Name == "exposed" }) {
		t.Errorf("messages are exposed, and the exceptions do not say so: %+v", x)
	}
	vector := func(b []byte) Data {
		v, err := NewVector(b, 7, len(b)/7, len(b)/7)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		name string
		send *Operation
		recv func(buf []byte) *Operation
		late bool // the receive is posted when the message is there
		room int
		over uint64 // bytes that come over the track
	}{
		{name: "expected"},
		{name: "unexpected", late: true},
		{name: "synchronous", send: &Operation{Sync: true}},
		{name: "truncated", room: 100_000},
		{name: "truncated, unexpected", room: 100_000, late: true},
		{name: "without room", room: -1},
		{name: "chosen", recv: func(buf []byte) *Operation {
			return &Operation{Choose: func(Envelope) []byte { return buf }}
		}},
		{name: "into parts", recv: func(buf []byte) *Operation { return &Operation{Parts: [][]byte{buf[:10], buf[10:]}} }, over: size},
		{name: "from parts", send: &Operation{Parts: [][]byte{pattern(size, 1)[:5], pattern(size, 1)[5:]}}, over: size},
		{name: "into blocks", recv: func(buf []byte) *Operation { return &Operation{Data: vector(buf)} }, over: size},
	} {
		t.Run(c.name, func(t *testing.T) {
			room := size
			if c.room != 0 {
				room = max(c.room, 0)
			}
			buf := make([]byte, room)
			op := &Operation{Buf: buf}
			if c.recv != nil {
				op = c.recv(buf)
			}
			op.Kind, op.Match = KindRecv, Tag(5)
			send := &Operation{Buf: pattern(size, 1)}
			if c.send != nil {
				if send = c.send; send.Parts == nil {
					send.Buf = pattern(size, 1)
				}
			}
			send.Match = Tag(5)
			before := track()
			var r, s Request
			post := func() {
				if err := to.Post(&r, op); err != nil {
					t.Fatal(err)
				}
			}
			if !c.late {
				post()
			}
			if err := from.Post(&s, send); err != nil {
				t.Fatal(err)
			}
			if c.late {
				if _, err := to.Probe(context.Background(), Tag(5)); err != nil {
					t.Fatal(err)
				}
				post()
			}
			serr, rerr := waitBoth(&s, &r)
			if serr != nil || errors.Is(rerr, ErrTruncated) != (room < size) || rerr != nil && room == size {
				t.Fatal(serr, rerr)
			}
			if s.Len() != size || r.Len() != room || !bytes.Equal(buf, pattern(size, 1)[:room]) {
				t.Errorf("%d bytes sent, %d received, or damaged", s.Len(), r.Len())
			}
			if n := track() - before; n != c.over {
				t.Errorf("%d bytes have come over the large track, want %d", n, c.over)
			}
		})
	}
}

// TestExposedAndGone: a process leaves and gives up a send that it has announced with its address. The memory is its
// own again: a receive that is posted later does not get what lies there by then.
func TestExposedAndGone(t *testing.T) {
	d, err := driver.Lookup("shm")
	if err != nil {
		t.Fatal(err)
	}
	for range effort.Of(100) {
		j := newJob(t, 2, d, func(c *Config) { c.SharedCPUs, c.Linger = true, 1 })
		to := j.sessions[1].Gate(0)
		out := pattern(1_000_001, 1)
		s := j.sessions[0].Gate(1).Isend(5, out)
		if _, err := to.Probe(context.Background(), Tag(5)); err != nil {
			t.Fatal(err)
		}
		got := make(chan error)
		in := make([]byte, len(out))
		r := &Request{}
		go func() {
			err := to.Post(r, &Operation{Kind: KindRecv, Match: Tag(5), Buf: in})
			if err == nil {
				err = r.Wait()
			}
			got <- err
		}()
		_ = j.sessions[0].Close()
		gone := s.Wait()
		clear(out)
		err := <-got
		switch whole := bytes.Equal(in, pattern(len(out), 1)); {
		case err == nil && !whole:
			t.Fatal("a receive has ended well with what was never sent")
		case err != nil && gone == nil:
			t.Fatalf("the send has ended well, the receive with %v", err)
		}
		if err := j.sessions[1].Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// hiding is a link that notes what has become of a send when what it exposes is withdrawn.
type hiding struct {
	*simnet.Link
	send *Request
	was  *[]flow.Stage
}

func (hd hiding) Withdraw() { *hd.was = append(*hd.was, hd.send.core.Stage) }

// TestWithdrawnBefore: however sends are given up, what they have exposed is withdrawn before, since their memory is
// the program's again afterwards.
func TestWithdrawnBefore(t *testing.T) {
	for how, give := range map[string]func(*Gate){
		"the peer is lost": func(g *Gate) { h := g.enter(); h.lose(driver.ErrPeerLost); h.unlock() },
		"the gate leaves":  func(g *Gate) { g.beginClose(ErrClosed); g.sayBye() },
	} {
		p := newPair(simnet.Options{}, wide)
		g := p.gates[0]
		var s Request
		var was []flow.Stage
		l := hiding{p.links[0], &s, &was}
		g.locked.link = l
		g.fresh().initRail(0, l)
		if err := g.Post(&s, &Operation{Match: Tag(1), Buf: make([]byte, 1<<20)}); err != nil {
			t.Fatal(err)
		}
		give(g)
		if len(was) == 0 || was[0] != flow.Announced || s.core.Stage != flow.Finished {
			t.Errorf("%s: withdrawn while the send was %v; now it is %v", how, was, s.core.Stage)
		}
	}
}

// TestSharing runs what messages do in jobs whose processes share CPUs.
func TestSharing(t *testing.T) {
	if !effort.Long() {
		t.Skip("half a minute: with -long")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-sharing", "-test.short",
		"-test.run", "^Test(AnySource|Scenario|Session|Stress|Order|Cancel|Callback|Loan|Queue|Claim|Rails|Traffic|Wait|History|Monitor|Faults|Agree|Close)")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
