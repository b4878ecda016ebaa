package mpi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

// Two ranks, each a thread with private communicators: one owes the other something in one communicator, and waits
// for it in another one. Only its own calls move what it owes.

// debt is what a rank owes the other one: what it begins, and what the other one does, which needs calls of the first
// one to end.
type debt struct {
	name       string
	owe, claim func(c *Comm, peer int) *Request
}

// Elements of messages that go by rendezvous, and of ones that do not.
const (
	longDebt  = 30_000
	shortDebt = 3
)

func numbersTo(n int) []int64 { return ramp(n, func(i int) int64 { return int64(i) }) }

// received is a receive, and what must have come.
func received(c *Comm, n, peer, tag int) *Request {
	s := make([]int64, n)
	r := Irecv(c, s, peer, tag)
	over := NewRequest(nil)
	over.makeExtras().start = func() error {
		_, err := r.Wait()
		return errors.Join(err, expect(s, numbersTo(n)))
	}
	return over
}

// pay waits for the end of what a debt has begun.
func pay(r *Request) error {
	if x := r.extras(); x.start != nil {
		return x.start()
	}
	_, err := r.Wait()
	return err
}

func issend(c *Comm, n, peer, tag int) *Request {
	b, err := On(numbersTo(n))
	if err != nil {
		return (&Request{}).endAtOnce(err)
	}
	return c.Immediate().Ssend(b, peer, tag)
}

func iallreduce(c *Comm, _ int) *Request {
	s := numbersTo(longDebt)
	r, over := Allreduce(c.Immediate(), Max, nil, s), NewRequest(nil)
	over.makeExtras().start = func() error {
		_, err := r.Wait()
		return errors.Join(err, expect(s, numbersTo(longDebt)))
	}
	return over
}

func parts(c *Comm, peer int, sends bool) *Request {
	b, err := On(numbersTo(longDebt))
	if err != nil {
		return (&Request{}).endAtOnce(err)
	}
	var p *Partitioned
	if sends {
		p, err = NewPartitionedSend(c, b, 3, peer, 5)
	} else {
		p, err = NewPartitionedReceive(c, b, 2, peer, 5)
	}
	if err == nil {
		err = p.Start()
	}
	if err == nil && sends {
		err = p.Ready(2, 0, 1)
	}
	if err != nil {
		return (&Request{}).endAtOnce(err)
	}
	return p.Request
}

var debts = []debt{
	{
		"a long send", func(c *Comm, peer int) *Request { return Isend(c, numbersTo(longDebt), peer, 1) },
		func(c *Comm, peer int) *Request { return received(c, longDebt, peer, 1) },
	},
	{
		"a short synchronous send", func(c *Comm, peer int) *Request { return issend(c, shortDebt, peer, 1) },
		func(c *Comm, peer int) *Request { return received(c, shortDebt, peer, 1) },
	},
	{
		"a long receive", func(c *Comm, peer int) *Request { return received(c, longDebt, peer, 1) },
		func(c *Comm, peer int) *Request { return Isend(c, numbersTo(longDebt), peer, 1) },
	},
	{
		"a receive from any rank", func(c *Comm, _ int) *Request { return received(c, shortDebt, AnySource, 1) },
		func(c *Comm, peer int) *Request { return issend(c, shortDebt, peer, 1) },
	},
	{"a reduction", iallreduce, iallreduce},
	{
		"a message in parts", func(c *Comm, peer int) *Request { return parts(c, peer, true) },
		func(c *Comm, peer int) *Request { return parts(c, peer, false) },
	},
}

// waiting is a call that blocks, and what the other rank does so that it ends.
type waiting struct {
	name        string
	wait, serve func(c *Comm, peer int) error
}

func sends(c *Comm, peer int) error { return Send(c, numbersTo(shortDebt), peer, 2) }
func takes(n int) func(*Comm, int) error {
	return func(c *Comm, peer int) error { return pay(received(c, n, peer, 2)) }
}

func probes(from func(peer int) int, probe func(c *Comm, from int) error) func(*Comm, int) error {
	return func(c *Comm, peer int) error {
		if err := probe(c, from(peer)); err != nil {
			return err
		}
		return takes(shortDebt)(c, peer)
	}
}

