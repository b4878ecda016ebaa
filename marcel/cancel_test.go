package marcel_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// byCancel spawns body, has it canceled when it is in its wait (or on its way
// there) and tells whether it ended by that. Body returns if the wait does.
func byCancel(t testing.TB, settle bool, body func()) bool {
	t.Helper()
	returned, unwound := false, false
	var begun marcel.Semaphore
	x := marcel.Spawn(func() {
		defer func() { unwound = true }()
		begun.Release()
		body()
		returned = true
	})
	begun.Acquire()
	if settle {
		for range 3 {
			marcel.Sleep(20 * time.Microsecond)
		}
	}
	for range 2 { // once more does no harm; it may have ended
		if err := x.Cancel(); err != nil && !errors.Is(err, marcel.ErrNoThread) {
			t.Error(err)
		}
	}
	err := x.Join()
	if !unwound {
		t.Error("deferred calls did not run")
	}
	if returned == errors.Is(err, marcel.ErrCanceled) {
		t.Errorf("returned: %v, Join: %v", returned, err)
	}
	if err := x.Cancel(); !errors.Is(err, marcel.ErrNoThread) {
		t.Errorf("cancel of one that has ended: %v", err)
	}
	return !returned
}

// Every wait that is a cancellation point ends, whether the cancel comes before
// it, at its beginning, or in the middle; and leaves everything as if it had never
// begun.
func TestCancelPoints(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var s marcel.Semaphore
	var m marcel.Mutex
	c := marcel.NewCond(&m)
	box, full := marcel.NewMailbox[int](0), marcel.NewMailbox[int](1)
	must(t, full.Send(1))
	var never marcel.Thread
	last := marcel.NewSemaphore(0)
	never = sched.Default().Spawn(marcel.Attr{}, last.Acquire)
	bubble := marcel.NewBubble(nil)
	must(t, bubble.Insert(never))
	must(t, bubble.Wake())
	locked := func(wait func()) func() {
		return func() {
			m.Lock()
			defer m.Unlock() // panics if the mutex is not ours
			wait()
		}
	}
	points := map[string]func(){
		"Acquire":        s.Acquire,
		"AcquireTimeout": func() { s.AcquireTimeout(time.Hour) },
		"AcquireContext": func() { _ = s.AcquireContext(ctx) },
		"AcquireOrCancel": func() {
			if !s.AcquireOrCancel() {
				marcel.TestCancel()
			}
		},
		"Cond.Wait":           locked(c.Wait),
		"Cond.WaitTimeout":    locked(func() { c.WaitTimeout(time.Hour) }),
		"Cond.WaitContext":    locked(func() { _ = c.WaitContext(ctx) }),
		"Recv":                func() { _, _ = box.Recv() },
		"RecvTimeout":         func() { _, _ = box.RecvTimeout(time.Hour) },
		"Send":                func() { _ = box.Send(7) },
		"Send to a full one":  func() { _ = full.Send(7) },
		"Join":                func() { _ = never.Join() },
		"JoinTimeout":         func() { _, _ = never.JoinTimeout(time.Hour) },
		"JoinContext":         func() { _, _ = never.JoinContext(ctx) },
		"Bubble.Join":         func() { _ = bubble.Join() },
		"Bubble.JoinTimeout":  func() { _, _ = bubble.JoinTimeout(time.Hour) },
		"Bubble.JoinContext":  func() { _, _ = bubble.JoinContext(ctx) },
		"Sleep":               func() { marcel.Sleep(time.Hour) },
		"Select":              func() { marcel.Select(s.Case(), marcel.After(time.Hour)) },
		"Select with a limit": func() { marcel.SelectTimeout(time.Hour, s.Case()) },
		"TestCancel": func() {
			for {
				marcel.TestCancel()
				marcel.Yield()
			}
		},
	}
	for name, wait := range points {
		t.Run(name, func(t *testing.T) {
			onThreadAndOff(t, func(t *testing.T) {
				for i := range effort.Of(60) {
					if !byCancel(t, i%2 == 0, wait) {
						t.Fatal("it was not canceled")
					}
					if i%2 == 0 && !byCancel(t, false, func() { // asked before it waits
						for me := marcel.Self(); ; {
							_ = me.Cancel()
							wait()
						}
					}) {
						t.Fatal("it was not canceled")
					}
				}
				if s.TryAcquire() || !m.TryLock() {
					t.Error("something is left")
				}
				m.Unlock()
				s.Release()
				if !s.TryAcquire() {
					t.Error("a unit was given to one that has been canceled")
				}
				if err := box.TrySend(1); !errors.Is(err, marcel.ErrWouldBlock) {
					t.Errorf("a receiver is left: %v", err)
				}
			})
		})
	}
	last.Release()
	must(t, never.Join())
}

