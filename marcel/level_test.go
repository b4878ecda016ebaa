package marcel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// machine is a scheduler for a machine that is not there: its VPs share the CPUs.
func machine(t testing.TB, description string) sched.Config {
	t.Helper()
	m, err := topo.Synthetic(description)
	must(t, err)
	return sched.Config{Topology: m, Slice: time.Millisecond, Period: 250 * time.Microsecond}
}

// census counts on which VPs of a scheduler something happened.
type census struct {
	mu  sync.Mutex
	vps marcel.VPSet
}

func (c *census) here() {
	if vp := sched.CurrentVP(); vp >= 0 {
		c.mu.Lock()
		c.vps.Set(vp)
		c.mu.Unlock()
	}
}

// TestLevel: threads on the queue of an item run on its VPs only, on all of them if
// there is enough to do; those with an own queue are not disturbed.
func TestLevel(t *testing.T) {
	cfg := machine(t, "numa:2 l3:2 core:2 pu:2")
	run(t, cfg, func(s *sched.Scheduler) {
		must(t, marcel.Self().SetVPs(marcel.OneVP(0))) // for levels are counted from the spawner's VP
		for _, c := range []struct {
			level marcel.Level
			vps   int
		}{{marcel.LevelOf(topo.Machine), 16}, {marcel.LevelOf(topo.NUMA), 8}, {marcel.LevelOf(topo.Package), 16},
			{marcel.LevelOf(topo.L3), 4}, {marcel.LevelOf(topo.L2), 4}, {marcel.LevelOf(topo.Core), 2}, {marcel.LevelOf(topo.PU), 1}} {
			var seen census
			var all []marcel.Thread
			var item atomic.Pointer[topo.Item]
			for range 64 {
				x := marcel.SpawnWith(marcel.Attr{Level: c.level}, func() {
					for range 5 {
						burn(20 * time.Microsecond)
						seen.here()
						marcel.Yield()
					}
				})
				if it := x.Item(); it != nil {
					item.Store(it)
				}
				all = append(all, x)
			}
			for _, x := range all {
				must(t, x.Join())
			}
			over := s.VPsOf(item.Load())
			if over.Count() != c.vps || seen.vps.AndNot(over).Count() > 0 {
				t.Errorf("%v: the item %v has VPs %v, threads ran on %v", c.level, item.Load().Kind, over, seen.vps)
			}
			t.Logf("%v: simulated, on %v of %v", c.level, seen.vps, over)
		}
	})
}

// TestLevelWakes: of VPs that sleep one below the item wakes for a thread that
// arrives there, whichever thread sends it.
func TestLevelWakes(t *testing.T) {
	s := start(t, machine(t, "numa:2 core:2 pu:1"))
	within(t, func() {
		node := s.Topology().At(topo.NUMA)[1]
		for range effort.Of(200) {
			var sem marcel.Semaphore
			x := s.Spawn(marcel.Attr{}, sem.Acquire)
			must(t, x.Place(node))
			if rand.IntN(2) == 0 {
				time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
			}
			sem.Release()
			must(t, x.Join())
		}
		var seen census
		var all []marcel.Thread
		for range 20 {
			x := s.Spawn(marcel.Attr{}, func() {
				for marcel.Self().Item() != node {
					marcel.Yield()
				}
				marcel.Yield()
				seen.here()
			})
			must(t, x.Place(node))
			all = append(all, x)
		}
		for _, x := range all {
			must(t, x.Join())
		}
		if over := s.VPsOf(node); over.Count() != 2 || seen.vps.AndNot(over).Count() != 0 {
			t.Errorf("ran on %v, should on %v", seen.vps, over)
		}
	}, s)
}

