package marcel_test

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// A thread that is stuck in a way that the scheduler is not told of does not stop
// those behind it on its VP: here one of them does what the stuck one waits for.
// Without a hand-off nothing would ever end.
func TestStuckThreadsStopNoOther(t *testing.T) {
	type stuck struct{ wait, end func() }
	for name, kind := range map[string]func() stuck{
		"channel": func() stuck {
			c := make(chan bool)
			return stuck{func() { <-c }, func() { close(c) }}
		},
		"select": func() stuck {
			c, d := make(chan bool), make(chan bool)
			return stuck{func() {
				select {
				case <-c:
				case <-d:
				}
			}, func() { close(d) }}
		},
		"sync.Mutex": func() stuck {
			var m sync.Mutex
			m.Lock()
			return stuck{m.Lock, m.Unlock}
		},
		"sync.Cond": func() stuck {
			var m sync.Mutex
			c, ready := sync.NewCond(&m), false
			return stuck{func() {
				m.Lock()
				for !ready {
					c.Wait()
				}
				m.Unlock()
			}, func() { m.Lock(); ready = true; m.Unlock(); c.Broadcast() }}
		},
		"computation": func() stuck {
			var end atomic.Bool
			return stuck{func() {
				for !end.Load() {
				}
			}, func() { end.Store(true) }}
		},
		"read of a pipe": func() stuck {
			var p [2]int
			if err := unix.Pipe(p[:]); err != nil {
				t.Fatal(err)
			}
			return stuck{
				func() {
					if n, err := unix.Read(p[0], make([]byte, 1)); n != 1 {
						t.Errorf("read: %d, %v", n, err)
					}
					_ = unix.Close(p[0])
				},
				func() { _, _ = unix.Write(p[1], []byte{1}); _ = unix.Close(p[1]) },
			}
		},
		"read of an os.File": func() stuck {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			return stuck{func() { _, _ = r.Read(make([]byte, 1)); _ = r.Close() }, func() { _ = w.Close() }}
		},
	} {
		for _, vps := range []int{1, 2} {
			t.Run(name, func(t *testing.T) {
				run(t, sched.Config{VPs: vps}, func(*sched.Scheduler) {
					k := kind()
					var entered atomic.Bool
					bound := marcel.Attr{VPs: marcel.OneVP(vps - 1)}
					x := marcel.SpawnWith(bound, func() {
						entered.Store(true)
						k.wait()
					})
					y := marcel.SpawnWith(bound, func() {
						for !entered.Load() {
							marcel.Yield()
						}
						marcel.Yield()
						k.end()
					})
					begin := time.Now()
					must(t, y.Join())
					must(t, x.Join())
					t.Logf("%d VPs: %v", vps, time.Since(begin))
				})
			})
		}
	}
}

// A thread that has given its VP away, or lost it, wakes others at once: it does
// not wait until it has the VP back, which another thread here never gives up.
func TestWakingDoesNotWaitForTheVP(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var (
			taken, done atomic.Bool
			s           marcel.Semaphore
			m, free     marcel.Mutex
			c           = marcel.NewCond(&free)
		)
		m.Lock()
		waiters := []marcel.Thread{
			marcel.Spawn(s.Acquire),
			marcel.Spawn(func() { lockUnlock(&m) }),
			marcel.Spawn(func() { free.Lock(); c.Wait(); free.Unlock() }),
			marcel.Spawn(func() { free.Lock(); c.Wait(); free.Unlock() }),
		}
		marcel.Yield() // they wait
		waker := marcel.Spawn(func() {
			marcel.Blocking(func() {
				for !taken.Load() {
					nap(100 * time.Microsecond)
				}
				s.Release()
				m.Unlock()
				c.Signal()
				c.Broadcast()
				if s.TryAcquire() {
					t.Error("took the unit of the one that waits")
				}
				done.Store(true)
			})
		})
		marcel.Yield() // the waker gives the VP away
		taken.Store(true)
		for !done.Load() {
		}
		for _, x := range append(waiters, waker) {
			must(t, x.Join())
		}
	})
}

// The same for waits that only time ends: others of the VP have done a lot before
// a second is over; if not, before a much longer time is.
func TestSleepersInTheKernelStopNoOther(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	var all sync.WaitGroup
	defer all.Wait()
	for name, sleep := range map[string]func(time.Duration){
		"time.Sleep":     time.Sleep,
		"unix.Nanosleep": nap,
		"time.After":     func(d time.Duration) { <-time.After(d) },
		"unix.Select":    func(d time.Duration) { tv := unix.NsecToTimeval(int64(d)); _, _ = unix.Select(0, nil, nil, nil, &tv) },
		"computation":    compute,
		"Blocking":       func(d time.Duration) { marcel.Blocking(func() { nap(d) }) },
		"Sleep":          marcel.Sleep,
	} {
		all.Go(func() {
			var over atomic.Bool
			for _, d := range []time.Duration{time.Second, 20 * time.Second} { // the second one: the machine may be busy
				over.Store(false)
				run(t, sched.Config{VPs: 1}, func(*sched.Scheduler) {
					var entered atomic.Bool
					x := marcel.Spawn(func() {
						entered.Store(true)
						sleep(d)
						over.Store(true)
					})
					for !entered.Load() {
						marcel.Yield()
					}
					for range 100 {
						must(t, marcel.Spawn(func() { marcel.Yield() }).Join())
					}
					early := !over.Load()
					must(t, x.Join())
					over.Store(!early)
				})
				if !over.Load() {
					return
				}
			}
			t.Errorf("%s: the others came after it", name)
		})
	}
}
