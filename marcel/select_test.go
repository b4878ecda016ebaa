package marcel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// kit is one of everything that Select can wait for.
type kit struct {
	sem    marcel.Semaphore
	mu     marcel.Mutex
	cond   *marcel.Cond
	in     *marcel.Mailbox[int]
	out    *marcel.Mailbox[int]
	ch     chan int
	ctx    context.Context
	cancel context.CancelCauseFunc
	thread marcel.Thread
	end    marcel.Semaphore // ends thread
	latch  *marcel.Latch
	group  marcel.WaitGroup

	recv     *marcel.Receiver[int]
	send     *marcel.Sender[int]
	fromChan *marcel.ChanReceiver[int]
	cases    []marcel.Case
}

const (
	onSem = iota
	onCond
	onRecv
	onSend
	onChan
	onDone
	onEnded
	onLatch
	onGroup
	onAfter
	onNil
	kinds
)

// newKit makes one in which nothing is ready: out is full.
func newKit(t testing.TB) *kit {
	k := &kit{in: marcel.NewMailbox[int](1), out: marcel.NewMailbox[int](1), ch: make(chan int, 1)}
	k.cond = marcel.NewCond(&k.mu)
	k.ctx, k.cancel = context.WithCancelCause(context.Background())
	k.thread = marcel.Spawn(k.end.Acquire)
	k.latch = marcel.NewLatch(1)
	k.group.Add(1)
	must(t, k.out.Send(-1))
	k.recv, k.send, k.fromChan = k.in.Receiver(), k.out.Sender(7), marcel.ReceiveFrom(k.ch)
	k.cases = make([]marcel.Case, kinds)
	k.cases[onSem] = k.sem.Case()
	k.cases[onCond] = k.cond.Case()
	k.cases[onRecv] = k.recv
	k.cases[onSend] = k.send
	k.cases[onChan] = k.fromChan
	k.cases[onDone] = marcel.Done(k.ctx)
	k.cases[onEnded] = marcel.Ended(k.thread)
	k.cases[onLatch] = k.latch.Case()
	k.cases[onGroup] = k.group.Case()
	k.cases[onAfter] = marcel.After(time.Hour)
	return k
}

// trigger makes case i ready, or ends a Select that waits for it.
func (k *kit) trigger(t testing.TB, i int) {
	switch i {
	case onSem:
		k.sem.Release()
	case onCond:
		k.cond.Signal()
	case onRecv:
		must(t, k.in.Send(5))
	case onSend:
		if v, err := k.out.Recv(); v != -1 || err != nil {
			t.Errorf("%d, %v was in the full mailbox", v, err)
		}
	case onChan:
		k.ch <- 6
	case onDone:
		k.cancel(errOops)
	case onEnded:
		k.end.Release()
	case onLatch:
		k.latch.CountDown()
	case onGroup:
		k.group.Done()
	}
}

// check sees that case i had its effect, and the others none.
func (k *kit) check(t testing.TB, i int) {
	t.Helper()
	want := func(name string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("case %d was taken; %s: %v", i, name, got)
		}
	}
	want("a unit is left", k.sem.TryAcquire(), false)
	want("its mutex is free", k.mu.TryLock(), false)
	k.mu.Unlock()
	want("received", k.recv.OK && k.recv.Value == 5, i == onRecv)
	want("a message is left", k.in.Len() > 0, false)
	v, err := k.out.TryRecv()
	want("sent", v == 7 && err == nil, i == onSend)
	want("what was there before is left", v == -1 && err == nil, i != onSend)
	want("received from the channel", k.fromChan.OK && k.fromChan.Value == 6, i == onChan)
	_, kept := k.fromChan.Stop()
	want("a value was kept", kept, false)
	want("a value is left", len(k.ch) > 0, false)
	want("the latch is open", k.latch.TryWait(), i == onLatch)
	want("the group is empty", k.group.TryWait(), i == onGroup)
}

func (k *kit) close() {
	k.end.Release()
	k.cancel(nil)
	_ = k.thread.Join()
}

// Whatever comes while a Select waits for all kinds at once ends it, and nothing
// else happens.
func TestSelectWaitsForEach(t *testing.T) {
	worlds(t, func(w *world) {
		for i := range kinds {
			k := newKit(w)
			w.Go(func() {
				defer k.close()
				if i == onAfter {
					k.cases[i] = marcel.After(2 * time.Millisecond)
				}
				var other marcel.Thread
				k.mu.Lock()
				if i != onNil && i != onAfter {
					other = marcel.Spawn(func() {
						lockUnlock(&k.mu) // so it waits by now
						if i == onCond {
							marcel.Sleep(time.Millisecond) // the signal of a condition does not last
						}
						k.trigger(w, i)
					})
				}
				got := -2
				if i == onNil {
					k.cases[onNil] = nil
					got = marcel.SelectTimeout(time.Millisecond, k.cases...)
				} else {
					got = marcel.Select(k.cases...)
				}
				if want := i; i == onNil && got != -1 || i != onNil && got != want {
					w.Errorf("case %d was taken, want %d", got, want)
				}
				k.check(w, got)
				if other != (marcel.Thread{}) {
					must(w, other.Join())
				}
			})
		}
	})
}