// beside waits with a receive beside for which nothing comes.
func beside(wait func(all ...*Request) error, r func(c *Comm, peer int) *Request) func(*Comm, int) error {
	return func(c *Comm, peer int) error {
		never := Irecv(c, make([]int64, 1), peer, 9)
		err := wait(never, nil, r(c, peer))
		never.Cancel()
		_, _ = never.Wait()
		return err
	}
}

func irecv2(c *Comm, peer int) *Request { return Irecv(c, make([]int64, shortDebt), peer, 2) }
func ibarrier(c *Comm, _ int) *Request  { return c.Immediate().Barrier() }

func anyOf(all ...*Request) error {
	i, _, err := WaitAny(all...)
	if err == nil && i != 2 {
		err = fmt.Errorf("request %d has ended, want 2", i)
	}
	return err
}

func someOf(all ...*Request) error {
	done, _, err := WaitSome(all...)
	if err == nil && (len(done) != 1 || done[0] != 2) {
		err = fmt.Errorf("requests %v have ended, want 2", done)
	}
	return err
}

// within waits with a context that could be done.
func within(r func(c *Comm, peer int) *Request) func(*Comm, int) error {
	return func(c *Comm, peer int) error {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		_, err := r(c, peer).WaitContext(ctx)
		return err
	}
}

// tests looks again and again.
func tests(r func(c *Comm, peer int) *Request) func(*Comm, int) error {
	return func(c *Comm, peer int) error {
		x := r(c, peer)
		for {
			if over, _, err := x.Test(); over || err != nil {
				return err
			}
			marcel.Yield()
		}
	}
}

func itself(rank int) int   { return rank }
func whichever(_ int) int   { return AnySource }
func ends(r *Request) error { _, err := r.Wait(); return err }

func sendsLong(c *Comm, peer int) error { return Send(c, numbersTo(longDebt), peer, 2) }

func sendrecv(c *Comm, peer int) error {
	_, _, err := Sendrecv(c, numbersTo(longDebt), peer, 2, make([]int64, longDebt), peer, 2)
	return err
}

func probe(c *Comm, from int) error {
	_, err := c.Probe(context.Background(), from, 2)
	return err
}

func iprobe(c *Comm, from int) error {
	for {
		if _, there, err := c.Immediate().Probe(from, 2); there || err != nil {
			return err
		}
		marcel.Yield()
	}
}

func mprobe(c *Comm, _ int) error {
	m, err := c.Mprobe(context.Background(), AnySource, 2)
	if err != nil {
		return err
	}
	b, err := On(make([]int64, shortDebt))
	if err == nil {
		_, err = m.Recv(b)
	}
	return err
}

func sbarrier(c *Comm, _ int) error   { return c.Barrier() }
func sibarrier(c *Comm, _ int) error  { return ends(c.Immediate().Barrier()) }
func sallreduce(c *Comm, _ int) error { return Allreduce(c, Max, nil, numbersTo(longDebt)) }

func dupsBeside(c *Comm, _ int) error {
	d, err := c.Dup()
	if err == nil {
		d.Free()
	}
	return err
}

// waitings block.
var waitings = []waiting{
	{"Recv", takes(shortDebt), sends},
	{"Recv from any rank", func(c *Comm, _ int) error { return pay(received(c, shortDebt, AnySource, 2)) }, sends},
	{"Recv, long", takes(longDebt), sendsLong},
	{"Send, long", sendsLong, takes(longDebt)},
	{"Ssend", func(c *Comm, peer int) error { return ends(issend(c, shortDebt, peer, 2)) }, takes(shortDebt)},
	{"Sendrecv", sendrecv, sendrecv},
	{"WaitContext", within(irecv2), sends},
	{"WaitAny", beside(anyOf, irecv2), sends},
	{"WaitSome", beside(someOf, irecv2), sends},
	{"Probe", probes(itself, probe), sends},
	{"Probe of any rank", probes(whichever, probe), sends},
	{"Mprobe", mprobe, sends},
	{"Barrier", sbarrier, sbarrier},
	{"Allreduce", sallreduce, sallreduce},
	{
		"Bcast", func(c *Comm, peer int) error { return Bcast(c, numbersTo(shortDebt), peer) },
		func(c *Comm, _ int) error { return Bcast(c, numbersTo(shortDebt), c.Rank()) },
	},
	{"Ibarrier", sibarrier, sibarrier},
	{"Ibarrier, WaitContext", within(ibarrier), within(ibarrier)},
	{"Ibarrier, WaitAny", beside(anyOf, ibarrier), beside(anyOf, ibarrier)},
	{
		"message in parts", func(c *Comm, peer int) error { return ends(parts(c, peer, false)) },
		func(c *Comm, peer int) error { return ends(parts(c, peer, true)) },
	},
	{"Dup", dupsBeside, dupsBeside},
}

