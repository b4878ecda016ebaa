package stress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// A round of the soak: its schedulers, from their start to their stop, what their threads
// share, and counts of what must not be lost.
type round struct {
	t    testing.TB
	seed uint64
	s    []*sched.Scheduler

	actions []action // what its actors do

	steps       atomic.Int64
	made, ended atomic.Int64 // threads
	failures    atomic.Int64
	doing       sync.Map       // actor -> name of its step: for the dump
	helper      sync.WaitGroup // goroutines of the steps
	actors      crowd

	storm bool // many threads, and weather
	calm  bool // nothing is to run the collector

	guards []*guard
	street *street
	units  *marcel.Semaphore // poolUnits units, taken and given back
	store  [2]store
	post   [3]post
	swap   swap
}

func newRound(t testing.TB, seed uint64) *round {
	w := &round{t: t, seed: seed, units: marcel.NewSemaphore(poolUnits), guards: newGuards()}
	w.street = newStreet(w)
	for i := range w.store {
		w.store[i].init()
	}
	for i := range w.post {
		w.post[i].box = marcel.NewMailbox[uint64](1 + i)
	}
	return w
}

func (w *round) fail(format string, args ...any) {
	if w.failures.Add(1) <= 12 {
		w.t.Errorf("seed %d: "+format, append([]any{w.seed}, args...)...)
	}
}

// do runs the round: everything, from nothing to nothing.
func (w *round) do() {
	only := regexp.MustCompile(*flagActions)
	w.actions = asked(only)
	r := rand.New(rand.NewPCG(w.seed, 0))
	was := before(w.t)
	over := make(chan bool)
	var attendant sync.WaitGroup
	attendant.Go(func() { w.attend(over) })
	w.start(r)
	var anchors marcel.Semaphore // keeps the schedulers from being stopped too early
	for _, s := range w.s {
		s.Spawn(marcel.Attr{Name: "anchor"}, anchors.Acquire)
	}
	var goroutines, meddlers sync.WaitGroup
	quit := make(chan bool)
	for i, m := range meddling {
		if !only.MatchString(m.name) {
			continue
		}
		for k, s := range w.s {
			own := rand.New(rand.NewPCG(w.seed, uint64(1000*i+k+1)))
			meddlers.Go(func() { m.do(w, s, own, quit) })
		}
	}
	n, steps := 20+r.IntN(100), 40
	if w.storm {
		n, steps = 200+r.IntN(800), 8
		if only.MatchString("weather") {
			own := rand.New(rand.NewPCG(w.seed, 999))
			meddlers.Go(func() { w.weather(own, quit) })
		}
	}
	if testing.Short() {
		n /= 4
	}
	for i := range n {
		w.actor(r, i, steps, &goroutines)
	}
	goroutines.Wait()
	if len(w.s) > 1 || r.IntN(2) == 0 { // else Stop waits for them; those of several spawn on each other
		for _, h := range w.actors.list() {
			w.joined(h, nil)
		}
	}
	close(quit)
	meddlers.Wait()
	for range w.s {
		anchors.Release()
	}
	w.stop()
	if w.storm {
		runtime.GOMAXPROCS(was.procs) // the weather has set it
	}
	close(over)
	attendant.Wait()
	w.check()
	was.check(w.t)
}

// start starts the schedulers; one may be the default one.
func (w *round) start(r *rand.Rand) {
	for range 1 + r.IntN(2) {
		cfg := soakConfig(w.t, r)
		cfg.Warn = func(err error) {
			if stuck := new(sched.WatchdogError); !errors.As(err, &stuck) { // those are meant
				w.fail("warned of: %v", err)
			}
		}
		if len(w.s) == 0 && r.IntN(3) == 0 {
			w.must(sched.Configure(cfg))
			w.s = append(w.s, sched.Default())
			continue
		}
		s, err := sched.New(cfg)
		if err != nil {
			w.t.Fatal(err)
		}
		w.s = append(w.s, s)
	}
}

