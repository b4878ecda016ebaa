package nmad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// domainKinds are all kinds of domains.
var domainKinds = []DomainConfig{{}, {Progress: Explicit}, {Access: Serialized}, {Access: Serialized, Progress: Explicit}, {Access: Fine}, {Access: Fine, Progress: Explicit}, {Access: Private}, {Progress: Worker}}

// overKinds runs a test over each network, with each kind of domain.
func overKinds(t *testing.T, f func(t *testing.T, d driver.Driver, kind DomainConfig)) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		for _, kind := range domainKinds {
			t.Run(fmt.Sprint(kind.Access, ", ", kind.Progress), func(t *testing.T) { f(t, d, kind) })
		}
	})
}

// TestDomainsTell: domains say of what kind they are, and a session which it has.
func TestDomainsTell(t *testing.T) {
	j := newJob(t, 2, nil, func(c *Config) { c.Driver = "shm" })
	s := j.sessions[0]
	want := []string{"domain 0: shared, engine"}
	for i, k := range []struct {
		DomainConfig
		says string
	}{
		{DomainConfig{}, "shared, engine"},
		{DomainConfig{Access: Fine}, "fine, engine"},
		{DomainConfig{Access: Serialized, Progress: Explicit, Eager: 100}, "serialized, explicit, eager up to 100 B"},
		{DomainConfig{Access: Private}, "private, explicit"},
		{DomainConfig{Progress: Worker}, "shared, worker"},
	} {
		all := j.domain(k.DomainConfig, 1+i)
		want = append(want, fmt.Sprintf("domain %d: %s", 1+i, k.says))
		if d := all[0]; d.Access() != k.Access || fmt.Sprintf("%v, %v", d.Access(), d.Progress()) != strings.Join(strings.Split(k.says, ", ")[:2], ", ") {
			t.Errorf("%v says %v, %v", d, d.Access(), d.Progress())
		}
	}
	tell := func() (text []string) {
		for _, d := range s.Domains() {
			text = append(text, d.String())
		}
		return text
	}
	if got := tell(); !slices.Equal(got, want) {
		t.Errorf("open are %q, want %q", got, want)
	}
	d := s.Domains()
	r := d[1].To(1, 2).Irecv(7, make([]byte, 8))
	if text := s.String(); !strings.Contains(text, "rank 1, domain 1 to 2: 1 pending") {
		t.Error("the description does not name both domains: ", text)
	}
	if err := d[2].Close(); err != nil {
		t.Error(err)
	}
	if got := tell(); !slices.Equal(got, slices.Delete(want, 2, 3)) {
		t.Errorf("after the end of one: %q", got)
	}
	j.close() // both ranks at once, so r may also learn of the other rank's end
	if err := r.Wait(); !errors.Is(err, ErrClosed) && !errors.Is(err, ErrPeerLost) {
		t.Error(err)
	}
	if got := tell(); got != nil {
		t.Errorf("after Close: %q", got)
	}
}

// domain opens domain number of each session of a job.
func (j *job) domain(kind DomainConfig, number int) []*Domain {
	j.t.Helper()
	kind.Number = number
	all := make([]*Domain, len(j.sessions))
	for rank, s := range j.sessions {
		var err error
		if all[rank], err = s.Domain(kind); err != nil {
			j.t.Fatal(err)
		}
	}
	return all
}

// pass sends a message of each size from one gate to another one, first early and then late receives.
func pass(t *testing.T, what string, from, to *Gate, sizes ...int) {
	t.Helper()
	for i, size := range sizes {
		msg, buf := pattern(size, uint64(i)), make([]byte, size)
		var s, r *Request
		if i%2 == 0 {
			r = to.Irecv(7, buf)
		}
		s = from.Isend(7, msg)
		if i%2 != 0 {
			r = to.Irecv(7, buf)
		}
		if err := WaitAll(t.Context(), s, r); err != nil || !bytes.Equal(buf, msg) {
			t.Fatalf("%s, %d bytes: %v, or damaged", what, size, err)
		}
	}
}