// What is ready before is taken at once, in each form.
func TestSelectTakesWhatIsReady(t *testing.T) {
	forms := map[string]func(cases []marcel.Case) int{
		"Select":        func(cases []marcel.Case) int { return marcel.Select(cases...) },
		"TrySelect":     func(cases []marcel.Case) int { return marcel.TrySelect(cases...) },
		"SelectTimeout": func(cases []marcel.Case) int { return marcel.SelectTimeout(time.Hour, cases...) },
		"no time":       func(cases []marcel.Case) int { return marcel.SelectTimeout(-1, cases...) },
		"SelectContext": func(cases []marcel.Case) int {
			never, cancel := context.WithCancel(context.Background())
			defer cancel()
			i, err := marcel.SelectContext(never, cases...)
			if err != nil {
				panic(err)
			}
			return i
		},
	}
	onThreadAndOff(t, func(t *testing.T) {
		for name, form := range forms {
			for _, i := range []int{onSem, onRecv, onSend, onChan, onDone, onEnded, onAfter} {
				k := newKit(t)
				k.mu.Lock()
				k.trigger(t, i)
				if i == onEnded {
					must(t, k.thread.Join())
				}
				if i == onAfter {
					k.cases[i] = marcel.After(0)
				}
				if got := form(k.cases); got != i {
					t.Errorf("%s: case %d was taken, want %d", name, got, i)
				}
				k.check(t, i)
				k.close()
			}
		}
	})
}

// Nothing ready: the bounded forms say so, and leave nothing behind.
func TestSelectInVain(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		k := newKit(t)
		defer k.close()
		soon, cancel := context.WithTimeoutCause(context.Background(), time.Millisecond, errOops)
		defer cancel()
		k.mu.Lock()
		if i := marcel.TrySelect(k.cases...); i != -1 {
			t.Errorf("TrySelect took %d", i)
		}
		if i := marcel.TrySelect(); i != -1 {
			t.Errorf("TrySelect took %d of none", i)
		}
		begin := time.Now()
		if i := marcel.SelectTimeout(time.Millisecond, k.cases...); i != -1 || time.Since(begin) < time.Millisecond {
			t.Errorf("SelectTimeout took %d after %v", i, time.Since(begin))
		}
		for range 2 { // the second time it is done already
			if i, err := marcel.SelectContext(soon, k.cases...); i != -1 || !errors.Is(err, errOops) {
				t.Errorf("SelectContext took %d, %v", i, err)
			}
		}
		if i := marcel.SelectTimeout(time.Hour, marcel.After(time.Hour), marcel.After(time.Millisecond), nil); i != 1 {
			t.Errorf("of several time limits %d came first", i)
		}
		if i, err := marcel.SelectContext(soon, marcel.After(0)); i != -1 || !errors.Is(err, errOops) {
			t.Errorf("SelectContext took %d, %v after its end", i, err)
		}
		k.check(t, -1)
	})
}

// More cases than there is room for inline.
func TestSelectOfMany(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		for _, n := range []int{8, 9, 40} {
			sems := make([]marcel.Semaphore, n)
			cases := make([]marcel.Case, n)
			for i := range sems {
				cases[i] = sems[i].Case()
			}
			for i := range sems {
				x := marcel.Spawn(func() { marcel.Yield(); sems[i].Release() })
				if got := marcel.Select(cases...); got != i {
					t.Errorf("%d was taken, %d released", got, i)
				}
				must(t, x.Join())
			}
		}
	})
}

// Every one of several that are ready all the time has its turn.
func TestSelectIsFair(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		const n, rounds = 4, 4000
		var cases [2 * n]marcel.Case // ready ones side by side, and those that never are
		for i := range n {
			cases[i] = marcel.NewSemaphore(rounds).Case()
			cases[n+i] = new(marcel.Semaphore).Case()
		}
		var got [2 * n]int
		for range rounds {
			got[marcel.Select(cases[:]...)]++
		}
		for i, k := range got[:n] {
			// At least one in 2n is expected, with a deviation of 21.
			if k < rounds/(2*n)-200 {
				t.Errorf("%d of %d times number %d of %d that were ready", k, rounds, i, n)
			}
		}
	})
}

