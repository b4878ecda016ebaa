package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/tasklet"
)

// offloading is E11: which thread does the work of an isend.
var offloading = Experiment{
	Name:      "E11",
	Lasts:     3 * time.Second,
	Title:     "isend of 32 KiB, 10 us of computation, wait: which thread submits",
	Paper:     "TBD09 fig. 9; TD09 section IV.B",
	Published: "offloaded by tasklet +2 us, by idle core +400 ns",
	Iters:     300,
	Rounds:    9,
	Parts:     true,
	Run:       runOffloading,
}

const (
	isendBytes  = 32 << 10
	isendBufs   = 256 // in turn, so that the bytes come from memory
	computeTime = 10 * time.Microsecond
)

// isend is a request whose submission is a copy into a network's buffer.
type isend struct {
	from, to []byte
	done     pioman.Completion
	task     pioman.Task
	tasklet  *tasklet.Tasklet
}

func (is *isend) copy() { copy(is.to, is.from) }

// isendWay is one way to have the copy made.
type isendWay struct {
	name, where string
	awake       bool // VP 1 looks for work all the time; else it sleeps
	begin       func(r *isend, e *pioman.Engine) error
}

var isendWays = []isendWay{
	{"by the caller, inside isend", "", true, func(r *isend, _ *pioman.Engine) error {
		r.copy()
		r.done.Signal(1)
		return nil
	}},
	{"tasklet on the caller's VP", "runs at the next hook, which is in wait", true, func(r *isend, _ *pioman.Engine) error {
		return scheduled(r.tasklet.Schedule())
	}},
	{"tasklet on an idle VP, awake", "", true, func(r *isend, _ *pioman.Engine) error {
		return scheduled(r.tasklet.ScheduleOn(1))
	}},
	{"idle core, awake", "", true, func(r *isend, e *pioman.Engine) error { return offloaded(r, e) }},
	{"tasklet on an idle VP, asleep", "", false, func(r *isend, _ *pioman.Engine) error {
		return scheduled(r.tasklet.ScheduleOn(1))
	}},
	{"idle core, asleep, is woken", "", false, func(r *isend, e *pioman.Engine) error { return offloaded(r, e) }},
	{"idle core, asleep, is left alone", "the task stays with the caller", false, func(r *isend, e *pioman.Engine) error { return e.Submit(&r.task) }},
}

// gateIsendWays are those that nmad goes.
var gateIsendWays = []struct {
	name, driver string
	offload      nmad.Offload
	where        string
}{
	{"nmad's Isend over shm", "shm", nmad.OffloadOff, "the second VP receives, and copies what is lent"},
	{"nmad's Isend over tcp", "tcp", nmad.OffloadOff, ""},
	{"the same, submitted by an idle core", "tcp", nmad.OffloadIdle, ""},
	{"the same, by a tasklet", "tcp", nmad.OffloadTasklet, "the tasklet runs at the caller's next hook, which is in wait"},
}

// isendParts are what is measured of each way.
var isendParts = [...]string{"all but the computation", "inside isend"}

func scheduled(ok bool) error {
	if !ok {
		return errors.New("the tasklet was not scheduled")
	}
	return nil
}

func offloaded(r *isend, e *pioman.Engine) error {
	_, err := e.Offload(&r.task, true)
	return err
}

