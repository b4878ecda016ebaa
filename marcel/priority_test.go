package marcel_test

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

var priorities = []marcel.Priority{marcel.PriorityRealTime, marcel.PriorityUserRealTime, marcel.PriorityDefault, marcel.PriorityBatch, marcel.PriorityIdle}

// TestPriorityOrder: whatever the order of spawning, the order of running is that of
// the priorities, and within one that of spawning.
func TestPriorityOrder(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a thread that helps the collector leaves its turn to others
	run(t, undisturbed(), func(*sched.Scheduler) {
		var got, want []string
		var all []marcel.Thread
		for i := range 20 {
			p := priorities[(i*7)%5]
			name := fmt.Sprint(p, i)
			all = append(all, marcel.SpawnWith(marcel.Attr{Priority: p}, func() { got = append(got, name) }))
		}
		for _, p := range priorities {
			for i := range 20 {
				if priorities[(i*7)%5] == p {
					want = append(want, fmt.Sprint(p, i))
				}
			}
		}
		for _, x := range all {
			must(t, x.Join())
		}
		if !slices.Equal(got, want) {
			t.Errorf("ran in the order\n%v, want\n%v", got, want)
		}
	})
}

// TestPriorityYield: a yield lets equals and higher ones run, never lower ones.
func TestPriorityYield(t *testing.T) {
	for _, policy := range []marcel.Policy{marcel.Fair, marcel.LIFO} {
		cfg := undisturbed()
		cfg.Policy = policy
		run(t, cfg, func(*sched.Scheduler) {
			var steps []string
			step := func(name string, p marcel.Priority, n int) marcel.Thread {
				return marcel.SpawnWith(marcel.Attr{Priority: p}, func() {
					for range n {
						steps = append(steps, name)
						marcel.Yield()
					}
				})
			}
			low := step("low", marcel.PriorityBatch, 2)
			a, b := step("a", marcel.PriorityUserRealTime, 3), step("b", marcel.PriorityUserRealTime, 3)
			must(t, low.Join())
			must(t, a.Join())
			must(t, b.Join())
			if got := fmt.Sprint(steps); got != "[a b a b a b low low]" && got != "[b a b a b a low low]" {
				t.Errorf("policy %d: %v", policy, got)
			}
		})
	}
}

// TestSetPriority: a change moves a thread that is ready; one that is blocked has it
// when it wakes; one that runs, from its next yield on.
func TestSetPriority(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var got []int
		var all []marcel.Thread
		for i := range 4 {
			all = append(all, marcel.Spawn(func() { got = append(got, i) }))
		}
		must(t, all[3].SetPriority(marcel.PriorityRealTime))
		must(t, all[0].SetPriority(marcel.PriorityIdle))
		must(t, all[1].SetPriority(marcel.PriorityBatch))
		must(t, all[1].SetPriority(marcel.PriorityDefault)) // now behind 2
		if p := all[3].Priority(); p != marcel.PriorityRealTime {
			t.Errorf("priority is %v", p)
		}
		for _, x := range all {
			must(t, x.Join())
		}
		if !slices.Equal(got, []int{3, 2, 1, 0}) {
			t.Errorf("ran in the order %v", got)
		}

		var sem marcel.Semaphore
		got = nil
		blocked := marcel.Spawn(func() { sem.Acquire(); got = append(got, 1) })
		marcel.Yield()
		must(t, blocked.SetPriority(marcel.PriorityBatch))
		sem.Release()
		other := marcel.Spawn(func() { got = append(got, 2) })
		must(t, blocked.Join())
		must(t, other.Join())
		if !slices.Equal(got, []int{2, 1}) {
			t.Errorf("ran in the order %v", got)
		}

		got = nil
		must(t, marcel.Self().SetPriority(marcel.PriorityRealTime))
		other = marcel.Spawn(func() { got = append(got, 1) })
		marcel.Yield()
		if len(got) != 0 {
			t.Error("yielded to a thread of a lower priority")
		}
		must(t, marcel.Self().SetPriority(marcel.PriorityDefault))
		marcel.Yield()
		if len(got) != 1 {
			t.Error("did not yield to an equal")
		}
		must(t, other.Join())
	})
}

// TestSetPriorityErrors: what does not exist is told, and changes nothing.
func TestSetPriorityErrors(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		x := marcel.Spawn(func() {})
		for _, p := range []marcel.Priority{marcel.PriorityIdle - 1, marcel.PriorityRealTime + 1} {
			if err := x.SetPriority(p); err == nil {
				t.Errorf("accepted %v", p)
			}
		}
		must(t, x.Join())
		for _, dead := range []marcel.Thread{x, {}} {
			if err := dead.SetPriority(marcel.PriorityBatch); err == nil {
				t.Errorf("changed the priority of %v", dead)
			}
			if p := dead.Priority(); p != marcel.PriorityDefault {
				t.Errorf("%v has priority %v", dead, p)
			}
		}
		// The descriptor is used again: the new thread must not have the old one's.
		low := marcel.Spawn(func() {})
		must(t, low.SetPriority(marcel.PriorityIdle))
		must(t, low.Join())
		if p := marcel.Spawn(func() {}).Priority(); p != marcel.PriorityDefault {
			t.Errorf("a new thread has priority %v", p)
		}
		defer func() {
			if recover() == nil {
				t.Error("spawned with a priority that does not exist")
			}
		}()
		marcel.SpawnWith(marcel.Attr{Priority: 99}, func() {})
	})
}

