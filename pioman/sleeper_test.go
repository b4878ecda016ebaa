package pioman

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// network is what the two kinds of test sources have in common.
type network interface {
	Source
	put()
	take() int
}

var networks = map[string]func(testing.TB) network{
	"pipe": func(t testing.TB) network { return newPipe(t) },
	"bell": func(t testing.TB) network { return newBell(t) },
}

// receiver is a request that a repeat task completes when something arrives.
type receiver struct {
	task Task
	c    Completion
	net  network
	got  atomic.Int64
}

func newReceiver(t testing.TB, e *Engine, net network) *receiver {
	t.Helper()
	r := &receiver{net: net}
	r.task.Init("receive", func(*Task) Status {
		n := r.net.take()
		if n == 0 {
			return Again
		}
		r.got.Add(int64(n))
		r.c.Signal(1)
		return Moved
	}, Repeat)
	submit(t, e, &r.task)
	t.Cleanup(func() { // before the descriptor is closed
		if err := r.task.Cancel(); err != nil {
			t.Error(err)
		}
	})
	if err := e.AddSource(net); err != nil {
		t.Fatal(err)
	}
	return r
}

// No wake-up gets lost: one goroutine sleeps whenever it may, the other posts
// things of every kind, one at a time, and waits until it was handled. A lost
// one would be waited for in vain.
func TestNoLostWakeUp(t *testing.T) {
	rounds := effort.Of(100_000)
	for name, open := range networks {
		t.Run(name, func(t *testing.T) {
			e := engine(t, Config{})
			s := newByHand(1) // its VP is the sleeping goroutine below
			attach(t, e, s)
			net := open(t)
			r := newReceiver(t, e, net)
			var stop atomic.Bool
			var slept, turned atomic.Int64
			var wg sync.WaitGroup
			e.AddPending() // a receive that stays pending
			wg.Go(func() {
				for !stop.Load() {
					if e.sleeper.sleep(forever) != sleepRefused {
						slept.Add(1)
					} else {
						turned.Add(1)
					}
				}
			})
			var once Task
			var c Completion
			once.Init("once", func(*Task) Status { return Done }, OneShot)
			requests, served := atomic.Int64{}, atomic.Int64{} // of a queue that only a repeat task looks at
			var pump Task
			pump.Init("pump", func(*Task) Status {
				if served.Load() == requests.Load() {
					return Again
				}
				served.Add(1)
				return Moved
			}, Repeat)
			submit(t, e, &pump)
			rnd := rand.New(rand.NewPCG(1, 2))
			finishes(t, "rounds", func() {
				for i := range rounds {
					for range rnd.IntN(40) {
						runtime.Gosched()
					}
					if i%50 == 0 {
						time.Sleep(20 * time.Microsecond)
					}
					switch rnd.IntN(4) {
					case 0: // from the network
						n := r.got.Load()
						net.put()
						for r.got.Load() == n {
							runtime.Gosched()
						}
					case 1: // a task
						once.Notify(&c, 1)
						submit(t, e, &once)
						for !c.Test(1) {
							runtime.Gosched()
						}
						c.Reset()
					case 2: // a request
						n := requests.Add(1)
						e.AddPending()
						for served.Load() != n {
							runtime.Gosched()
						}
						e.RemovePending()
					case 3: // a wake, which must end a sleep, or prevent one
						n := slept.Load()
						vpSleeper{e}.Wake()
						for slept.Load() == n {
							runtime.Gosched()
						}
					}
				}
			})
			stop.Store(true)
			vpSleeper{e}.Wake()
			finishes(t, "sleeper", wg.Wait)
			e.RemovePending()
			t.Logf("slept %d times, refused %d times", slept.Load(), turned.Load())
		})
	}
}

// The same from end to end: threads that wait for the network on a real scheduler
// whose VPs fall asleep between two messages.
func TestNoLostMessage(t *testing.T) {
	rounds := effort.Of(2000)
	for name, open := range networks {
		for _, vps := range []int{1, 2} {
			t.Run(name+map[int]string{1: ", 1 VP", 2: ", 2 VPs"}[vps], func(t *testing.T) {
				e := engine(t, Config{Params: tuned(func(p *Params) { p.BusyWait, p.hot = 0, 0 })})
				s := scheduler(t, sched.Config{VPs: vps, IdleSpin: time.Nanosecond})
				attach(t, e, s)
				net := open(t)
				r := newReceiver(t, e, net)
				order := make(chan int, 1)
				var wg sync.WaitGroup
				wg.Go(func() {
					for pause := range order {
						time.Sleep(time.Duration(pause) * time.Microsecond)
						net.put()
					}
				})
				finishes(t, "messages", func() {
					marcel.RunOn(s, func() {
						for i := range rounds {
							e.AddPending()
							order <- i % 100
							if err := r.c.Wait(e, 1); err != nil {
								t.Error(err)
							}
							r.c.Reset()
							e.RemovePending()
						}
					})
				})
				close(order)
				wg.Wait()
				if int(r.got.Load()) != rounds {
					t.Errorf("%d messages for %d", r.got.Load(), rounds)
				}
				t.Logf("slept %d times", e.sleeper.sleeps.Load())
			})
		}
	}
}