func runOffloading(ctx context.Context, o Options, s *Sink) error {
	a, b, two := binding.Pair(o.CPUs)
	if !two {
		s.Skip("offload to another core", "this process may use one CPU only")
		return s.Begin()
	}
	var variants []Variant
	var names []string
	add := func(name, where, more string, measure func() (total, inside []float64, err error)) {
		if more != "" {
			where += "; " + more
		}
		names = append(names, name)
		total, inside := twin(measure)
		for i, part := range []func() ([]float64, error){total, inside} {
			variants = append(variants, Variant{Name: "32 KiB", Variant: name + ": " + isendParts[i], Base: i, Where: where, Measure: part})
		}
	}
	for _, w := range isendWays {
		where := "one process, a VP on each of two cores, the application on the first"
		if w.awake {
			where += "; a hook keeps the second VP awake"
		}
		add(w.name, where, w.where, func() (total, inside []float64, err error) { return isends(ctx, w, []int{a, b}, o.Iters) })
	}
	for _, w := range gateIsendWays {
		const where = "one process, both ends of the link in it; a hook keeps the second VP awake"
		add(w.name, where, w.where, func() (total, inside []float64, err error) {
			err = duo.Alone(ctx, duo.Setup{Driver: w.driver, Hooked: true, CPUs: []int{a, b}}, func(world *duo.World) error {
				total, inside, err = gateIsends(ctx, world, w.offload, o.Iters)
				return err
			})
			return total, inside, err
		})
	}
	all, err := measure(ctx, o, s, variants, "time from isend to the end of wait, less the 10 us of computation between; and of this what isend took")
	if err != nil || s.Plot == nil {
		return err
	}
	var pairs []figure.Pair
	for i := 0; i+1 < len(all); i += 2 {
		pairs = append(pairs, figure.Pair{
			Name: names[i/2], PeerName: "inside isend", Ours: all[i].quartiles(), Peer: all[i+1].quartiles(),
		})
	}
	return figure.Compare(s.Plot, s.Title("isend, 10 us of computation, wait"), figure.PerOperation, figure.Sides{Ours: "all but the computation", Peer: "of this inside isend"}, pairs)
}

// isends measures one round: the times without the computation, and those inside isend.
func isends(ctx context.Context, w isendWay, cpus []int, n int) (total, inside []float64, err error) {
	s, err := sched.New(sched.Config{VPs: 2, CPUs: cpus})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = errors.Join(err, s.Stop(limit))
	}()
	e := pioman.New(pioman.Config{Name: "isend"})
	defer func() { err = errors.Join(err, e.Close()) }()
	if _, err := e.Attach(s); err != nil {
		return nil, nil, err
	}
	v, err := tasklet.Attach(s)
	if err != nil {
		return nil, nil, err
	}
	defer v.Detach()
	if w.awake {
		h, err := keepAwake(s)
		if err != nil {
			return nil, nil, err
		}
		defer h.Unregister()
	}
	app := s.Spawn(marcel.Attr{Name: "application", VPs: marcel.OneVP(0)}, func() {
		total, inside, err = isendLoop(ctx, s, e, v, w, n)
	})
	return total, inside, errors.Join(app.Join(), err)
}

// keepAwake has the idle VPs look for work all the time, VP 1 from now on.
func keepAwake(s *sched.Scheduler) (*hooks.Hook, error) {
	h, err := s.Hooks().Register(hooks.Idle, 90, "awake", func(int) hooks.Verdict { return hooks.Busy })
	if err == nil {
		s.Kick(1)
	}
	return h, err
}

// isendLoop is the application, a thread of VP 0.
func isendLoop(ctx context.Context, s *sched.Scheduler, e *pioman.Engine, v *tasklet.Vector, w isendWay, n int) (total, inside []float64, err error) {
	r := &isend{}
	r.task.Init("isend", func(*pioman.Task) pioman.Status { r.copy(); return pioman.Done }, pioman.OneShot)
	r.tasklet = tasklet.New(v, func() { r.copy(); r.done.Signal(1) })
	defer r.tasklet.Kill()
	return timeIsends(ctx, n, isendCalls{
		prepare: func(from, to []byte) error {
			r.from, r.to = from, to
			r.done.Reset()
			r.task.Notify(&r.done, 1)
			return ready(ctx, s, w.awake)
		},
		isend: func() error { return w.begin(r, e) },
		wait:  func() error { return r.done.Wait(e, 1) },
	})
}