// TestPrioritySeizes: a thread of higher priority that becomes ready behind one that
// computes does not wait for the slice, which never ends here.
func TestPrioritySeizes(t *testing.T) {
	s := start(t, undisturbed())
	var stop atomic.Bool
	var ran atomic.Int32
	within(t, func() {
		started := make(chan struct{})
		busy := s.Spawn(marcel.Attr{}, func() {
			close(started)
			for !stop.Load() {
			}
		})
		<-started
		equal := s.Spawn(marcel.Attr{}, func() { ran.Add(1) })
		must(t, s.Spawn(marcel.Attr{Priority: marcel.PriorityRealTime}, func() {
			if ran.Load() != 0 {
				t.Error("the thread of equal priority ran first")
			}
		}).Join()) // would wait for ever
		stop.Store(true)
		must(t, busy.Join())
		must(t, equal.Join())
	}, s)
}

// TestPriorityStress: threads change each other's priorities all the time while they
// run, yield, wait and are stolen. None is lost.
func TestPriorityStress(t *testing.T) {
	for _, policy := range []marcel.Policy{marcel.Fair, marcel.LIFO} {
		for _, vps := range []int{1, 2, 5} {
			cfg := brisk(vps)
			cfg.Policy = policy
			run(t, cfg, func(s *sched.Scheduler) {
				const n = 50
				var steps atomic.Int64
				var sem marcel.Semaphore
				var all [n]atomic.Pointer[marcel.Thread]
				rounds := effort.Of(200)
				for i := range n {
					x := marcel.SpawnWith(marcel.Attr{Priority: priorities[i%5]}, func() {
						r := rand.New(rand.NewPCG(uint64(i), 1))
						for k := range rounds {
							if o := all[r.IntN(n)].Load(); o != nil {
								_ = o.SetPriority(priorities[r.IntN(5)]) // it may have ended
							}
							switch r.IntN(4) {
							case 0:
								sem.Release()
							case 1:
								sem.AcquireTimeout(time.Duration(r.IntN(50)) * time.Microsecond)
							default:
								marcel.Yield()
							}
							if k%64 == 0 {
								_ = marcel.Spawn(func() { marcel.Yield() }).Join()
							}
							steps.Add(1)
						}
					})
					all[i].Store(&x)
				}
				for i := range n {
					must(t, all[i].Load().Join())
				}
				if steps.Load() != n*int64(rounds) {
					t.Errorf("%d steps", steps.Load())
				}
			})
		}
	}
}

// TestLIFO: the owner goes down a tree of threads, so that few are alive at a time. A thread that helps the collector
// leaves its place in the tree.
func TestLIFO(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	deepest := func(p marcel.Policy) int64 {
		cfg := undisturbed()
		cfg.Policy = p
		var alive, most atomic.Int64
		var tree func(depth int)
		tree = func(depth int) {
			most.Store(max(most.Load(), alive.Add(1)))
			if depth > 0 {
				var both marcel.WaitGroup // a Join would go down the tree by itself
				both.Add(2)
				for range 2 {
					marcel.Spawn(func() { tree(depth - 1); both.Done() })
				}
				both.Wait()
			}
			alive.Add(-1)
		}
		run(t, cfg, func(*sched.Scheduler) { tree(10) })
		return most.Load()
	}
	if fair, lifo := deepest(marcel.Fair), deepest(marcel.LIFO); lifo*4 > fair {
		t.Errorf("running at once: %d with Fair, %d with LIFO", fair, lifo)
	}
}

// TestLIFOStarvesNoThread: one that spawns its successor for ever leaves turns to those
// behind it.
func TestLIFOStarvesNoThread(t *testing.T) {
	cfg := undisturbed()
	cfg.Policy = marcel.LIFO
	run(t, cfg, func(*sched.Scheduler) {
		var others atomic.Int32
		for range 3 {
			marcel.Spawn(func() { marcel.Yield(); others.Add(1) })
		}
		var last marcel.Semaphore
		var next func()
		next = func() {
			if others.Load() == 3 {
				last.Release()
				return
			}
			marcel.Spawn(next)
		}
		marcel.Spawn(next)
		last.Acquire()
	})
}

func ExampleThread_SetPriority() {
	done := make(chan struct{})
	go marcel.Run(func() {
		defer close(done)
		slow := marcel.SpawnWith(marcel.Attr{Priority: marcel.PriorityBatch}, func() {})
		if err := slow.SetPriority(marcel.PriorityRealTime); err == nil {
			fmt.Println(slow.Priority())
		}
		_ = slow.Join()
	})
	<-done
	// Output: real-time
}