// A process with a receive pending, and one with nothing pending, uses no CPU.
func TestNoCPUWhileAsleep(t *testing.T) {
	for name, open := range networks {
		for _, hooked := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", hooked", false: ", explicit"}[hooked], func(t *testing.T) {
				e := engine(t, Config{})
				s := scheduler(t, sched.Config{})
				if hooked {
					attach(t, e, s)
				}
				net := open(t)
				r := newReceiver(t, e, net)
				var waiters sync.WaitGroup
				waiters.Go(func() {
					marcel.RunOn(s, func() {
						e.AddPending()
						if err := r.c.Wait(e, 1); err != nil {
							t.Error(err)
						}
						e.RemovePending()
					})
				})
				var other Completion // it is not signaled before the end
				waiters.Go(func() {
					if err := other.Wait(e, 1); err != nil {
						t.Error(err)
					}
				})
				eventually(t, "the sleeper sleeps in the kernel", func() bool { return e.load.view().asleep() })
				usesNoCPU(t, "with a receive pending")
				net.put()
				other.Signal(1)
				finishes(t, "waiters", waiters.Wait)
				if hooked {
					usesNoCPU(t, "with nothing pending")
				}
			})
		}
	}
}

// A task that nothing announces is looked at now and then, also in a process that sleeps.
func TestBlindTaskIsPolledInItsSleep(t *testing.T) {
	for _, opt := range []Options{0, Blind} { // without a source any task is blind
		for _, hooked := range []bool{true, false} {
			e := engine(t, Config{})
			if hooked {
				attach(t, e, scheduler(t, sched.Config{}))
			}
			if opt == Blind {
				if err := e.AddSource(newPipe(t)); err != nil {
					t.Fatal(err)
				}
			}
			var task Task
			var c Completion
			began := time.Now()
			task.Init("watch the clock", func(*Task) Status {
				if time.Since(began) < 50*time.Millisecond {
					return Again
				}
				return Done
			}, Repeat|opt)
			task.Notify(&c, 1)
			submit(t, e, &task)
			finishes(t, "wait", func() {
				if err := c.Wait(e, 1); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// armed counts what the engine does with a source.
type armed struct {
	*pipe
	says         bool // what Arm says
	on           atomic.Bool
	arms, faults atomic.Int64
	gone         atomic.Bool
}

func (a *armed) Arm() bool {
	a.arms.Add(1)
	if a.on.Swap(true) || a.gone.Load() {
		a.faults.Add(1)
	}
	return a.says
}

func (a *armed) Disarm() {
	if !a.on.Swap(false) || a.gone.Load() {
		a.faults.Add(1)
	}
}

func TestArmThatSaysNoKeepsAwake(t *testing.T) {
	e := engine(t, Config{})
	willing, unwilling := &armed{pipe: newPipe(t), says: true}, &armed{pipe: newPipe(t)}
	for _, a := range []*armed{willing, unwilling} {
		if err := e.AddSource(a); err != nil {
			t.Fatal(err)
		}
	}
	e.sleeper.kernel.Load().wait(forever) // AddSource has left a wake
	c := newCounted(t, e, 0)
	e.AddPending()
	defer e.RemovePending()
	finishes(t, "sleep", func() {
		if n := e.sleeper.sleep(forever); n != sleepUnready {
			t.Error(n)
		}
	})
	if c.polls.Load() != 2 || willing.arms.Load() != 1 || unwilling.arms.Load() != 1 {
		t.Errorf("%d polls, armed %d and %d times", c.polls.Load(), willing.arms.Load(), unwilling.arms.Load())
	}
	if willing.on.Load() || unwilling.on.Load() || willing.faults.Load()+unwilling.faults.Load() != 0 {
		t.Error("not every Arm was followed by one Disarm")
	}
}

// A queue stays counted as pending for a moment after its last task. One that wants to sleep settles
// that itself, and does not lie down if nothing else is pending: none would wake it.
func TestNobodySleepsForNothing(t *testing.T) {
	e := engine(t, Config{})
	attach(t, e, newByHand(1))
	r := newReceiver(t, e, newPipe(t)) // is no request by itself
	var task Task
	task.Init("one", func(*Task) Status { return Done }, OneShot)
	submit(t, e, &task)
	for !task.State().Inactive() {
		e.Poll()
	}
	if e.load.view().pending() == 0 {
		t.Fatal("the queue of a task that has just run does not count any more: this test shows nothing")
	}
	if n := e.sleeper.sleep(100 * time.Millisecond); n != sleepUnready {
		t.Errorf("nap %d with nothing pending, want %d, unready", n, sleepUnready)
	}
	if n := e.sleeper.sleep(100 * time.Millisecond); n != sleepRefused {
		t.Errorf("the next nap: %d, want %d, refused", n, sleepRefused)
	}
	e.AddPending()
	defer e.RemovePending()
	r.net.put()
	if n := e.sleeper.sleep(forever); n != sleepUnready && n != sleepArrived { // the other way: it sleeps for what is pending
		t.Errorf("nap %d with a request pending and something there", n)
	}
}

// A round comes to a bounded number of tasks. No thread sleeps while a task that is to be run once lies beyond that.
func TestNobodySleepsBeforeWhatIsToBeRun(t *testing.T) {
	e := engine(t, Config{})
	attach(t, e, newByHand(1))
	if err := e.AddSource(&armed{pipe: newPipe(t), says: true}); err != nil { // so that nothing is looked for blindly
		t.Fatal(err)
	}
	e.sleeper.kernel.Load().wait(forever) // AddSource has left a wake
	many := make([]*counted, e.params.round+10)
	for i := range many {
		many[i] = newCounted(t, e, 0)
	}
	var once Task
	once.Init("once", func(*Task) Status { return Done }, OneShot)
	submit(t, e, &once)
	e.sleeper.kernel.Load().wait(0) // and so has Submit, perhaps
	for i := 0; !once.State().Inactive(); i++ {
		if n := e.sleeper.sleep(20 * time.Millisecond); n != sleepUnready || i == 5 {
			t.Fatalf("nap %d, want %d, unready; the task that is to be run: %v", n, sleepUnready, once.State())
		}
	}
	e.AddPending()
	defer e.RemovePending()
	e.sleeper.kernel.Load().wait(0)
	if n := e.sleeper.sleep(20 * time.Millisecond); n != sleepUndisturbed {
		t.Errorf("nap %d when it has run, want %d, undisturbed", n, sleepUndisturbed)
	}
}

func TestSleepRefuses(t *testing.T) {
	e := engine(t, Config{})
	if err := e.AddSource(newPipe(t)); err != nil {
		t.Fatal(err)
	}
	if n := e.sleeper.sleep(forever); n != sleepRefused {
		t.Errorf("with nothing pending: %d", n)
	}
	e.AddPending()
	defer e.RemovePending()
	e.sleeper.sleep(time.Millisecond) // AddSource has left a wake
	if n := e.sleeper.sleep(time.Millisecond); n != sleepUndisturbed {
		t.Errorf("with nothing to disturb it: %d", n)
	}
	// The second is refused, and makes the first take a fresh look.
	var wg sync.WaitGroup
	wg.Go(func() {
		if n := e.sleeper.sleep(forever); n != sleepDisturbed {
			t.Errorf("the first: %d", n)
		}
	})
	eventually(t, "asleep", func() bool { return e.load.view().asleep() })
	if n := e.sleeper.sleep(forever); n != sleepRefused {
		t.Errorf("the second: %d", n)
	}
	finishes(t, "the first", wg.Wait)
}

func TestAddSourceRefuses(t *testing.T) {
	e := engine(t, Config{})
	p := newPipe(t)
	for name, src := range map[string]Source{"nil": nil, "negative": &pipe{r: -1}, "not open": &pipe{r: 1 << 20}} {
		if err := e.AddSource(src); !errors.Is(err, ErrSource) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := e.AddSource(p); err != nil {
		t.Fatal(err)
	}
	if err := e.AddSource(p); !errors.Is(err, ErrSource) || !errors.Is(err, unix.EEXIST) {
		t.Errorf("twice: %v", err)
	}
	e.RemoveSource(nil)
	e.RemoveSource(newPipe(t))
	e.RemoveSource(p)
	e.RemoveSource(p)
	if err := e.AddSource(p); err != nil {
		t.Errorf("again after it was removed: %v", err)
	}
}

// On return from RemoveSource the engine does not touch the source, whichever thread sleeps
// or arms at that moment, and also when a handler removes it.
func TestRemoveSourceWhileSleeping(t *testing.T) {
	rounds := effort.Choose(300, 1000, 3000)
	e := engine(t, Config{})
	stop := attach(t, e, scheduler(t, sched.Config{}))
	e.AddPending()
	defer e.RemovePending()
	var all []*armed
	for i := range rounds {
		a := &armed{pipe: newPipe(t), says: i%3 != 0}
		all = append(all, a)
		if err := e.AddSource(a); err != nil {
			t.Fatal(err)
		}
		if i%5 == 0 {
			eventually(t, "armed", func() bool { return a.arms.Load() > 0 })
		}
		for range i % 50 {
			runtime.Gosched()
		}
		remove := func() {
			e.RemoveSource(a)
			if a.on.Load() && e.sleeper.holder.Load() == 0 {
				t.Error("still armed")
			}
			a.gone.Store(true)
		}
		if i%2 == 0 {
			finishes(t, "remove", remove)
		} else {
			var task Task
			var c Completion
			task.Init("remove", func(*Task) Status { remove(); return Done }, OneShot)
			task.Notify(&c, 1)
			submit(t, e, &task)
			finishes(t, "remove inside a handler", func() {
				if err := c.Wait(e, 1); err != nil {
					t.Error(err)
				}
			})
		}
		a.close()
	}
	stop() // the last sleeper has left
	for i, a := range all {
		if n := a.faults.Load(); n != 0 {
			t.Fatalf("round %d: %d faults", i, n)
		}
	}
}

// A task that comes in while the engine is being closed is canceled like the others.
func TestSubmitMeetsClose(t *testing.T) {
	e := New(Config{})
	var task Task
	task.Init("late", func(*Task) Status { t.Error("ran"); return Done }, OneShot)
	if err := e.claim(&task); err != nil { // the first half of Submit
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e.put(&task, e.root, nil) // and the second
	if task.State() != StateCanceled || e.Pending() != 0 {
		t.Errorf("%v, %d pending", task.State(), e.Pending())
	}
}

// Close ends waits, cancels tasks and lets go of everything, whatever state they are in.
func TestClose(t *testing.T) {
	for _, hooked := range []bool{false, true} {
		before := openDescriptors(t)
		e := New(Config{})
		var s *sched.Scheduler
		if hooked {
			s = scheduler(t, sched.Config{})
			attach(t, e, s)
		}
		p := newPipe(t)
		r := newReceiver(t, e, p)
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				var c Completion
				e.AddPending()
				defer e.RemovePending()
				if i == 0 {
					time.Sleep(10 * time.Millisecond)
				}
				if err := c.Wait(e, 1); !errors.Is(err, ErrClosed) {
					t.Errorf("hooked %v: waiter: %v", hooked, err)
				}
			})
		}
		var stop atomic.Bool
		wg.Go(func() { // submissions and new sources all the while
			for !stop.Load() {
				var task Task
				task.Init("late", func(*Task) Status { return Done }, OneShot)
				if err := e.Submit(&task); err == nil {
					eventually(t, "task inactive", func() bool { e.Poll(); return task.State().Inactive() })
				} else if !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			}
		})
		var inside Task
		var err error
		inside.Init("closes", func(*Task) Status { err = e.Close(); return Done }, OneShot)
		submit(t, e, &inside)
		eventually(t, "ran", func() bool { e.Poll(); return inside.State().Inactive() })
		if !errors.Is(err, ErrInHandler) {
			t.Errorf("close inside a handler: %v", err)
		}
		time.Sleep(5 * time.Millisecond)
		finishes(t, "close", func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		stop.Store(true)
		finishes(t, "waiters", wg.Wait)
		if r.task.State() != StateCanceled || e.Pending() != 0 || e.tasks() {
			t.Errorf("hooked %v: task %v, %d pending, tasks left %v", hooked, r.task.State(), e.Pending(), e.tasks())
		}
		if after := openDescriptors(t) - 2; after != before { // the pipe
			t.Errorf("hooked %v: %d descriptors open, %d before", hooked, after, before)
		}
	}
}

// A waiter of an explicit engine that sleeps in the kernel looks at a task that no source announces once that is
// submitted.
func TestBlindTaskWakesWaiter(t *testing.T) {
	e := with(t, func(p *Params) { p.explicitSpin, p.explicitSleep = 0, forever })
	if err := e.AddSource(newPipe(t)); err != nil { // so that the sleep may be long
		t.Fatal(err)
	}
	var c Completion
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Wait(e, 1); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the waiter sleeps in the kernel", func() bool { return e.load.view().watched() })
	var task Task
	polls := 0
	task.Init("blind", func(*Task) Status {
		if polls++; polls < 5 {
			return Again
		}
		c.Signal(1)
		return Done
	}, Repeat|Blind)
	submit(t, e, &task)
	finishes(t, "the waiter", wg.Wait)
}
