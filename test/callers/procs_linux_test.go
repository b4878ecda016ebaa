package callers

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/internal/test/caller"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// steps are what a program makes of GOMAXPROCS, one after the other.
var steps = []int{1, 8, 2, 1, 64, 1}

// crowd is how many callers wait, and how many exchange messages all the time.
const crowd = 4

// Tags of messages.
const (
	streamTag  = 100 // of the callers that exchange messages all the time, each its own
	waiterTag  = 200 // of those that wait
	controlTag = 1
)

// TestGOMAXPROCS: a program that sets GOMAXPROCS after Enable, up and down, with messages under way and callers
// waiting, gets all its messages.
func TestGOMAXPROCS(t *testing.T) {
	for _, way := range ways(effort.Long()) {
		t.Run(way.String(), func(t *testing.T) { run(t, "procs", way, effort.Of(5), launch.Spec{}) })
	}
}

// setProcs is one rank. In each step rank 0 has both set GOMAXPROCS while callers of rank 1 wait and streams go both
// ways; then it wakes those that wait, and they answer.
func setProcs(session *nmad.Session, s *caller.Spawner, rounds int) error {
	g := session.Gate(1 - session.Rank())
	lead := session.Rank() == 0
	var failed atomic.Pointer[error]
	var waits []func()
	spawn := func(f func() error) {
		waits = append(waits, s.Go(func() {
			if err := f(); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		}))
	}
	var over atomic.Bool
	for i := range crowd {
		spawn(func() error { return stream(g, streamTag+uint64(i), lead, &over) })
		if !lead {
			spawn(func() error { return answer(g, waiterTag+uint64(i), rounds*len(steps)) })
		}
	}
	for i := range rounds * len(steps) {
		if err := together(g, lead, uint64(i)); err != nil {
			return err
		}
		runtime.GOMAXPROCS(steps[i%len(steps)])
		if !lead {
			continue
		}
		if err := ask(g, uint64(i)); err != nil {
			return fmt.Errorf("step %d, GOMAXPROCS %d: %w", i, steps[i%len(steps)], err)
		}
	}
	over.Store(true)
	for _, wait := range waits {
		wait()
	}
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// together returns when both ranks have come to a step.
func together(g *nmad.Gate, lead bool, step uint64) error {
	send, recv := func() error { return g.Send(controlTag, word(step)) }, func() error { return expect(g, controlTag, step) }
	if lead {
		return errors.Join(send(), recv())
	}
	return errors.Join(recv(), send())
}

// ask wakes the callers that wait on the other side, and gets their answers.
func ask(g *nmad.Gate, step uint64) error {
	for i := range uint64(crowd) {
		if err := g.Send(waiterTag+i, word(step)); err != nil {
			return err
		}
	}
	for i := range uint64(crowd) {
		if err := expect(g, waiterTag+i, step); err != nil {
			return err
		}
	}
	return nil
}

// answer is one that waits, n times.
func answer(g *nmad.Gate, tag uint64, n int) error {
	for i := range uint64(n) {
		if err := expect(g, tag, i); err != nil {
			return err
		}
		if err := g.Send(tag, word(i)); err != nil {
			return err
		}
	}
	return nil
}

// lastWord ends a stream.
const lastWord = ^uint64(0)

// stream exchanges messages of both protocols until it is over on rank 0.
func stream(g *nmad.Gate, tag uint64, lead bool, over *atomic.Bool) error {
	for i := uint64(0); ; i++ {
		n := 8
		if i%8 == 7 {
			n = 100_000
		}
		out, in := make([]byte, n), make([]byte, n)
		what := i
		if lead && over.Load() {
			what = lastWord
		}
		put(out, what)
		if lead {
			if err := g.Send(tag, out); err != nil {
				return err
			}
		}
		got, err := g.Recv(tag, in)
		if err != nil {
			return err
		}
		if last := get(in) == lastWord; got != n || !last && get(in) != i {
			return fmt.Errorf("message %d with tag %d is %d bytes, %#x", i, tag, got, get(in))
		} else if !lead {
			if err := g.Send(tag, in); err != nil || last {
				return err
			}
		} else if last {
			return nil
		}
	}
}