// stop stops them, the default one last: goroutines of the others' threads use its
// timers, and may have started it.
func (w *round) stop() {
	d := sched.Running()
	for _, s := range w.s {
		if s != d {
			w.must(s.Stop(context.Background()))
		}
	}
	if d := sched.Running(); d != nil {
		w.must(d.Stop(context.Background()))
	}
	w.street.close(w)
	w.helper.Wait()
	w.must(sched.Configure(sched.Config{}))
}

// attend ends the program if nothing happens any more and the round is not over.
func (w *round) attend(over <-chan bool) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var seen int64
	starved := starvation{}
	for quiet := 0; quiet < patience; {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		starves := starved.look()
		if now := w.steps.Load() + w.made.Load() + w.ended.Load(); now != seen {
			seen, quiet = now, 0
		} else if !starves {
			quiet++
		}
	}
	w.late()
}

// late tells what hangs, and ends the program.
func (w *round) late() {
	what := fmt.Sprintf("the soak's round of seed %d: nothing happens for %d s; %d steps, %d threads made, %d ended",
		w.seed, patience, w.steps.Load(), w.made.Load(), w.ended.Load())
	w.doing.Range(func(who, step any) bool {
		what += fmt.Sprintf("\n  %v: %v", who, step)
		return true
	})
	all := w.s
	if s := sched.Running(); s != nil {
		all = append(all[:len(all):len(all)], s)
	}
	giveUp(what, all...)
}

// actor starts thread or goroutine i, which takes up to so many steps.
func (w *round) actor(r *rand.Rand, i, most int, goroutines *sync.WaitGroup) {
	own := rand.New(rand.NewPCG(w.seed, uint64(i)<<1|1))
	work := func() {
		me := marcel.Self()
		who := fmt.Sprintf("actor %d, %v", i, me)
		var busy atomic.Bool
		for range 1 + own.IntN(most) {
			d := someAction(w.actions, own)
			w.doing.Store(who, d.name)
			if !busy.CompareAndSwap(false, true) {
				w.fail("%s runs twice at step %s", who, d.name)
			}
			d.do(w, own)
			if !busy.CompareAndSwap(true, false) {
				w.fail("%s ran twice in step %s", who, d.name)
			}
			w.steps.Add(1)
			if marcel.Self() != me {
				w.fail("%s was not itself after step %s", who, d.name)
			}
		}
		w.doing.Delete(who)
	}
	if r.IntN(5) == 0 {
		goroutines.Go(work)
		return
	}
	a := w.attr(r)
	a.Name = fmt.Sprintf("actor %d", i)
	h := pick(r, w.s...).Spawn(a, w.counted(work))
	w.actors.add(h)
}

// counted makes a thread's function one that is counted, however it ends.
func (w *round) counted(fn func()) func() {
	w.made.Add(1)
	var began atomic.Bool
	return func() {
		if !began.CompareAndSwap(false, true) {
			w.fail("a thread has begun twice")
		}
		defer w.ended.Add(1)
		fn()
	}
}

// check compares what is there in the end with what went in.
func (w *round) check() {
	if made, ended := w.made.Load(), w.ended.Load(); made != ended {
		w.fail("%d threads made, %d ended", made, ended)
	}
	for _, g := range w.guards {
		g.check(w)
	}
	for i := range w.store {
		w.store[i].check(w)
	}
	for i := range w.post {
		w.post[i].check(w)
	}
	w.swap.check(w)
	for i := range poolUnits + 1 {
		if w.units.TryAcquire() != (i < poolUnits) {
			w.fail("the pool has not %d units", poolUnits)
			break
		}
	}
	if n := w.failures.Load(); n > 12 {
		w.t.Errorf("%d failures in all", n)
	}
}

// A crowd is a list of threads that others meddle with.
type crowd struct {
	mu sync.Mutex
	hs []marcel.Thread
}

func (c *crowd) add(h marcel.Thread) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hs = append(c.hs, h)
}

func (c *crowd) list() []marcel.Thread {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]marcel.Thread(nil), c.hs...)
}
