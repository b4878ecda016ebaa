package tasklet_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/tasklet"
)

// many is a number of events: millions, fewer under -short and the race detector.
func many(n int) int {
	n = effort.Choose(n/100, n/4, n)
	if tasklet.RaceEnabled {
		n /= 10
	}
	return n
}

// Threads of two VPs do everything to a few tasklets of both priorities: schedule them
// here and on the other VP, disable them, kill them and begin anew. Runs never
// overlap, none begins while it is disabled or dead, and nothing is lost.
func TestRealTwoVPs(t *testing.T) {
	s, v := start(t, 2)
	const threads, tasklets = 8, 6
	type subject struct {
		tk              tasklet.Tasklet
		posted, handled atomic.Int64
		inside          atomic.Int32
		forbidden       atomic.Int32
		runs            int // plain: runs are serialized
		_               [128]byte
	}
	subjects := make([]subject, tasklets)
	for i := range subjects {
		x := &subjects[i]
		init := x.tk.Init
		if i%2 == 0 {
			init = x.tk.InitHigh
		}
		if err := init(v, func() {
			if x.inside.Add(1) != 1 {
				t.Error("a tasklet runs twice at once")
			}
			if x.forbidden.Load() != 0 {
				t.Error("it runs although disabled")
			}
			x.runs++
			x.handled.Add(x.posted.Swap(0))
			x.inside.Add(-1)
		}); err != nil {
			t.Fatal(err)
		}
	}
	each := many(4_000_000) / threads
	var all []sched.Thread
	for n := range threads {
		all = append(all, s.Spawn(sched.Attr{}, func() {
			var own tasklet.Tasklet
			for i := range each {
				x := &subjects[(i*5+n)%tasklets]
				switch {
				case i%64 == 0:
					x.tk.Disable()
					x.forbidden.Add(1)
					x.posted.Add(1)
					x.tk.Schedule()
					x.forbidden.Add(-1)
					x.tk.Enable()
				case i%128 == 1:
					var dead atomic.Bool
					if err := own.Init(v, func() {
						if dead.Load() {
							t.Error("it begins after Kill has returned")
						}
					}); err != nil {
						t.Error(err)
						return
					}
					own.ScheduleOn(i / 128 % 2)
					if i%256 == 1 {
						sched.Yield()
					}
					if !own.Kill() {
						t.Error("Kill did not wait")
					}
					dead.Store(true)
					x.posted.Add(1)
					x.tk.Schedule()
				case i%2 == 0:
					x.posted.Add(1)
					x.tk.ScheduleOn(i / 2 % 2)
				default:
					x.posted.Add(1)
					x.tk.Schedule()
				}
				if i%8 == 0 {
					sched.Yield()
				}
			}
		}))
	}
	for _, x := range all {
		if err := x.Join(); err != nil {
			t.Fatal(err)
		}
	}
	handled := func() (n int64) {
		for i := range subjects {
			n += subjects[i].handled.Load()
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); handled() != int64(threads*each); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d events handled", handled(), threads*each)
		}
	}
	runs := 0
	for i := range subjects {
		if !subjects[i].tk.Kill() {
			t.Error("not over")
		}
		runs += subjects[i].runs
	}
	t.Logf("%d events in %d runs", threads*each, runs)
}

// Tasklets that schedule one another at every switch of two busy threads go to the
// helper, which runs them between those threads' turns; when they are through the
// helper ends, and the hooks serve again.
func TestRealHelper(t *testing.T) {
	s, _ := start(t, 1)
	counted := &spawns{Scheduler: s}
	v, err := tasklet.Attach(counted)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Detach()
	total := int64(many(1_000_000) + 1000)
	var ran atomic.Int64
	var ping, pong tasklet.Tasklet
	step := func(next *tasklet.Tasklet) func() {
		return func() {
			if ran.Add(1) < total {
				next.Schedule()
			}
		}
	}
	if err := ping.Init(v, step(&pong)); err != nil {
		t.Fatal(err)
	}
	if err := pong.InitHigh(v, step(&ping)); err != nil {
		t.Fatal(err)
	}
	var turns atomic.Int64
	for round := int64(1); round <= 3; round++ {
		ran.Store(0)
		turns.Store(0)
		var all []sched.Thread
		for range 2 {
			all = append(all, s.Spawn(sched.Attr{}, func() {
				ping.Schedule()
				for ran.Load() < total {
					turns.Add(1)
					sched.Yield()
				}
			}))
		}
		for _, x := range all {
			if err := x.Join(); err != nil {
				t.Fatal(err)
			}
		}
		if turns.Load() == 0 {
			t.Error("the threads had no turn")
		}
	}
	ping.Kill()
	pong.Kill()
	n := counted.n.Load()
	if n == 0 {
		t.Error("no helper")
	}
	t.Logf("%d helpers", n)
}

// spawns counts the threads that tasklets start.
type spawns struct {
	*sched.Scheduler
	n atomic.Int64
}

func (s *spawns) Spawn(a sched.Attr, f func()) sched.Thread {
	s.n.Add(1)
	return s.Scheduler.Spawn(a, f)
}
