package lab

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/pioman"
)

// remotePoll is E10: the application waits on one core while another one polls.
var remotePoll = Experiment{
	Name:      "E10",
	Lasts:     2 * time.Second,
	Title:     "the application on core 0, polling on core k",
	Paper:     "TBD09 fig. 8",
	Published: "polling on a core that shares a cache adds 400 ns, on the same chip without one 1.2 to 2.3 us, on another chip 3.1 us",
	Iters:     10000,
	Rounds:    9,
	Parts:     true,
	Run:       runRemotePoll,
}

func runRemotePoll(ctx context.Context, o Options, s *Sink) error {
	a, b, two := binding.Pair(o.CPUs)
	if !two {
		return allSkipped(s, "polling on another core", "it needs two CPUs, and this process may use one only")
	}
	var variants []Variant
	add := func(name string, poller int, block bool) {
		variants = append(variants, Variant{
			Name: "shm", Variant: name, Where: "one process, both ends of the link in it; one core each for application and poller",
			Measure: func() (samples []float64, err error) {
				c := duo.Setup{Driver: "shm", Bare: true, CPUs: []int{a, b}}
				err = duo.Alone(ctx, c, func(w *duo.World) error {
					samples, err = remotely(w, poller, block, o.Iters)
					return err
				})
				return samples, err
			},
		})
	}
	add(fmt.Sprintf("core %d polls: the application itself", a), 0, false)
	add(fmt.Sprintf("core %d polls, the application spins", b), 1, false)
	add(fmt.Sprintf("core %d polls, the application blocks", b), 1, true)
	for _, k := range []string{"same chip, no shared cache", "another chip"} {
		s.Skip("polling on a core: "+k, "this machine has no such pair of cores among those that this process may use")
	}
	return measureSpreads(ctx, o, s, "1 byte, polling on the core of the application or on another", "send to notice", variants, "time from a 1-byte send to the application's knowing of its receipt",
		"with a poller on another core two lines cross: the message there, the completion back; on one core none does")
}

// remotely sends messages to ourselves and waits until a task of the engine has received them. The engine is polled
// here, or by a thread on the VP poller.
func remotely(w *duo.World, poller int, block bool, iters int) (samples []float64, err error) {
	const arrived, over = 1, 2
	var done pioman.Completion
	var head driver.Header
	var failure atomic.Pointer[error]
	var expect atomic.Uint32 // written before the send, read by the task after the receive
	var wake marcel.Semaphore
	tell := func(bits uint32) {
		done.Signal(bits) // first: once awake the application uses it again
		if block {
			wake.Release()
		}
	}
	var task pioman.Task
	task.Init("receive", func(*pioman.Task) pioman.Status {
		body, ok, err := w.FarLink.Recv(&head)
		switch {
		case err == nil && !ok:
			return pioman.Again
		case err == nil && (len(body) != 1 || uint32(body[0]) != expect.Load()):
			err = errors.New("a message arrived damaged")
		}
		if err != nil {
			failure.Store(&err)
			tell(over)
			return pioman.Done
		}
		tell(arrived)
		return pioman.Moved
	}, pioman.Repeat)
	if err := w.Engine.Submit(&task); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, task.Cancel()) }()
	var stop atomic.Bool
	if poller != 0 {
		t := w.Sched.Spawn(marcel.Attr{Name: "poller", VPs: marcel.OneVP(poller)}, func() {
			for !stop.Load() {
				w.Engine.Poll()
				asm.Pause()
			}
		})
		defer func() {
			stop.Store(true)
			err = errors.Join(err, t.Join())
		}()
	}
	out, send := []byte{0}, &bare{w: w}
	overhead, ns := stat.ClockOverhead(), nsPerCycle()
	for i := range warmup(iters) + iters {
		done.Reset()
		out[0] = byte(i)
		expect.Store(uint32(byte(i)))
		t0 := asm.Cycles()
		if err := send.Send(latencyTag, out); err != nil {
			return nil, err
		}
		switch {
		case block:
			wake.Acquire()
		case poller == 0:
			for !done.Test(arrived | over) {
				w.Engine.Poll()
			}
		default:
			for !done.Test(arrived | over) {
				asm.Pause()
			}
		}
		t1 := asm.Cycles()
		if p := failure.Load(); p != nil {
			return nil, *p
		}
		if i >= warmup(iters) {
			samples = append(samples, float64(max(t1-t0-overhead, 1))*ns)
		}
	}
	return samples, nil
}