// TestEagerOfDomain: a domain has an eager limit of its own, and others keep theirs.
func TestEagerOfDomain(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.moving()()
		all := j.domain(DomainConfig{Progress: Explicit, Eager: 100}, 1)
		for _, x := range []struct {
			size      int
			announced uint64
		}{{100, 0}, {101, 1}} {
			before := all[0].Gate(1).Stats().Rendezvous
			s := all[0].Gate(1).Isend(7, pattern(x.size, 1))
			if n, err := all[1].Gate(0).Recv(7, make([]byte, x.size)); err != nil || n != x.size {
				t.Fatal(n, err)
			}
			for over, err := s.Test(); !over; over, err = s.Test() {
				if all[1].poll(); err != nil {
					t.Fatal(err)
				}
			}
			if n := all[0].Gate(1).Stats().Rendezvous - before; n != x.announced {
				t.Errorf("%d bytes: %d were announced, want %d", x.size, n, x.announced)
			}
		}
		pass(t, "the job", j.sessions[0].Gate(1), j.sessions[1].Gate(0), 101)
		if n := j.sessions[0].Gate(1).Stats().Rendezvous; n != 0 {
			t.Errorf("%d messages of the job were announced", n)
		}
		if _, err := j.sessions[0].Domain(DomainConfig{Eager: -1}); !errors.Is(err, ErrConfig) {
			t.Errorf("a limit below 0: %v", err)
		}
		j.close()
	})
}

