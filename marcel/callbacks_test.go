package marcel_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// The ways in which a thread can end, and the error of its Join.
var ends = []struct {
	name string
	end  func()
	want error
}{
	{"return", func() {}, nil},
	{"exit", marcel.Exit, nil},
	{"panic", func() { culprit(errOops) }, errOops},
	{"exit while blocking", func() { marcel.Blocking(marcel.Exit) }, nil},
	{"panic while blocking", func() { marcel.Blocking(func() { culprit(errOops) }) }, errOops},
}

// Whichever way a thread ends: deferred calls, cleanup handlers, at-exit
// callbacks, destructors, joiners, post-exit callbacks, in this order, and each
// kind last in, first out.
func TestOrderOfLastCalls(t *testing.T) {
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			run(t, brisk(2), func(*sched.Scheduler) {
				for range effort.Of(200) {
					var log []string
					say := func(s string) func() {
						return func() {
							marcel.Yield() // these are calls like others: they may wait
							log = append(log, s)
						}
					}
					key := marcel.NewKey(func(n int) { say(fmt.Sprint("key ", n))() })
					var joined, gone marcel.Semaphore
					x := marcel.SpawnWith(marcel.Attr{Catch: true}, func() {
						me := marcel.Self()
						defer say("deferred")()
						must(t, marcel.AfterExit(gone.Release))
						must(t, marcel.AfterExit(func() {
							joined.Acquire()
							log = append(log, fmt.Sprint("after, ended: ", me.Ended()))
						}))
						must(t, marcel.AtExit(say("exit 1")))
						must(t, marcel.PushCleanup(say("cleanup 1")))
						must(t, key.Set(7))
						must(t, marcel.AtExit(say("exit 2")))
						must(t, marcel.PushCleanup(say("cleanup 2")))
						must(t, marcel.PushCleanup(say("popped")))
						must(t, marcel.PopCleanup(false))
						defer func() { log = append(log, "unwound") }()
						e.end()
					})
					if err := x.Join(); !errors.Is(err, e.want) {
						t.Errorf("Join returned %v", err)
					}
					log = append(log, "joined")
					joined.Release()
					gone.Acquire()
					want := []string{"unwound", "deferred", "cleanup 2", "cleanup 1", "exit 2", "exit 1", "key 7", "joined", "after, ended: true"}
					if !slices.Equal(log, want) {
						t.Fatalf("calls %q\nwant  %q", log, want)
					}
				}
			})
		})
	}
}

// One of the last calls that exits or panics does not keep the others from being
// made; the first panic is Join's error.
func TestLastCallsThatEnd(t *testing.T) {
	for _, e := range ends {
		for _, second := range ends {
			t.Run(e.name+", "+second.name, func(t *testing.T) {
				onThreadAndOff(t, func(t *testing.T) {
					other := errors.New("other")
					var n atomic.Int32
					var key = marcel.NewKey(func(int) { n.Add(1); second.end() })
					x := marcel.SpawnWith(marcel.Attr{Catch: true}, func() {
						must(t, marcel.AtExit(func() { n.Add(1); culprit(other) }))
						must(t, marcel.AtExit(func() { n.Add(1); second.end() }))
						must(t, marcel.PushCleanup(func() { n.Add(1); second.end() }))
						must(t, key.Set(1))
						e.end()
					})
					err := x.Join()
					want := other
					if e.want != nil || second.want != nil {
						want = errOops
					}
					if n.Load() != 4 || !errors.Is(err, want) {
						t.Errorf("%d of 4 calls; Join returned %v, want %v", n.Load(), err, want)
					}
				})
			})
		}
	}
}

