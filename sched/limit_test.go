package sched_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// units is the simplest object that can be waited for with a Limit.
type units struct {
	mu    sched.Spin
	n     int
	q     sched.WaitQueue
	gives bool // release tells with Give that it has handed a unit over
}

func (u *units) acquire(lim sched.Limit) (given bool, err error) {
	c := sched.Enter()
	u.mu.Lock()
	if u.n > 0 {
		u.n--
		u.mu.Unlock()
		c.Leave()
		return false, nil
	}
	return c.WaitUntil(&u.q, &u.mu, lim)
}

func (u *units) release() {
	c := sched.Visit()
	u.mu.Lock()
	w := u.q.Pop()
	if w == nil {
		u.n++
	} else if u.gives {
		w.Give()
	}
	u.mu.Unlock()
	if w != nil {
		c.Wake(w)
	}
	c.Leave()
}

func (u *units) waits() bool {
	c := sched.Visit()
	u.mu.Lock()
	some := !u.q.Empty()
	u.mu.Unlock()
	c.Leave()
	return some
}

// onBoth runs fn as a thread and on a goroutine.
func onBoth(t *testing.T, fn func(t *testing.T)) {
	t.Run("goroutine", fn)
	t.Run("thread", func(t *testing.T) {
		marcel.RunOn(start(t, sched.Config{VPs: 1}), func() { fn(t) })
	})
}

var errStop = errors.New("enough")

// Every reason to give up is told, leaves the queue empty, and loses no unit.
func TestWaitIsGivenUp(t *testing.T) {
	done, cancel := context.WithCancelCause(context.Background())
	cancel(errStop)
	onBoth(t, func(t *testing.T) {
		soon, cancelSoon := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancelSoon()
		never, cancelNever := context.WithCancel(context.Background())
		defer cancelNever()
		later, cancelLater := context.WithCancelCause(never)
		time.AfterFunc(time.Millisecond, func() { cancelLater(errStop) })
		for _, it := range []struct {
			name string
			lim  sched.Limit
			err  error
		}{
			{"done before", sched.Limit{Context: done}, errStop},
			{"done before, and a time limit", sched.Limit{Context: done, Timeout: time.Hour}, errStop},
			{"deadline", sched.Limit{Context: soon}, context.DeadlineExceeded},
			{"canceled", sched.Limit{Context: later, First: true}, errStop},
			{"time limit", sched.Limit{Timeout: time.Millisecond}, context.DeadlineExceeded},
			{"time limit before the context", sched.Limit{Context: never, Timeout: time.Millisecond}, context.DeadlineExceeded},
			{"no time", sched.Limit{Context: never, Timeout: -1}, context.DeadlineExceeded},
		} {
			var u units
			given, err := u.acquire(it.lim)
			if given || !errors.Is(err, it.err) {
				t.Errorf("%s: given %v, %v; want %v", it.name, given, err, it.err)
			}
			if u.waits() {
				t.Errorf("%s: still in the queue", it.name)
			}
			if u.release(); u.n != 1 {
				t.Errorf("%s: %d units after a release", it.name, u.n)
			}
			if _, err := u.acquire(it.lim); err != nil {
				t.Errorf("%s: there is a unit, but %v", it.name, err)
			}
		}
	})
}

// The one that is woken learns whether it was given something, under each limit, and
// again when it waits without.
func TestWaitUntilIsWoken(t *testing.T) {
	never, cancel := context.WithCancel(context.Background())
	defer cancel()
	onBoth(t, func(t *testing.T) {
		for i, lim := range []sched.Limit{{}, {Timeout: time.Hour}, {Context: never}, {Context: never, Timeout: time.Hour}, {Context: context.TODO()}} {
			for _, gives := range []bool{true, false} {
				for _, first := range []bool{true, false} {
					u := units{gives: gives}
					other := marcel.Spawn(func() {
						for !u.waits() {
							marcel.Yield()
						}
						u.release()
					})
					lim.First = first
					if given, err := u.acquire(lim); given != gives || err != nil {
						t.Errorf("limit %d, first %v: given %v, want %v; %v", i, first, given, gives, err)
					}
					_ = other.Join()
				}
			}
		}
	})
}