// gateIsends is isendLoop with nmad's own Isend: the receive is posted, the message leaves, the application computes
// and waits for its send.
func gateIsends(ctx context.Context, w *duo.World, offload nmad.Offload, n int) (total, inside []float64, err error) {
	h, err := keepAwake(w.Sched)
	if err != nil {
		return nil, nil, err
	}
	defer h.Unregister()
	gate, far := w.Gate, w.Far
	if offload != nmad.OffloadOff {
		c := nmad.DomainConfig{Number: 1, Offload: offload}
		if offload == nmad.OffloadTasklet {
			if c.Tasklets, err = tasklet.Attach(w.Sched); err != nil {
				return nil, nil, err
			}
			defer c.Tasklets.Detach()
		}
		from, err := w.Session.Domain(c)
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, from.Close()) }()
		to, err := w.FarSession.Domain(nmad.DomainConfig{Number: 1})
		if err != nil {
			return nil, nil, err
		}
		gate, far = from.Gate(1), to.Gate(0)
	}
	var message []byte
	var send, receive *nmad.Request
	return timeIsends(ctx, n, isendCalls{
		prepare: func(from, to []byte) error {
			message, receive = from, far.Irecv(latencyTag, to)
			return ready(ctx, w.Sched, true)
		},
		isend:   func() error { send = gate.Isend(latencyTag, message); return nil },
		wait:    func() error { return send.Wait() },
		arrived: func() error { return receive.Wait() },
	})
}

// isendCalls are the steps of one isend; isend and wait are timed.
type isendCalls struct {
	prepare     func(from, to []byte) error
	isend, wait func() error
	arrived     func() error // nil: the bytes are there after wait
}

// timeIsends makes n isends, with a computation between each and its wait.
func timeIsends(ctx context.Context, n int, c isendCalls) (total, inside []float64, err error) {
	all, to := make([]byte, isendBufs*isendBytes), make([]byte, isendBytes)
	for i := range all {
		all[i] = byte(i / 251)
	}
	overhead, ns, busy := stat.ClockOverhead(), nsPerCycle(), asm.ToCycles(int64(computeTime))
	warm := min(warmup(n), 20)
	for i := range warm + n {
		if err := ctx.Err(); err != nil {
			return nil, nil, context.Cause(ctx)
		}
		from := all[i%isendBufs*isendBytes:][:isendBytes]
		if err := c.prepare(from, to); err != nil {
			return nil, nil, err
		}
		t0 := asm.Cycles()
		if err := c.isend(); err != nil {
			return nil, nil, err
		}
		t1 := asm.Cycles()
		for asm.Cycles()-t1 < busy {
		}
		t2 := asm.Cycles()
		err := c.wait()
		t3 := asm.Cycles()
		if err == nil && c.arrived != nil {
			err = c.arrived()
		}
		if err != nil {
			return nil, nil, err
		}
		if !bytes.Equal(from, to) {
			return nil, nil, errors.New("a message arrived damaged")
		}
		if i >= warm {
			total = append(total, float64(max(t1-t0+t3-t2-2*overhead, 1))*ns)
			inside = append(inside, float64(max(t1-t0-overhead, 1))*ns)
		}
	}
	return total, inside, nil
}

// rest is how long VP 1 is left alone before it counts as asleep: one that has just been woken in vain may still be on
// its way.
const rest = 300 * time.Microsecond

// ready waits until VP 1 is idle and awake, or asleep, as wanted.
func ready(ctx context.Context, s *sched.Scheduler, awake bool) error {
	if !awake {
		for began := asm.Cycles(); asm.Cycles()-began < asm.ToCycles(int64(rest)); {
			asm.Pause()
		}
	}
	for i := 0; ; i++ {
		if idle, up := s.Idle(1); idle && up == awake {
			return nil
		}
		if i > 1000 {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			runtime.Gosched()
		}
		if i > 1<<26 {
			return fmt.Errorf("VP 1 does not become idle, awake: %v", awake)
		}
		asm.Pause()
	}
}