// Values of keys are each thread's own, wherever it goes.
func TestKeys(t *testing.T) {
	worlds(t, func(w *world) {
		var plain marcel.Key[string]
		var alive atomic.Int32
		keyed := marcel.NewKey(func(n *int) { alive.Add(-1) })
		for i := range 20 {
			w.Go(func() {
				if marcel.Self() == (marcel.Thread{}) {
					err1, err2 := plain.Set("x"), keyed.Set(nil)
					_, ok1 := plain.Get()
					_, ok2 := keyed.Clear()
					if ok1 || ok2 || !errors.Is(err1, marcel.ErrNotThread) || !errors.Is(err2, marcel.ErrNotThread) {
						w.Errorf("on a goroutine: %v, %v, %v, %v", ok1, ok2, err1, err2)
					}
					return
				}
				if _, ok := plain.Get(); ok {
					w.Error("a value that no thread set")
				}
				mine := fmt.Sprint("thread ", i)
				for j := range effort.Of(500) {
					v := mine + fmt.Sprint(" ", j)
					must(w, plain.Set(v))
					marcel.Yield()
					if got, ok := plain.Get(); !ok || got != v {
						w.Errorf("got %q, %v; want %q", got, ok, v)
					}
				}
				n := 5
				must(w, keyed.Set(&n))
				alive.Add(1)
				if i%2 == 0 {
					if got, ok := keyed.Clear(); !ok || got != &n {
						w.Error("Clear does not return the value")
					}
					if _, ok := keyed.Get(); ok {
						w.Error("a value after Clear")
					}
					alive.Add(-1)
				}
			})
		}
		w.all.Wait()
		for w.s.Alive() > 0 { // destructors run when the threads' functions have returned
			marcel.Yield()
		}
		for w.foreign != nil && w.foreign.Alive() > 0 {
			marcel.Yield()
		}
		if alive.Load() != 0 {
			w.Errorf("%d values were not destroyed", alive.Load())
		}
	})
}

// Destructors that set values again are called again, four times in all.
func TestDestructorRounds(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		calls := 0
		var key *marcel.Key[int]
		key = marcel.NewKey(func(n int) {
			if _, ok := key.Get(); ok || n != calls {
				t.Errorf("call %d with %d; a value is still there: %v", calls, n, ok)
			}
			calls++
			must(t, key.Set(n+1))
		})
		must(t, marcel.Spawn(func() { must(t, key.Set(0)) }).Join())
		if calls != 4 {
			t.Errorf("%d calls, want 4", calls)
		}
	})
}

// Keys are as a map from key to value.
func TestKeysModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := make([]marcel.Key[int], 12)
		model := map[int]int{}
		ops := rapid.SliceOf(rapid.IntRange(0, 3*len(keys)-1)).Draw(t, "ops")
		x := marcel.Spawn(func() {
			for step, op := range ops {
				k := op % len(keys)
				want, had := model[k]
				switch op / len(keys) {
				case 0:
					if err := keys[k].Set(step); err != nil {
						t.Errorf("Set: %v", err)
					}
					model[k] = step
				case 1:
					if got, ok := keys[k].Get(); got != want || ok != had {
						t.Errorf("Get: %d, %v; want %d, %v", got, ok, want, had)
					}
				case 2:
					if got, ok := keys[k].Clear(); got != want || ok != had {
						t.Errorf("Clear: %d, %v; want %d, %v", got, ok, want, had)
					}
					delete(model, k)
				}
			}
		})
		if err := x.Join(); err != nil {
			t.Error(err)
		}
	})
}

// Get and a second Set do not allocate.
func TestKeysDoNotAllocate(t *testing.T) {
	needsPools(t)
	run(t, undisturbed(), func(*sched.Scheduler) {
		var key marcel.Key[int]
		must(t, key.Set(1))
		if n := testing.AllocsPerRun(100, func() {
			v, _ := key.Get()
			must(t, key.Set(v+1))
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// The post-switch callback comes once for each time the thread has been away, and
// before the call that let it go returns.
func TestOnSwitch(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		n := 0
		var s marcel.Semaphore
		must(t, marcel.OnSwitch(func() { n++ }))
		other := marcel.Spawn(func() {
			for range 3 {
				marcel.Yield()
			}
			s.Release()
		})
		for i := range 3 {
			if marcel.Yield(); n != i+1 {
				t.Errorf("%d calls after %d yields", n, i+1)
			}
		}
		if s.Acquire(); n != 4 {
			t.Errorf("%d calls after a wait", n)
		}
		must(t, other.Join())
		must(t, marcel.OnSwitch(nil))
		n = 0
		other = marcel.Spawn(func() {})
		if marcel.Yield(); n != 0 {
			t.Error("called after its end")
		}
		must(t, other.Join())
	})
	for _, err := range []error{
		marcel.OnSwitch(nil), marcel.AtExit(nil), marcel.AfterExit(nil), marcel.PushCleanup(nil), marcel.PopCleanup(true),
	} {
		if !errors.Is(err, marcel.ErrNotThread) {
			t.Errorf("on a goroutine: %v", err)
		}
	}
}