// TestLevelPriority: the highest priority over all queues of a VP goes first.
func TestLevelPriority(t *testing.T) {
	cfg := machine(t, "core:2 pu:1")
	cfg.VPs = 1 // and yet the queues of its items, for it is the same
	cfg.Slice = time.Hour
	run(t, cfg, func(*sched.Scheduler) {
		var got []marcel.Priority
		var all []marcel.Thread
		for i := range 30 {
			p := priorities[i*3%5]
			a := marcel.Attr{Priority: p}
			if i%2 == 0 {
				a.Level = marcel.LevelOf(topo.Machine)
			}
			all = append(all, marcel.SpawnWith(a, func() { got = append(got, p) }))
		}
		for _, x := range all {
			must(t, x.Join())
		}
		for i := range got[1:] {
			if got[i] < got[i+1] {
				t.Fatalf("ran in the order %v", got)
			}
		}
	})
}

// TestPlaceErrors: what cannot be is told.
func TestPlaceErrors(t *testing.T) {
	run(t, machine(t, "core:4 pu:1"), func(s *sched.Scheduler) {
		other, err := topo.Synthetic("core:4 pu:1")
		must(t, err)
		if err := marcel.Self().Place(other.Root); !errors.Is(err, marcel.ErrNoItem) {
			t.Error("an item of another topology:", err)
		}
		x := marcel.Spawn(func() {})
		must(t, x.Join())
		for _, dead := range []marcel.Thread{x, {}} {
			if err := dead.Place(s.Topology().Root); !errors.Is(err, marcel.ErrNoThread) || dead.Item() != nil {
				t.Error("placed a thread that is not there:", err)
			}
		}
	})
}

// TestPlaceStress: threads place each other anywhere, change each other's priorities
// and VP sets, yield, wait, block and are stolen; none is lost.
func TestPlaceStress(t *testing.T) {
	for _, description := range []string{"core:2 pu:1", "numa:2 l3:2 core:2 pu:2"} {
		cfg := machine(t, description)
		run(t, cfg, func(s *sched.Scheduler) {
			const n = 60
			var items []*topo.Item
			s.Topology().Root.Walk(func(it *topo.Item) { items = append(items, it) })
			items = append(items, nil)
			var all [n]atomic.Pointer[marcel.Thread]
			var sem marcel.Semaphore
			var steps atomic.Int64
			rounds := effort.Of(300)
			for i := range n {
				x := marcel.SpawnWith(marcel.Attr{Level: marcel.Level(i % 4)}, func() {
					r := rand.New(rand.NewPCG(uint64(i), 7))
					for range rounds {
						if o := all[r.IntN(n)].Load(); o != nil {
							switch r.IntN(6) {
							case 0:
								_ = o.SetPriority(priorities[r.IntN(5)])
							case 1:
								_ = o.SetVPs(marcel.OneVP(r.IntN(s.NumVP())))
							case 2:
								_ = o.SetVPs(marcel.FullVPs())
							default:
								_ = o.Place(items[r.IntN(len(items))])
							}
						}
						switch r.IntN(12) {
						case 0, 1:
							sem.Release()
						case 2:
							sem.AcquireTimeout(time.Duration(r.IntN(50)) * time.Microsecond)
						case 3:
							marcel.Blocking(func() {})
						case 4:
							burn(time.Duration(r.IntN(50)) * time.Microsecond)
						default:
							marcel.Yield()
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

func burn(d time.Duration) {
	for t0 := time.Now(); time.Since(t0) < d; {
	}
}

// Four threads on the queue of a NUMA node: any VP of that node takes them.
func ExampleLevelOf() {
	m, err := topo.Synthetic("numa:2 core:4 pu:1")
	if err != nil {
		panic(err)
	}
	s, err := sched.New(sched.Config{Topology: m})
	if err != nil {
		panic(err)
	}
	x := s.Spawn(marcel.Attr{Level: marcel.LevelOf(topo.NUMA)}, func() {
		fmt.Println("simulated:", s.VPsOf(marcel.Self().Item()).Has(s.CurrentVP()))
	})
	_ = x.Join()
	_ = s.Stop(context.Background())
	// Output: simulated: true
}