// What is no cancellation point goes on, and the request waits for one.
func TestCancelElsewhere(t *testing.T) {
	run(t, brisk(2), func(*sched.Scheduler) {
		for i := range effort.Of(200) {
			var m marcel.Mutex
			var s marcel.Semaphore
			s.SetUninterruptible()
			m.Lock()
			got := 0
			x := marcel.Spawn(func() {
				m.Lock()
				got++
				m.Unlock()
				s.Acquire()
				got++
				marcel.Yield()
				marcel.Blocking(runtime.Gosched)
				got++
				marcel.TestCancel()
				got++
			})
			for range i % 4 {
				marcel.Yield()
			}
			must(t, x.Cancel())
			marcel.Yield()
			m.Unlock()
			marcel.Yield()
			s.Release()
			if err := x.Join(); !errors.Is(err, marcel.ErrCanceled) || got != 3 {
				t.Fatalf("%d steps, Join returned %v", got, err)
			}
		}
	})
}

func TestCancelDisabled(t *testing.T) {
	run(t, brisk(2), func(*sched.Scheduler) {
		var s, in marcel.Semaphore
		x := marcel.Spawn(func() {
			if !marcel.SetCancelState(false) || marcel.SetCancelState(false) {
				t.Error("SetCancelState does not tell how it was")
			}
			in.Release()
			s.Acquire() // goes on
			marcel.TestCancel()
			if marcel.SetCancelState(true) {
				t.Error("it was disabled")
			}
			s.Acquire()
			t.Error("went on")
		})
		in.Acquire()
		must(t, x.Cancel())
		marcel.Yield()
		s.Release() // for the first one
		if err := x.Join(); !errors.Is(err, marcel.ErrCanceled) {
			t.Errorf("Join returned %v", err)
		}
	})
	if sem := marcel.NewSemaphore(1); !sem.AcquireOrCancel() || sem.TryAcquire() {
		t.Error("a goroutine acquires as by Acquire")
	}
	marcel.TestCancel()
	if marcel.SetCancelState(false) {
		t.Error("a goroutine can be canceled?")
	}
}

// While a thread ends its calls may wait; a panic in them comes before the cancel.
func TestCancelAndLastCalls(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		for _, bad := range []bool{false, true} {
			n := 0
			var never marcel.Semaphore
			wait := func() {
				n++
				marcel.Sleep(time.Microsecond)
				marcel.TestCancel()
				marcel.SetCancelState(true)
				marcel.Yield()
				n++
			}
			var key = marcel.NewKey(func(int) { wait() })
			x := marcel.SpawnWith(marcel.Attr{Catch: true}, func() {
				defer wait()
				must(t, key.Set(1))
				must(t, marcel.PushCleanup(wait))
				must(t, marcel.AtExit(wait))
				if bad {
					defer func() { culprit(errOops) }()
				}
				never.Acquire()
			})
			must(t, x.Cancel())
			want := marcel.ErrCanceled
			if bad {
				want = errOops
			}
			if err := x.Join(); !errors.Is(err, want) || n != 8 {
				t.Errorf("Join returned %v, %d steps", err, n)
			}
		}
	})
}