// TestDomains: messages of one tag through several domains, of any size, are received in the domain through which they
// were sent, by all kinds of receives; those of gates between domains of different numbers by these.
func TestDomains(t *testing.T) {
	overKinds(t, func(t *testing.T, d driver.Driver, kind DomainConfig) {
		j := newJob(t, 3, d, nil)
		defer j.moving()()
		seven, nine := j.domain(kind, 7), j.domain(kind, 9)
		jobs := []*Domain{&j.sessions[0].job, &j.sessions[1].job, &j.sessions[2].job}
		all := [][]*Domain{jobs, seven, nine}
		sizes := []int{0, 1, 300, 5000, 70_000}
		// One message each, all under way at once, of which the last one sent is received first.
		for _, x := range all {
			for rank := range 2 {
				r := x[rank].Gate(2).Isend(1, fmt.Append(nil, x[0].Number(), rank))
				defer r.Wait()
			}
		}
		for _, x := range slices.Backward(all) {
			for _, rank := range []int{1, 0} {
				buf := make([]byte, 10)
				n, err := x[2].Gate(rank).Recv(1, buf)
				if want := fmt.Sprint(x[0].Number(), rank); err != nil || string(buf[:n]) != string(fmt.Append(nil, x[0].Number(), rank)) {
					t.Errorf("domain %d: %q, %v from rank %d, want %q", x[0].Number(), buf[:n], err, rank, want)
				}
			}
		}
		for _, x := range all {
			pass(t, fmt.Sprint("domain ", x[0].Number()), x[0].Gate(1), x[1].Gate(0), sizes...)
			pass(t, fmt.Sprint("domain ", x[0].Number(), ", back"), x[1].Gate(0), x[0].Gate(1), sizes...)
			pass(t, fmt.Sprint("domain ", x[0].Number(), ", own rank"), x[1].Gate(1), x[1].Gate(1), sizes...)
		}
		pass(t, "from 7 to 9", seven[0].To(1, 9), nine[1].To(0, 7), sizes...)
		pass(t, "from 9 to 7", nine[1].To(0, 7), seven[0].To(1, 9), sizes...)
		pass(t, "from the job to 7", jobs[2].To(1, 7), seven[1].To(2, 0), sizes...)
		if seven[0].To(1, 7) != seven[0].Gate(1) || jobs[0].To(1, 0) != j.sessions[0].Gate(1) {
			t.Error("the gate to the domain of the same number is another one")
		}

		// Any source, a probe, a claim: of that domain alone.
		sends := []*Request{nine[0].Gate(2).Isend(3, []byte("nine")), seven[1].Gate(2).Isend(3, []byte("seven"))}
		buf := make([]byte, 10)
		if e, err := seven[2].Recv(Tag(3), buf); err != nil || e.Source != 1 || string(buf[:e.Size]) != "seven" {
			t.Errorf("from any source in domain 7: %+v, %v", e, err)
		}
		if e, err := nine[2].Probe(t.Context(), Match{}); err != nil || e.Source != 0 || e.Size != 4 {
			t.Errorf("a probe in domain 9 sees %+v, %v", e, err)
		}
		if e, ok := j.sessions[2].Iprobe(Match{}); ok {
			t.Errorf("the job has %+v", e)
		}
		m := nine[2].Claim(Match{})
		if n, err := m.Recv(buf); err != nil || string(buf[:n]) != "nine" {
			t.Errorf("claimed in domain 9: %q, %v", buf[:n], err)
		}
		if err := WaitAll(t.Context(), sends...); err != nil {
			t.Error(err)
		}

		// Requests of several domains in one wait, and in one queue.
		q := j.sessions[1].NewQueue()
		var rs [3]Request
		for i, x := range all {
			if err := x[1].Gate(0).Post(&rs[i], &Operation{Kind: KindRecv, Match: Tag(4), Buf: make([]byte, 1), Queue: q}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range all {
			x := all[2-i]
			if err := x[0].Gate(1).Send(4, []byte{1}); err != nil {
				t.Fatal(err)
			}
			if r, err := q.WaitContext(t.Context()); err != nil || r != &rs[2-i] {
				t.Errorf("out of the queue comes request %p, %v, want %p", r, err, &rs[2-i])
			}
		}
		if got := j.sessions[0].Stats().Sends; got != jobs[0].Stats().Sends+seven[0].Stats().Sends+nine[0].Stats().Sends {
			t.Errorf("the session has counted %d sends", got)
		}
		j.close()
	})
}

// TestDomainOpenedLate: what is sent to a domain that the peer has not opened yet arrives when it opens that.
func TestDomainOpenedLate(t *testing.T) {
	overKinds(t, func(t *testing.T, d driver.Driver, kind DomainConfig) {
		j := newJob(t, 2, d, nil)
		defer j.moving()()
		for first := range 2 { // the lower rank, and the higher one
			kind.Number = 3 + first
			early, err := j.sessions[first].Domain(kind)
			if err != nil {
				t.Fatal(err)
			}
			s := early.Gate(1-first).Isend(5, []byte("early"))
			time.Sleep(5 * time.Millisecond)
			late, err := j.sessions[1-first].Domain(kind)
			if err != nil {
				t.Fatal(err)
			}
			pass(t, "the other way", late.Gate(first), early.Gate(1-first), 1, 2)
			buf := make([]byte, 10)
			if n, err := late.Gate(first).Recv(5, buf); err != nil || string(buf[:n]) != "early" {
				t.Errorf("rank %d first: %q, %v", first, buf[:n], err)
			}
			if err := s.Wait(); err != nil {
				t.Error(err)
			}
		}
		j.close()
	})
}

// TestDomainClose: a domain that is closed ends its own requests, here and at the peers, and no others; what was sent
// before arrives. A number is not used again.
func TestDomainClose(t *testing.T) {
	overKinds(t, func(t *testing.T, d driver.Driver, kind DomainConfig) {
		j := newJob(t, 2, d, nil)
		defer j.moving()()
		one, two := j.domain(kind, 1), j.domain(kind, 2)
		pass(t, "before", one[0].Gate(1), one[1].Gate(0), 1, 70_000)
		pass(t, "before", two[0].Gate(1), two[1].Gate(0), 1, 70_000)
		here, there, other := one[0].Irecv(Match{}, nil), one[1].Gate(0).Irecv(6, nil), two[0].Gate(1).Irecv(6, nil)
		last := one[0].Gate(1).Isend(5, []byte("last"))
		if err := one[0].Close(); err != nil {
			t.Error(err)
		}
		if err := last.Wait(); err != nil {
			t.Error("a send before Close: ", err)
		}
		buf := make([]byte, 10)
		if n, err := one[1].Gate(0).Recv(5, buf); err != nil || string(buf[:n]) != "last" {
			t.Errorf("after the close of the peer: %q, %v", buf[:n], err)
		}
		if err := here.Wait(); !errors.Is(err, ErrClosed) {
			t.Error("a receive from any source in a domain that was closed: ", err)
		}
		if err := there.Wait(); !errors.Is(err, ErrPeerLost) {
			t.Error("a receive from a domain that was closed: ", err)
		}
		if err := one[0].Gate(1).Send(1, nil); !errors.Is(err, ErrClosed) {
			t.Error("a send in a domain that was closed: ", err)
		}
		if over, err := other.Test(); over {
			t.Error("a receive in another domain has ended: ", err)
		}
		if err := errors.Join(two[1].Gate(0).Send(6, nil), other.Wait()); err != nil {
			t.Error(err)
		}
		pass(t, "the job", j.sessions[0].Gate(1), j.sessions[1].Gate(0), 1, 70_000)
		if failed := j.sessions[1].Failed(); len(failed) != 0 {
			t.Errorf("the close of a domain has made ranks %v failed", failed)
		}
		if _, err := j.sessions[0].Domain(DomainConfig{Number: 1}); !errors.Is(err, ErrConfig) {
			t.Error("a number is used again: ", err)
		}
		if err := one[0].Close(); err != nil {
			t.Error("a second Close: ", err)
		}
		if err := one[1].Close(); err != nil {
			t.Error("Close after the peer's: ", err)
		}
		j.close()
		if _, err := j.sessions[0].Domain(DomainConfig{}); !errors.Is(err, ErrClosed) {
			t.Error("a domain is opened after Close: ", err)
		}
		if err := two[0].Gate(1).Send(1, nil); !errors.Is(err, ErrClosed) {
			t.Error("a send in a domain of a session that was closed: ", err)
		}
	})
}

// TestDomainWithoutPeer: a domain that no peer opens can be closed at once, and its session, too, with a send and a
// receive under way.
func TestDomainWithoutPeer(t *testing.T) {
	j := newJob(t, 2, tcp.Driver{}, func(c *Config) { c.Linger = 50 * time.Millisecond })
	var sends, recvs []*Request
	for range 2 {
		d, err := j.sessions[0].Domain(DomainConfig{})
		if err != nil {
			t.Fatal(err)
		}
		sends, recvs = append(sends, d.Gate(1).Isend(1, []byte{1})), append(recvs, d.Irecv(Match{}, nil))
	}
	if err := sends[0].gate.domain.Close(); err == nil {
		t.Error("Close says nothing of a send that it gave up")
	}
	for rank, s := range j.sessions {
		if err := s.Close(); (err != nil) != (rank == 0) {
			t.Errorf("rank %d: %v", rank, err)
		}
		j.engines[rank].Close()
	}
	for _, r := range slices.Concat(sends, recvs) {
		if err := r.Wait(); !errors.Is(err, ErrClosed) {
			t.Error("a request has ended with ", err)
		}
	}
}

// TestDomainsOfLostPeers: in each domain, also in one that is opened later, requests end when their peer has left.
func TestDomainsOfLostPeers(t *testing.T) {
	overKinds(t, func(t *testing.T, d driver.Driver, kind DomainConfig) {
		j := newJob(t, 3, d, nil)
		defer j.moving()()
		linked, unlinked := j.domain(kind, 1), j.domain(kind, 2)
		pass(t, "before", linked[0].Gate(1), linked[1].Gate(0), 1)
		waits := []*Request{linked[0].Gate(1).Irecv(1, nil), unlinked[0].Gate(1).Irecv(1, nil)}
		for rank := 1; rank < 3; rank++ {
			if err := j.sessions[rank].Close(); err != nil {
				t.Error(err)
			}
			j.engines[rank].Close()
		}
		for i, r := range waits {
			if err := r.Wait(); !errors.Is(err, ErrPeerLost) {
				t.Errorf("domain %d: %v", 1+i, err)
			}
		}
		later, err := j.sessions[0].Domain(kind)
		if err != nil {
			t.Fatal(err)
		}
		if err = later.Gate(2).Send(1, nil); kind.Progress == Worker {
			for began := time.Now(); err == nil && time.Since(began) < 20*time.Second; { // a later send tells of it
				time.Sleep(time.Millisecond)
				err = later.Gate(2).Send(1, nil)
			}
		}
		if !errors.Is(err, ErrPeerLost) {
			t.Error("a send in a domain that was opened later: ", err)
		}
		for _, x := range []*Domain{linked[0], later} {
			if _, err := x.Recv(Match{}, nil); !errors.Is(err, ErrPeerLost) {
				t.Errorf("from any source in domain %d: %v", x.Number(), err)
			}
		}
		if err := j.sessions[0].Close(); err != nil {
			t.Error(err)
		}
		j.engines[0].Close()
	})
}

// TestDomainLimits: numbers and how many there are.
func TestDomainLimits(t *testing.T) {
	j := newJob(t, 2, nil, nil)
	s := j.sessions[0]
	for _, n := range []int{-1, lastDomain + 1} {
		if _, err := s.Domain(DomainConfig{Number: n}); !errors.Is(err, ErrConfig) {
			t.Errorf("domain %d: %v", n, err)
		}
	}
	var all []*Domain
	for range MaxDomains - 1 {
		d, err := s.Domain(DomainConfig{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	if _, err := s.Domain(DomainConfig{}); !errors.Is(err, ErrConfig) {
		t.Error("more than the limit: ", err)
	}
	if err := all[3].Close(); err != nil {
		t.Error(err)
	}
	if d, err := s.Domain(DomainConfig{}); err != nil || d.Number() != MaxDomains {
		t.Errorf("after a close: domain %d, %v", d.Number(), err)
	}
	for _, g := range []*Gate{s.job.To(0, 5), s.job.To(1, -1), s.job.To(1, lastDomain+1), s.job.To(2, 5), s.job.To(-1, 0)} {
		if err := g.Send(1, nil); !errors.Is(err, ErrRank) {
			t.Errorf("a gate to nowhere: %v", err)
		}
	}
	j.close()
}

// TestImpoliteAsks: a peer that asks for no domain, or for one that cannot exist, gets its link closed, and nothing
// else happens.
func TestImpoliteAsks(t *testing.T) {
	j := newJob(t, 2, nil, func(c *Config) { c.Driver, c.Link = "tcp", LinkLazy })
	defer j.moving()()
	zero, one := j.sessions[0], j.sessions[1]
	for name, h := range map[string]driver.Header{
		"another kind": {Kind: flow.KindEager}, "an answer": {Kind: flow.KindLink, Size: linkYes},
		"to no domain": {Kind: flow.KindLink, Size: linkAsk, Tag: lastDomain + 1}, "from none": {Kind: flow.KindLink, Size: linkAsk, Cookie: lastDomain + 1},
		"flags": {Kind: flow.KindLink, Size: linkAsk, Flags: 1},
	} {
		link, err := zero.linker.ends[0].Dial(t.Context(), 1, zero.linker.cards[1].Rails[0].Addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := link.Send(&h, nil, nil, false); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		if answer, err := hear(ctx, link, linkYes, linkNever); !errors.Is(err, driver.ErrPeerLost) {
			t.Errorf("%s: answer %d, %v", name, answer.Size, err)
		}
		stop()
		link.Close()
	}
	pass(t, "after them", zero.Gate(1), one.Gate(0), 1, 70_000)
	j.close()
}
