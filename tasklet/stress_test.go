package tasklet

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// slowIdentity tells whether this is the portable build, in which each firing costs a
// stack trace.
var slowIdentity = sync.OnceValue(func() bool {
	return testing.AllocsPerRun(10, func() { asm.G() }) > 0
})

// events scales a number of events to what the race detector or the portable build
// can do.
func events(n int) int {
	if raceEnabled {
		n /= 4
	}
	if slowIdentity() {
		n /= 20
	}
	if testing.Short() {
		n /= 10
	}
	return n
}

// guarded checks from the inside that runs of one tasklet never overlap, and lets the
// race detector check that each sees all of the one before.
type guarded struct {
	inside atomic.Int32
	runs   int // plain: that is the point
}

func (g *guarded) run(t *testing.T) {
	if g.inside.Add(1) != 1 {
		t.Error("a tasklet runs twice at the same time")
	}
	g.runs++
	g.inside.Add(-1)
}

// Millions of events from goroutines that are no VPs: each is handled, by a
// tasklet that counts what it finds; and no run overlaps another one of the
// same tasklet, with idle, switch and timer firings all at once.
func TestMillionsOfEvents(t *testing.T) {
	const producers, tasklets, vps = 4, 16, 3
	_, v := newLiving(t, vps, true)
	type box struct {
		posted, handled atomic.Int64
		guard           guarded
		tk              Tasklet
		_               [128]byte
	}
	boxes := make([]box, tasklets)
	for i := range boxes {
		b := &boxes[i]
		if err := b.tk.Init(v, func() {
			b.guard.run(t)
			b.handled.Add(b.posted.Swap(0))
		}); err != nil {
			t.Fatal(err)
		}
	}
	each := events(3_000_000) / producers
	var all sync.WaitGroup
	for p := range producers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range each {
				b := &boxes[(i*7+p*3)%tasklets]
				b.posted.Add(1)
				b.tk.Schedule()
				for spins := 0; i%64 == 0 && b.posted.Load() > 1000 && spins < 1000; spins++ {
					runtime.Gosched() // let the handlers keep up, somewhat
				}
				if i%16 == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	all.Wait()
	sum := func() (n int64) {
		for i := range boxes {
			n += boxes[i].handled.Load()
		}
		return n
	}
	until(t, "all events handled", func() bool { return sum() == int64(producers*each) })
	runs := 0
	for i := range boxes {
		if !boxes[i].tk.Kill() {
			t.Error("not over")
		}
		runs += boxes[i].guard.runs // Kill makes this safe to read
	}
	if runs == 0 || runs > producers*each {
		t.Errorf("%d runs for %d events", runs, producers*each)
	}
	t.Logf("%d events in %d runs", producers*each, runs)
}

// Chains that live on the VPs alone: a tasklet schedules the next one, on
// this or on another VP, or itself. Nothing outside helps, so that a single
// lost event stops a chain.
func TestChainsNeverBreak(t *testing.T) {
	const chains, vps = 6, 3
	_, v := newLiving(t, vps, true)
	total := int64(events(600_000) / chains)
	var done sync.WaitGroup
	for c := range chains {
		done.Add(1)
		var links [3]Tasklet
		var guards [3]guarded
		steps := int64(0) // belongs to the active link
		for i := range links {
			if err := links[i].Init(v, func() {
				guards[i].run(t)
				steps++
				switch next := (i + 1) % len(links); {
				case steps == total:
					done.Done()
				case steps%7 == 0:
					if !links[i].Schedule() {
						t.Error("it cannot schedule itself")
					}
				case steps%3 == 0:
					if !links[next].ScheduleOn(int(steps+int64(c)) % vps) {
						t.Error("the next link was scheduled by another link")
					}
				default:
					if !links[next].Schedule() {
						t.Error("the next link was scheduled by another link")
					}
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		links[0].Schedule()
	}
	done.Wait()
}

// One event at a time, without a timer, on VPs that go to sleep at once:
// if a wake-up is ever lost, this hangs.
func TestNoWakeUpIsLost(t *testing.T) {
	const producers, vps = 3, 2
	_, v := newLiving(t, vps, false)
	var all sync.WaitGroup
	for range producers {
		all.Add(1)
		go func() {
			defer all.Done()
			var seen atomic.Int64
			tk := New(v, func() { seen.Add(1) })
			for i := range int64(events(60_000) / producers) {
				if !tk.Schedule() {
					t.Error("it was idle")
					return
				}
				until(t, "the event", func() bool { return seen.Load() == i+1 })
			}
		}()
	}
	all.Wait()
}

// Two tasklets on two VPs wait for each other: they must run in parallel.
func TestDifferentTaskletsRunInParallel(t *testing.T) {
	_, v := newLiving(t, 2, false)
	var met [2]chan struct{}
	met[0], met[1] = make(chan struct{}), make(chan struct{})
	var done sync.WaitGroup
	for i := range 2 {
		done.Add(1)
		New(v, func() {
			defer done.Done()
			close(met[i])
			<-met[1-i]
		}).ScheduleOn(i)
	}
	done.Wait()
}

// After Disable has returned it does not run, whatever other goroutines enable and disable, as
// long as this one has not enabled it.
func TestDisableHoldsAgainstEverybody(t *testing.T) {
	const owners, vps = 3, 2
	_, v := newLiving(t, vps, true)
	var forbidden atomic.Int32
	var runs atomic.Int64
	var guard guarded
	tk := New(v, func() {
		if forbidden.Load() != 0 {
			t.Error("it runs although disabled")
		}
		guard.run(t)
		if forbidden.Load() != 0 {
			t.Error("Disable returned while it ran")
		}
		runs.Add(1)
	})
	var stop atomic.Bool
	var noise, all sync.WaitGroup
	noise.Add(1)
	go func() {
		defer noise.Done()
		for !stop.Load() {
			tk.Schedule()
			runtime.Gosched()
		}
	}()
	for range owners {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range events(60_000) / owners {
				if !tk.Disable() {
					t.Error("Disable did not wait")
				}
				forbidden.Add(1)
				if i%2 == 0 { // nested
					tk.Disable()
					tk.Schedule()
					tk.Enable()
				}
				forbidden.Add(-1)
				if !tk.Enable() {
					t.Error("it was disabled")
				}
			}
		}()
	}
	all.Wait()
	before := runs.Load()
	until(t, "it runs again", func() bool { return runs.Load() > before+10 })
	stop.Store(true)
	noise.Wait()
	if s := tk.word.Load(); s.Holds() != 0 {
		t.Errorf("disable count left in %#x", uint64(s))
	}
}

// Kill has returned: the function is not being called, and is never called again,
// although others go on scheduling; and the same memory serves for the next one.
func TestKillHoldsAgainstEverybody(t *testing.T) {
	const owners, vps = 4, 2
	_, v := newLiving(t, vps, true)
	var all sync.WaitGroup
	var ran atomic.Int64
	for o := range owners {
		all.Add(1)
		go func() {
			defer all.Done()
			var tk Tasklet
			for i := range events(100_000) / owners {
				var dead atomic.Bool
				if err := tk.Init(v, func() {
					if dead.Load() {
						t.Error("it begins after Kill has returned")
					}
					ran.Add(1)
					if i%3 == 0 {
						tk.Schedule()
					}
					if dead.Load() {
						t.Error("Kill returned while it ran")
					}
				}); err != nil {
					t.Error(err)
					return
				}
				var others sync.WaitGroup
				others.Add(1)
				go func() {
					defer others.Done()
					tk.ScheduleOn((i + o) % vps)
					tk.Schedule()
				}()
				if i%2 == 0 {
					runtime.Gosched()
				}
				tk.Schedule()
				if !tk.Kill() {
					t.Error("Kill did not wait")
				}
				dead.Store(true)
				others.Wait()
				if tk.Schedule() {
					t.Error("the dead can be scheduled")
				}
				if !tk.Kill() { // what the other one had pushed, if he was in between
					t.Error("not over")
				}
			}
		}()
	}
	all.Wait()
	if ran.Load() == 0 {
		t.Error("none ever ran")
	}
}

// Kill waits: the run that was in progress is through when it returns.
func TestKillWaitsForTheRunInProgress(t *testing.T) {
	_, v := newLiving(t, 1, false)
	for range 20 {
		begun, goOn := make(chan struct{}), make(chan struct{})
		finished := false // plain: Kill must order it
		tk := New(v, func() { close(begun); <-goOn; runtime.Gosched(); finished = true })
		tk.Schedule()
		<-begun
		go close(goOn)
		if !tk.Kill() || !finished {
			t.Fatal("Kill came back while it ran")
		}
	}
}

// Kill does not need the VP in whose tasklet queue a tasklet waits.
func TestKillTakesItOutOfASleepingVPsQueue(t *testing.T) {
	_, v := newManual(t, 1) // nothing ever fires
	for range 100 {
		tk := New(v, func() { t.Error("it was called") })
		tk.Schedule()
		if !tk.Kill() {
			t.Fatal("not over")
		}
	}
	if l := &v.queues[0]; l.hasPushed() || l.numAdopted() != 0 {
		t.Error("the dead are still in the queue")
	}
}

// Several threads kill, init, schedule, disable and fire at random, and a detach
// comes in between: afterwards nothing begins.
func TestDetachUnderFire(t *testing.T) {
	const vps = 2
	for range events(4000) {
		set := &manual{n: vps, vp: 0}
		v, err := Attach(set)
		if err != nil {
			t.Fatal(err)
		}
		var detached atomic.Bool
		var all sync.WaitGroup
		var tks [4]Tasklet
		for i := range tks {
			if err := tks[i].Init(v, func() {
				if detached.Load() {
					t.Error("it begins after Detach has returned")
				}
				if i == 0 {
					tks[0].Schedule()
				}
				if detached.Load() {
					t.Error("Detach returned while it ran")
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		for vp := range vps {
			all.Add(1)
			go func() {
				defer all.Done()
				for i := range 50 {
					tks[(i+vp)%len(tks)].ScheduleOn(vp)
					set.set.Fire(hooks.Point(i%3), vp)
				}
			}()
		}
		runtime.Gosched()
		v.Detach()
		detached.Store(true)
		all.Wait()
		for i := range tks {
			if !tks[i].Kill() {
				t.Fatal("not over")
			}
		}
	}
}
