package marcel_test

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Many join one thread at the same time: all come back, after its end.
func TestJoinByMany(t *testing.T) {
	worlds(t, func(w *world) {
		for range effort.Of(200) {
			var (
				permit marcel.Semaphore
				ended  atomic.Bool
				done   sync.WaitGroup
			)
			x := w.s.Spawn(marcel.Attr{}, func() {
				permit.Acquire()
				ended.Store(true)
			})
			const n = 10
			done.Add(n)
			for range n {
				w.Go(func() {
					defer done.Done()
					must(w, x.Join())
					if !ended.Load() || !x.Ended() {
						w.Error("joined before the end")
					}
				})
			}
			permit.Release()
			done.Wait()
		}
	})
}

// Threads join their children, and those theirs.
func TestJoinOfATree(t *testing.T) {
	worlds(t, func(w *world) {
		if w.kind != threads {
			w.Skip("children of goroutines belong to the default scheduler: see TestSpawnFromGoroutines")
		}
		var leaves atomic.Int32
		var grow func(depth int)
		grow = func(depth int) {
			if depth == 0 {
				leaves.Add(1)
				return
			}
			l := marcel.Spawn(func() { grow(depth - 1) })
			r := marcel.Spawn(func() { grow(depth - 1) })
			must(w, r.Join())
			must(w, l.Join())
		}
		w.Go(func() { grow(9) })
		w.all.Wait()
		if leaves.Load() != 1<<9 {
			w.Errorf("%d leaves of %d", leaves.Load(), 1<<9)
		}
	})
}

func TestJoinErrors(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var none marcel.Thread
		if err := none.Join(); !errors.Is(err, marcel.ErrNoThread) {
			t.Errorf("join of no thread: %v", err)
		}
		none.Detach()
		if !none.Ended() || none.Name() != "" || none.String() != "no thread" {
			t.Errorf("no thread: ended %v, name %q, %v", none.Ended(), none.Name(), none)
		}
		must(t, marcel.Spawn(func() {
			if err := marcel.Self().Join(); !errors.Is(err, marcel.ErrJoinSelf) {
				t.Errorf("join of oneself: %v", err)
			}
			marcel.Yield() // it goes on as before
		}).Join())

		var permit marcel.Semaphore
		x := marcel.Spawn(permit.Acquire)
		x.Detach()
		if err := x.Join(); !errors.Is(err, marcel.ErrDetached) {
			t.Errorf("join of a detached thread: %v", err)
		}
		if x.Ended() {
			t.Error("it has not ended")
		}
		x.Detach() // once more: no effect
		permit.Release()
		for !x.Ended() {
			marcel.Yield()
		}
		if err := x.Join(); err != nil {
			t.Errorf("join of a detached thread that has ended: %v", err)
		}
	})
}

// A thread that is made detached has been so from the beginning, and its panic is
// no one's. (That the program dies of it is in fatal_test.go.)
func TestMadeDetached(t *testing.T) {
	worlds(t, func(w *world) {
		var permit marcel.Semaphore
		x := w.s.Spawn(marcel.Attr{Detached: true, Name: "alone"}, permit.Acquire)
		if err := x.Join(); !errors.Is(err, marcel.ErrDetached) {
			w.Errorf("join: %v", err)
		}
		permit.Release()
		for !x.Ended() {
			marcel.Yield()
		}
		if err := x.Join(); err != nil || x.Name() != "alone" {
			w.Errorf("after the end: join %v, name %q", err, x.Name())
		}
	})
}

// Numbers of threads are never given twice, by whichever way threads are made.
func TestIDs(t *testing.T) {
	var mu sync.Mutex
	seen := map[uint64]bool{0: true}
	worlds(t, func(w *world) {
		for range 3 {
			w.Go(func() {
				for i := range effort.Of(1000) {
					var me marcel.Thread
					body := func() { me = marcel.Self() }
					var x marcel.Thread
					if i%3 == 0 {
						x = marcel.SpawnWith(marcel.Attr{Name: "n"}, body)
					} else {
						x = marcel.Spawn(body)
					}
					must(w, x.Join())
					mu.Lock()
					if id := x.ID(); seen[id] || id != me.ID() {
						w.Errorf("%v: number %d, given before: %v; its own %d", x, id, seen[id], me.ID())
					}
					seen[x.ID()] = true
					mu.Unlock()
				}
			})
		}
	})
	if (marcel.Thread{}).ID() != 0 {
		t.Error("no thread has a number")
	}
}