// looks do not block, but look again and again.
var looks = []waiting{
	{"Test", tests(irecv2), sends},
	{"Iprobe", probes(itself, iprobe), sends},
	{"Ibarrier, Test", tests(ibarrier), tests(ibarrier)},
}

// crosswise has both ranks owe, wait, and be served, in all ways, with private communicators of the caller's, and the
// world. pauses: now and then a rank is so late that the other one sleeps.
func crosswise(w *Comm, pauses bool) error {
	var private [2]*Comm
	for i := range private {
		var err error
		if private[i], err = w.Dup(NewInfo(KeyDomain, "private")); err != nil {
			return err
		}
	}
	a, b := private[0], private[1]
	me, peer, turn := w.Rank(), 1-w.Rank(), 0
	for _, pair := range []struct {
		name         string
		waits, debts *Comm
	}{{"two private ones", a, b}, {"in the world", w, b}, {"owes in the world", a, w}} {
		all := slices.Concat(waitings, looks)
		if pair.debts == w && !w.job.session.Engine().Hooked() {
			all = waitings // a look is not for what the program, or the engine, has to move
		}
		for _, d := range debts {
			for _, x := range all {
				turn++
				var err error
				if debtor := turn%2 == me; debtor {
					r := d.owe(pair.debts, peer)
					err = errors.Join(x.wait(pair.waits, peer), pay(r))
				} else {
					if pauses && turn%7 == 0 {
						marcel.Sleep(3 * time.Millisecond)
					}
					err = errors.Join(pay(d.claim(pair.debts, peer)), x.serve(pair.waits, peer))
				}
				if err != nil {
					return fmt.Errorf("%s: one rank owes %s, and waits in %s: %w", pair.name, d.name, x.name, err)
				}
			}
			// Each owes the other one something, and claims it in the other order.
			own, other := pair.waits, pair.debts
			if me == 0 {
				own, other = other, own
			}
			r := d.owe(own, peer)
			if err := errors.Join(pay(d.claim(other, peer)), pay(r)); err != nil {
				return fmt.Errorf("%s: each rank owes %s: %w", pair.name, d.name, err)
			}
		}
	}
	a.Free()
	b.Free()
	return w.Barrier()
}

// callers are the kinds of threads that wait.
var callers = map[string]func(f func()){
	"goroutine": func(f func()) { f() },
	"locked": func(f func()) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		f()
	},
	"thread": func(f func()) {
		over := make(chan struct{})
		marcel.SpawnWith(marcel.Attr{Detached: true}, func() { defer close(over); f() })
		<-over
	},
}

// TestPrivateCrosswise: a thread that waits, whatever for and in which communicator, moves all its private ones, and
// the world where nothing else does.
func TestPrivateCrosswise(t *testing.T) {
	for _, driver := range []string{"shm", "tcp"} {
		for name, call := range callers {
			t.Run(driver+", "+name, func(t *testing.T) {
				eachOver(t, driver, 2, func(w *Comm) (err error) {
					call(func() { err = crosswise(w, effort.Long() || name == "thread") })
					return err
				})
			})
		}
	}
}

// privates is a process of two: in each, callers of all kinds at once have communicators of their own.
func privates(world *Comm) error {
	var all sync.WaitGroup
	errs := make(chan error, len(callers))
	for _, name := range []string{"goroutine", "locked", "thread"} {
		c, err := world.Dup()
		if err != nil {
			return err
		}
		all.Go(func() {
			callers[name](func() {
				if err := crosswise(c, name == "goroutine"); err != nil {
					errs <- fmt.Errorf("%s: %w", name, err)
				}
			})
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		return err
	}
	fmt.Println("rank", world.Rank(), "is done")
	return nil
}

// TestPrivateProcesses is TestPrivateCrosswise among processes, whose worlds move in the background.
func TestPrivateProcesses(t *testing.T) {
	for _, driver := range []string{"shm", "tcp"} {
		t.Run(driver, func(t *testing.T) {
			text, err := run(t, "privates", 2, driver)
			if err != nil || strings.Count(text, "is done") != 2 {
				t.Errorf("%v, and they say: %s", err, text)
			}
		})
	}
}