// One waits by Select where others wait alone: they are served in order of
// arrival.
func TestSelectStandsInLine(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		const n = 6
		var s, never marcel.Semaphore
		var order []int
		var all []marcel.Thread
		for i := range n {
			all = append(all, marcel.Spawn(func() {
				if i%2 == 0 {
					s.Acquire()
				} else {
					marcel.Select(never.Case(), s.Case())
				}
				order = append(order, i)
			}))
			marcel.Yield()
		}
		for range n {
			s.Release()
			if s.TryAcquire() {
				t.Error("took the unit of the first in line")
			}
		}
		for _, x := range all {
			must(t, x.Join())
		}
		for i, x := range order {
			if i != x {
				t.Fatalf("served in the order %v", order)
			}
		}
	})
}

// rude is a Case that panics.
type rude struct{ in string }

func (r rude) Try() bool { return r.say("Try") }

func (r rude) Enlist(*sched.Waiter) bool { r.say("Enlist"); return true }
func (r rude) Withdraw(*sched.Waiter)    {}
func (r rude) Taken(*sched.Waiter) bool  { return r.say("Taken") }

func (r rude) say(in string) bool {
	if r.in == in {
		panic("rude in " + in)
	}
	return false
}

// A panic of a case comes out, and the caller stands in no line any more.
func TestSelectWithRudeCase(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		for _, in := range []string{"Try", "Enlist"} {
			var s marcel.Semaphore
			panics(t, "rude in "+in, func() { marcel.Select(s.Case(), rude{in}, s.Case()) })
			if s.Release(); !s.TryAcquire() {
				t.Errorf("%s: its unit is lost", in)
			}
		}
		var m marcel.Mutex
		panics(t, "not locked", func() { marcel.Select(marcel.NewCond(&m).Case()) })
		var none context.Context
		panics(t, "nil", func() { marcel.Select(marcel.Done(none)) })
	})
}

// Two conditions of one mutex: whichever is signaled.
func TestSelectOfTwoConds(t *testing.T) {
	worlds(t, func(w *world) {
		var m marcel.Mutex
		a, b := marcel.NewCond(&m), marcel.NewCond(&m)
		ca, cb := a.Case(), b.Case()
		rounds, as, bs, want := effort.Of(500), 0, 0, -1
		w.Go(func() {
			m.Lock()
			defer m.Unlock()
			for range rounds {
				want = -1
				switch i := marcel.Select(ca, nil, cb); {
				case i != want:
					w.Errorf("%d was signaled, %d taken", want, i)
				case i == 0:
					as++
				default:
					bs++
				}
			}
			want = -2
		})
		w.Go(func() {
			for over := false; !over; marcel.Yield() {
				m.Lock()
				// Signals hit only if the other one waits: it holds m otherwise.
				if over = want == -2; !over && want == -1 {
					if (as+bs)%2 == 0 {
						want = 0
						a.Signal()
					} else {
						want = 2
						b.Signal()
					}
				}
				m.Unlock()
			}
		})
		w.all.Wait()
		if as != (rounds+1)/2 || bs != rounds/2 {
			w.Errorf("%d and %d signals of %d", as, bs, rounds)
		}
	})
}

// vain is a case whose wake-ups are for nothing.
type vain struct{ event }

func (v *vain) Try() bool { return false }
func (v *vain) Enlist(w *marcel.Waiter) bool {
	v.under(func() { v.q.Add(w) })
	return true
}
func (v *vain) Taken(*marcel.Waiter) bool { return false }

// A wake-up for nothing takes no case; and no signal that comes meanwhile is lost.
func TestSelectWokenForNothing(t *testing.T) {
	worlds(t, func(w *world) {
		var m marcel.Mutex
		var v vain
		var s marcel.Semaphore
		c := marcel.NewCond(&m)
		flag, turns, rounds := false, 0, effort.Of(400)
		w.Go(func() {
			cases := []marcel.Case{&v, c.Case()}
			m.Lock()
			for range rounds {
				for !flag {
					if i := marcel.Select(cases...); i != 1 {
						w.Errorf("took %d", i)
					}
				}
				flag = false
				turns++
			}
			m.Unlock()
			if i := marcel.Select(&v, s.Case()); i != 1 {
				w.Errorf("took %d", i)
			}
		})
		w.Go(func() {
			for over := false; !over; marcel.Yield() {
				m.Lock()
				v.Set()
				if over = turns == rounds; !over {
					flag = true
					c.Signal()
				}
				m.Unlock()
			}
			v.Set()
			s.Release()
		})
	})
}