// One that joins already is not sent away by Detach.
func TestDetachWhileJoined(t *testing.T) {
	worlds(t, func(w *world) {
		var permit marcel.Semaphore
		x := w.s.Spawn(marcel.Attr{}, permit.Acquire)
		p := newParty()
		w.Go(func() {
			p.here()
			must(w, x.Join())
			if !x.Ended() {
				w.Error("came back before the end")
			}
		})
		p.parkedIn("Thread.Join")
		x.Detach()
		permit.Release()
	})
}

// A handle stays right when its thread has ended and the descriptor behind it
// serves another thread.
func TestHandlesOutliveTheirThreads(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		descriptor := func(x marcel.Thread) uintptr { return reflect.ValueOf(x).Field(0).Pointer() }
		old := marcel.Spawn(func() {})
		must(t, old.Join())
		for i := range 1000 {
			var permit marcel.Semaphore
			x := marcel.Spawn(permit.Acquire)
			marcel.Yield()
			if descriptor(x) != descriptor(old) {
				t.Fatalf("descriptors are not used again: %v, then %v; then this test shows nothing", old, x)
			}
			if x == old || x.String() == old.String() {
				t.Fatal("one handle for two threads")
			}
			if !old.Ended() || x.Ended() {
				t.Errorf("ended: old %v, new %v", old.Ended(), x.Ended())
			}
			must(t, old.Join()) // at once, although the new one is blocked
			old.Detach()        // not the new one
			permit.Release()
			must(t, x.Join())
			if i%2 == 0 { // with the handle of another life each time, and with the first one's
				old = x
			}
		}
	})
}

// Self is the handle that Spawn returned, however often the thread has been moved
// or has waited.
func TestSelf(t *testing.T) {
	worlds(t, func(w *world) {
		if w.kind == goroutines {
			w.Go(func() {
				if marcel.Self() != (marcel.Thread{}) || marcel.OnThread() || marcel.OthersReady() {
					w.Error("a goroutine was taken for a thread")
				}
			})
			return
		}
		for range 50 {
			handle := make(chan marcel.Thread, 1)
			x := w.s.Spawn(marcel.Attr{}, func() {
				me := marcel.Self()
				if h := <-handle; h != me {
					w.Errorf("%v, spawned as %v", me, h)
				}
				for range 20 {
					marcel.Yield()
					marcel.Blocking(func() {
						if marcel.Self() != me || !marcel.OnThread() {
							w.Error("no thread while blocking")
						}
						nap(time.Microsecond)
					})
					c := make(chan bool)
					go func() {
						if marcel.OnThread() || marcel.Self() != (marcel.Thread{}) {
							w.Error("a goroutine was taken for a thread")
						}
						close(c)
					}()
					<-c
					if marcel.Self() != me || !marcel.OnThread() {
						w.Error("lost myself")
					}
				}
			})
			handle <- x
			w.Go(func() { must(w, x.Join()) })
		}
	})
}

func TestAttributes(t *testing.T) {
	for _, vps := range []int{1, 2, 5} {
		run(t, brisk(vps), func(s *sched.Scheduler) {
			var all []marcel.Thread
			for i := range 10 * vps {
				vp := i % vps
				all = append(all, marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(vp), Name: "bound"}, func() {
					if n := marcel.Self().Name(); n != "bound" {
						t.Errorf("my name is %q", n)
					}
					for range 20 {
						if got := s.CurrentVP(); got != vp && got != -1 { // -1: it has just been taken away
							t.Errorf("on VP %d, bound to %d", got, vp)
						}
						if i%3 == 0 {
							marcel.Sleep(10 * time.Microsecond)
						} else {
							marcel.Yield()
						}
					}
				}))
			}
			for _, x := range all {
				must(t, x.Join())
				if x.Name() != "bound" || !strings.Contains(x.String(), `"bound"`) {
					t.Errorf("after its end it is called %q, %v", x.Name(), x)
				}
			}
			if x := marcel.Spawn(func() {}); x.Name() != "" {
				t.Errorf("the name %q was never given", x.Name())
			}
			panics(t, "no VP to run on", func() { marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(vps)}, func() {}) })
			must(t, marcel.Spawn(func() {}).Join()) // the VP is in order
		})
	}
}