// One that stands first is served first, whichever thread has come before it.
func TestWaitUntilAtTheFront(t *testing.T) {
	marcel.RunOn(start(t, sched.Config{VPs: 1, Slice: time.Hour}), func() {
		var u units
		var order []int
		var all []marcel.Thread
		for i := range 4 {
			all = append(all, marcel.Spawn(func() {
				_, _ = u.acquire(sched.Limit{Timeout: time.Hour, First: i >= 2})
				order = append(order, i)
			}))
			marcel.Yield()
		}
		for range all {
			u.release()
			marcel.Yield()
		}
		for _, x := range all {
			_ = x.Join()
		}
		if got := fmt.Sprint(order); got != "[3 2 0 1]" {
			t.Errorf("served in the order %s", got)
		}
	})
}

// brittle is a context whose method panics.
type brittle struct {
	context.Context
	in string
}

func (br brittle) Done() <-chan struct{} {
	if br.in == "Done" {
		panic("brittle")
	}
	return br.Context.Done()
}

func (br brittle) Err() error {
	if br.in == "Err" {
		panic("brittle")
	}
	return br.Context.Err()
}

// A panic in a method of the context comes out in the caller, which holds nothing
// and stands in no queue.
func TestWaitUnderBrittleContext(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	onBoth(t, func(t *testing.T) {
		for _, ctx := range []context.Context{brittle{done, "Done"}, brittle{done, "Err"}} {
			var u units
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%T: no panic", ctx)
					}
				}()
				c := sched.Enter()
				u.mu.Lock()
				_, _ = c.WaitUntil(&u.q, &u.mu, sched.Limit{Context: ctx})
			}()
			if u.waits() {
				t.Errorf("%T: still in the queue", ctx)
			}
			_ = marcel.Spawn(func() {}).Join() // hangs if the VP is still held
		}
	})
}

// Wake-ups meet limits, collections and hand-offs: in the end every unit is where
// it was, and none waits for ever.
func TestWaitUntilKeepsItsUnits(t *testing.T) {
	dur := effort.Of(3 * time.Second)
	for _, vps := range []int{1, 2} {
		s := start(t, sched.Config{VPs: vps, Slice: time.Millisecond, Period: 250 * time.Microsecond})
		const parties, total = 8, 3
		u := units{n: total}
		var got, up atomic.Int64
		stop := time.Now().Add(dur / 2)
		party := func(i int) {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for time.Now().Before(stop) || got.Load() == 0 || up.Load() == 0 { // on a busy machine these take longer
				lim := sched.Limit{First: r.IntN(4) == 0}
				if r.IntN(2) == 0 {
					lim.Timeout = time.Duration(1+r.IntN(50)) * time.Microsecond
				}
				var cancel context.CancelFunc = func() {}
				switch r.IntN(3) {
				case 0:
					lim.Context, cancel = context.WithTimeout(context.Background(), time.Duration(r.IntN(50))*time.Microsecond)
				case 1:
					lim.Context, cancel = context.WithCancel(context.Background())
					go cancel()
				}
				_, err := u.acquire(lim)
				cancel()
				if err != nil {
					up.Add(1)
					continue
				}
				got.Add(1)
				switch r.IntN(60) {
				case 0:
					burn(1500 * time.Microsecond)
				case 1:
					runtime.GC()
				default:
					marcel.Yield()
				}
				u.release()
			}
		}
		done := make(chan struct{}, parties)
		for i := range parties {
			do := func() { party(i); done <- struct{}{} }
			if i%2 == 0 {
				s.Spawn(marcel.Attr{}, do)
			} else {
				go do()
			}
		}
		for range parties {
			<-done
		}
		if u.n != total || u.waits() {
			t.Errorf("%d VPs: %d units of %d; a waiter is left: %v", vps, u.n, total, u.waits())
		}
	}
}
