package marcel_test

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// A pinned thread is on the same OS thread after whatever it does, may lock it
// once more, and is a thread like others; its OS thread ends with it.
func TestPinned(t *testing.T) {
	for _, vps := range []int{1, 3} {
		run(t, brisk(vps), func(s *sched.Scheduler) {
			for round := range effort.Of(60) {
				var sem, back marcel.Semaphore
				var m marcel.Mutex
				cond := marcel.NewCond(&m)
				var tid atomic.Int32
				signals := 0
				partner := marcel.Spawn(func() {
					for range 4 {
						back.Acquire()
						sem.Release()
					}
					m.Lock()
					signals++
					m.Unlock()
					cond.Signal()
				})
				key := marcel.NewKey(func(int) {
					if int(tid.Load()) != gettid() {
						t.Error("a destructor on another OS thread")
					}
				})
				var self marcel.Thread
				x := marcel.SpawnWith(marcel.Attr{Pinned: true, Name: "pinned"}, func() {
					me := gettid()
					self = marcel.Self()
					tid.Store(int32(me))
					must(t, key.Set(1))
					for step, f := range []func(){
						marcel.Yield,
						func() { back.Release(); sem.Acquire() },
						func() { marcel.Sleep(10 * time.Microsecond) },
						func() { back.Release(); sem.AcquireTimeout(time.Hour) },
						func() { new(marcel.Semaphore).AcquireTimeout(10 * time.Microsecond) },
						func() { marcel.Blocking(runtime.Gosched) },
						func() { marcel.Blocking(func() { time.Sleep(50 * time.Microsecond) }); marcel.Yield() },
						func() { must(t, marcel.Spawn(marcel.Yield).Join()) },
						func() { must(t, marcel.Spawn(marcel.Yield).Join()) },
						func() { back.Release(); sem.Acquire() },
						func() { marcel.YieldTo(partner) },
						func() {
							for end := time.Now().Add(3 * time.Millisecond); round%10 == 0 && time.Now().Before(end); {
							}
						},
						func() { back.Release(); marcel.Select(sem.Case(), marcel.After(time.Hour)) },
						func() { passThrough(&m) },
						func() {
							m.Lock()
							for signals == 0 {
								cond.Wait()
							}
							m.Unlock()
						},
					} {
						runtime.LockOSThread()
						f()
						runtime.UnlockOSThread()
						if gettid() != me || marcel.Self() != self || !marcel.OnThread() {
							t.Errorf("after step %d: OS thread %d, want %d; Self is %v", step, gettid(), me, marcel.Self())
						}
					}
				})
				must(t, x.Join())
				if self != x {
					t.Errorf("Self was %v in %v", self, x)
				}
				must(t, partner.Join())
				for end := time.Now().Add(patience); isThere(int(tid.Load())); {
					if marcel.Yield(); time.Now().After(end) {
						t.Fatal("its OS thread is still there")
					}
				}
			}
		})
	}
}

func passThrough(m *marcel.Mutex) {
	m.Lock()
	defer m.Unlock()
}

// Pinned threads end like others.
func TestPinnedEnds(t *testing.T) {
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			run(t, brisk(2), func(*sched.Scheduler) {
				for range effort.Of(50) {
					n := 0
					last := func() { marcel.Yield(); n++ }
					x := marcel.SpawnWith(marcel.Attr{Pinned: true, Catch: true}, func() {
						defer last()
						must(t, marcel.AtExit(last))
						must(t, marcel.AtExit(func() { defer last(); e.end() }))
						must(t, marcel.PushCleanup(last))
						e.end()
					})
					if err := x.Join(); !errors.Is(err, e.want) || n != 4 {
						t.Fatalf("Join returned %v after %d last calls", err, n)
					}
				}
			})
		})
	}
}

// Many of them among ordinary threads, all for the same things: nothing is lost,
// whichever thread computes, is suspended or canceled.
func TestPinnedStress(t *testing.T) {
	for _, vps := range []int{1, 3} {
		run(t, brisk(vps), func(s *sched.Scheduler) {
			sem := marcel.NewSemaphore(2)
			var m marcel.Mutex
			inside, count := 0, 0
			n := effort.Of(300)
			var all []marcel.Thread
			for i := range 10 {
				all = append(all, marcel.SpawnWith(marcel.Attr{Pinned: i%2 == 0}, func() {
					for k := range n {
						sem.Acquire()
						m.Lock()
						if inside++; inside != 1 {
							t.Error("two inside")
						}
						count++
						if (i+k)%7 == 0 {
							marcel.Yield()
						}
						inside--
						m.Unlock()
						sem.Release()
						if k%50 == i {
							for end := time.Now().Add(2 * time.Millisecond); time.Now().Before(end); {
							}
						}
					}
				}))
			}
			var never marcel.Semaphore
			victim := marcel.SpawnWith(marcel.Attr{Pinned: true}, func() {
				for {
					never.Acquire()
				}
			})
			for range n / 10 {
				for i, x := range all {
					if i%3 == 0 {
						_ = x.Suspend()
					}
				}
				marcel.Sleep(10 * time.Microsecond)
				for _, x := range all {
					_ = x.Resume()
				}
				_ = s.Threads()
			}
			must(t, victim.Cancel())
			if err := victim.Join(); !errors.Is(err, marcel.ErrCanceled) {
				t.Errorf("Join returned %v", err)
			}
			for _, x := range all {
				must(t, x.Join())
			}
			if count != 10*n {
				t.Errorf("%d sections, want %d", count, 10*n)
			}
		})
	}
}

// When there are no OS threads left Join says so.
func TestPinnedTooMany(t *testing.T) {
	s := start(t, sched.Config{VPs: 1, MaxLWPs: 4})
	var permit marcel.Semaphore
	var all []marcel.Thread
	for range 8 {
		all = append(all, s.Spawn(marcel.Attr{Pinned: true}, permit.Acquire))
	}
	failed := 0
	for blocked := 0; blocked+failed < len(all); marcel.Sleep(100 * time.Microsecond) {
		blocked, failed = 0, 0
		ts := s.Threads()
		for _, x := range all {
			if x.Ended() {
				failed++
			} else if has(ts, x, marcel.StateBlocked) {
				blocked++
			}
		}
	}
	for range all {
		permit.Release()
	}
	failed = 0
	for _, x := range all {
		var e *sched.LimitError
		if err := x.Join(); errors.As(err, &e) {
			failed++
		} else {
			must(t, err)
		}
	}
	if failed == 0 || failed == len(all) {
		t.Errorf("%d of %d failed", failed, len(all))
	}
}