// Goroutines spawn to the default scheduler, many of them at once.
func TestSpawnFromGoroutines(t *testing.T) {
	within(t, func() {
		var all sync.WaitGroup
		var ran atomic.Int64
		n := effort.Of(2000)
		for range 4 {
			all.Go(func() {
				for range n {
					x := marcel.Spawn(func() {
						if !marcel.OnThread() || sched.Default().Alive() == 0 {
							t.Error("not a thread of the default scheduler")
						}
						marcel.Yield()
						ran.Add(1)
					})
					y := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() { ran.Add(1) })
					must(t, x.Join())
					must(t, y.Join())
				}
			})
		}
		all.Wait()
		if ran.Load() != int64(8*n) {
			t.Errorf("%d threads ran, %d were spawned", ran.Load(), 8*n)
		}
	}, sched.Default())
}

// A thread spawned is a thread that runs: none has to join it, and its parent
// need not stop computing if there is another VP. (Its own is not taken away.)
func TestSpawnedThreadsRunUnjoined(t *testing.T) {
	run(t, sched.Config{VPs: 2, Slice: time.Hour}, func(*sched.Scheduler) {
		var ran atomic.Bool
		marcel.Spawn(func() { ran.Store(true) })
		for !ran.Load() { // neither yields nor blocks
		}
	})
}

func TestYieldTakesTurns(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var turns []byte
		var all []marcel.Thread
		for _, c := range []byte("abc") {
			all = append(all, marcel.Spawn(func() {
				for range 3 {
					turns = append(turns, c)
					marcel.Yield()
				}
			}))
		}
		if !marcel.OthersReady() {
			t.Error("three are ready")
		}
		for _, x := range all {
			must(t, x.Join())
		}
		if string(turns) != "abcabcabc" {
			t.Errorf("turns %s", turns)
		}
		if marcel.OthersReady() {
			t.Error("no thread is ready")
		}
	})
	marcel.Yield() // on a goroutine: no harm
}

// The same where the other VP has no holder, because its thread blocks and says so.
func TestVPsOfBlockedThreadsHelp(t *testing.T) {
	run(t, sched.Config{VPs: 2, Slice: time.Hour}, func(*sched.Scheduler) {
		var blocked, ran atomic.Bool
		end := make(chan bool)
		x := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(1)}, func() {
			marcel.Blocking(func() {
				blocked.Store(true)
				<-end
			})
		})
		for !blocked.Load() {
			marcel.Yield()
		}
		marcel.Spawn(func() { ran.Store(true) })
		for !ran.Load() {
		}
		close(end)
		must(t, x.Join())
	})
}

// Work goes to VPs that have none: 100 threads of 100 us, spawned on one VP and
// never joined, run on both. (How fast is for the benchmarks.) If the kernel gave
// the second CPU to another process all the while, then twice as many.
func TestThreadsSpread(t *testing.T) {
	for n := 100; n <= 100<<10; n *= 2 {
		var used [2]atomic.Int32
		run(t, sched.Config{VPs: 2}, func(s *sched.Scheduler) {
			var left marcel.Semaphore
			for range n {
				marcel.Spawn(func() {
					compute(100 * time.Microsecond)
					if vp := s.CurrentVP(); vp >= 0 { // not taken away meanwhile
						used[vp].Add(1)
					}
					left.Release()
				})
			}
			for range n {
				left.Acquire()
			}
		})
		t.Logf("%d and %d", used[0].Load(), used[1].Load())
		if used[0].Load() > 0 && used[1].Load() > 0 {
			return
		}
	}
	t.Error("one VP did all the work, with up to 100,000 threads")
}