// Units are conserved, and the mutex is free, whichever thread is canceled when.
func TestCancelConserves(t *testing.T) {
	for _, vps := range []int{1, 3} {
		run(t, brisk(vps), func(s *sched.Scheduler) {
			const units = 3
			sem := marcel.NewSemaphore(units)
			var m marcel.Mutex
			cond := marcel.NewCond(&m)
			holders, signals := 0, 0
			var inside atomic.Int32
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			for range effort.Of(300) {
				var all []marcel.Thread
				for i := range 12 {
					all = append(all, marcel.Spawn(func() {
						for n := range 10 {
							switch i % 4 {
							case 0:
								if n%2 == 0 {
									sem.Acquire()
								} else if !sem.AcquireOrCancel() {
									marcel.TestCancel()
									t.Error("not canceled, and without a unit")
								}
							case 1:
								if !sem.AcquireTimeout(20 * time.Microsecond) {
									continue
								}
							case 2:
								if sem.AcquireContext(ctx) != nil {
									continue
								}
							case 3:
								m.Lock()
								func() {
									defer m.Unlock()
									holders++
									defer func() { holders-- }()
									if holders != 1 {
										t.Error("two hold the mutex")
									}
									for signals == 0 {
										holders--
										func() {
											defer func() { holders++ }()
											cond.Wait()
										}()
									}
									signals--
								}()
								continue
							}
							if inside.Add(1) > units {
								t.Error("more inside than units")
							}
							if i%2 == 0 {
								marcel.Yield()
							}
							inside.Add(-1)
							sem.Release()
						}
					}))
				}
				for i, x := range all {
					if i%3 != 2 {
						for range i % 3 {
							marcel.Yield()
						}
						_ = x.Cancel()
					}
				}
				for i, x := range all {
					for i%4 == 3 && !x.Ended() {
						m.Lock()
						signals++
						m.Unlock()
						cond.Signal()
						marcel.Yield()
					}
					if err := x.Join(); err != nil && !errors.Is(err, marcel.ErrCanceled) {
						t.Error(err)
					}
				}
			}
			for i := range units {
				if !sem.TryAcquire() {
					t.Fatalf("%d of %d units are left", i, units)
				}
			}
			if sem.TryAcquire() || !m.TryLock() || holders != 0 {
				t.Errorf("a unit too many, or the mutex is locked, or %d hold it", holders)
			}
			m.Unlock()
		})
	}
}

// A wait whose time is over just when it is canceled is ended once.
func TestCancelAtTheLimit(t *testing.T) {
	var s marcel.Semaphore
	var m marcel.Mutex
	c := marcel.NewCond(&m)
	waits := []func(time.Duration){
		func(d time.Duration) { s.AcquireTimeout(d) },
		func(d time.Duration) {
			m.Lock()
			defer m.Unlock()
			c.WaitTimeout(d)
		},
		marcel.Sleep,
	}
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	var waiters [8]struct {
		limit time.Time
		h     marcel.Thread
	}
	for i := range n {
		w := &waiters[i%len(waiters)]
		if i >= len(waiters) {
			for time.Until(w.limit) > 0 {
				marcel.Yield()
			}
			if err := w.h.Cancel(); err != nil && !errors.Is(err, marcel.ErrNoThread) {
				t.Error(err)
			}
			if err := w.h.Join(); err != nil && !errors.Is(err, marcel.ErrCanceled) {
				t.Error(err)
			}
		}
		d := time.Duration(20+i%50) * time.Microsecond
		wait := waits[i%len(waits)]
		w.limit = time.Now().Add(d)
		w.h = marcel.Spawn(func() { wait(time.Until(w.limit)) })
	}
	for _, w := range waiters {
		must(t, w.h.Join())
	}
}
