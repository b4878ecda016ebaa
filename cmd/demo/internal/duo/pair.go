package duo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/pioman"
)

const (
	envRank1 = "PM2_DEMO_DUO" // an errand, as JSON; set by Start and Many for their children

	orderTag = iota
	answerTag
	arrivalTag
	mostOrder = 64 << 10 // bytes of an order or answer

	joinPatience = 20 * time.Second
	endPatience  = 5 * time.Second
)

// Order is what rank 0 asks of rank 1.
type Order struct {
	Kind    string `json:"kind"` // what to do; empty: end
	Setup   Setup  `json:"setup"`
	Meeting string `json:"meeting"` // where rank 0's World waits for rank 1's
	Secret  []byte `json:"secret"`
	Iters   int    `json:"iters"`             // without the warm-up
	Size    int    `json:"size"`              // of messages, in bytes
	Count   int    `json:"count"`             // of threads, or whatever the kind of order counts
	Domains int    `json:"domains,omitempty"` // that the threads share
	Kernel  string `json:"kernel,omitempty"`  // of package nas
	Class   string `json:"class,omitempty"`   // and its size
}

// answer is rank 1's answer to an order, when it has carried the order out.
type answer struct {
	Failure string `json:"failure"`
}

// errand is what a process must know at once that this one starts.
type errand struct {
	CPUs  [2]int `json:"cpus"` // of the first and of the second half of the ranks
	Bind  bool   `json:"bind"`
	Order *Order `json:"order"` // nil: orders come from rank 0
}

// cpu is that of a rank.
func (e *errand) cpu(c *nmad.Config) int { return e.CPUs[2*c.Rank/c.Size] }

// Pair is rank 0's end of the two processes. For one goroutine.
type Pair struct {
	CPUs   [2]int // of the ranks
	Driver string // the network that Network gives; empty: the fastest between the two
	net    Net
	Apart  bool        // they have one CPU each, and are bound to it
	Far    string      // why they share no memory: "on different hosts", or the like; empty: they are on one host
	remote bool        // they run under two kernels: their CPUs differ, whatever the numbers
	job    *launch.Job // nil: the ranks belong to a job that a process manager has started
	engine *pioman.Engine
	ctl    *nmad.Session
	lost   atomic.Bool // rank 1 has ended
}

// Net is where the ranks are.
type Net struct {
	Addrs [2]string // of the ranks, without ports
	Enter []string  // the command that runs rank 1 in its network namespace; nil: ours
}

var loopback = [2]string{"127.0.0.1", "127.0.0.1"}

// Local is the Net of two ranks on this host.
func Local() Net { return Net{Addrs: loopback} }

// Start starts rank 1 and binds both processes to one CPU each, as far as there are two and the kernel permits it. It
// may be called once in a process.
func Start(ctx context.Context, cpus []int, warn func(format string, args ...any)) (*Pair, error) {
	return StartOn(ctx, Local(), cpus, warn)
}

// StartOn is Start with the ranks where the Net says.
func StartOn(ctx context.Context, net Net, cpus []int, warn func(format string, args ...any)) (_ *Pair, err error) {
	if InJob() {
		return joinJob(ctx)
	}
	a, b, two := binding.Pair(cpus)
	p := &Pair{CPUs: [2]int{a, b}, Apart: two, net: net}
	if !two {
		p.CPUs = [2]int{cpus[0], cpus[0]}
		warn("one CPU only: both processes share it, and each message waits for the kernel to switch between them")
	} else if e := binding.Permitted(); e != nil {
		p.Apart = false
		warn("the kernel forbids to bind processes to CPUs (%v): both run where it puts them", e)
	}
	text, err := json.Marshal(errand{CPUs: p.CPUs, Bind: p.Apart})
	if err != nil {
		return nil, fmt.Errorf("tell rank 1 its place: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find our own program: %w", err)
	}
	words := slices.Concat(net.Enter, []string{self}, os.Args[1:])
	p.job, err = launch.Start(launch.Spec{
		N: 2, First: 1, Path: words[0], Args: words[1:], Env: []string{envRank1 + "=" + string(text)},
		Rendezvous: net.Addrs[0] + ":0", Listen: net.Addrs[1] + ":0",
		Driver: "tcp", Unbound: true, Warn: func(text string) { warn("%s", text) },
	})
	if err != nil {
		return nil, err
	}
	go func() { <-p.job.Done(); p.lost.Store(true) }()
	defer func() {
		if err != nil {
			p.job.Kill()
			_ = p.job.Wait() // err says more
		}
	}()
	if p.Apart {
		if err := binding.Process(a); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, joinPatience)
	defer cancel()
	p.engine = pioman.New(pioman.Config{Name: "control"})
	config := p.job.Config()
	config.Engine, config.Listen = p.engine, net.Addrs[0]+":0"
	if p.ctl, err = nmad.Open(ctx, config); err != nil {
		return nil, err
	}
	return p, nil
}

// Shared reports whether the two processes use the same CPU, or may do so.
func (p *Pair) Shared() bool { return p.CPUs[0] == p.CPUs[1] && !p.remote }

// Network is the driver of the network that was chosen, or of the fastest one between the two.
func (p *Pair) Network() string {
	if p.Driver != "" {
		return p.Driver
	}
	if p.Far != "" {
		return "tcp"
	}
	return "shm"
}

// Do has rank 1 carry out an order while play carries out this side of it, in a World
// with the order's setup for rank 0. It blocks until both are through; once ctx is done, it
// kills rank 1, which may be stopped, and fails.
func (p *Pair) Do(ctx context.Context, o Order, mine Setup, play func(*World) error) error {
	if mine.Driver == "shm" && p.Far != "" {
		return fmt.Errorf("this measures shared memory, and the ranks 0 and 1 are %s: start both on one host, such as by mpiexec.hydra -ppn 2", p.Far)
	}
	meeting, err := newMeeting(&o, p.net.Addrs[0])
	if err != nil {
		return err
	}
	defer meeting.Close()
	defer context.AfterFunc(ctx, p.kill)()
	mine.Listen, o.Setup.Listen = p.net.Addrs[0]+":0", p.net.Addrs[1]+":0"
	if err := p.send(&o); err != nil {
		return p.blame(err)
	}
	err = visit(ctx, meeting, 0, mine, &o, &p.lost, play)
	if err != nil {
		// Rank 1 may wait for what will never come: it ends, and we with it.
		p.kill()
		return p.blame(err)
	}
	var a answer
	if err := receive(p.ctl.Gate(1), answerTag, &a); err != nil {
		return p.blame(fmt.Errorf("wait for rank 1's answer: %w", err))
	}
	if a.Failure != "" {
		return errors.New("rank 1: " + a.Failure)
	}
	return nil
}

func (p *Pair) send(o *Order) error {
	if err := send(p.ctl.Gate(1), orderTag, o); err != nil {
		return fmt.Errorf("tell rank 1 what to do: %w", err)
	}
	return nil
}

// blame adds how rank 1 ended to an error that came of it.
func (p *Pair) blame(err error) error {
	if p.job == nil || !errors.Is(err, nmad.ErrPeerLost) && !errors.Is(err, errLost) {
		return err
	}
	select {
	case <-p.job.Done():
		if e := p.job.Wait(); e != nil {
			return e
		}
	case <-time.After(endPatience):
	}
	return err
}

// Close ends rank 1, and waits until it has ended.
func (p *Pair) Close() error {
	var err error
	for rank := 1; rank < p.ctl.Size(); rank++ {
		err = errors.Join(err, send(p.ctl.Gate(rank), orderTag, &Order{}))
	}
	if e := p.ctl.Close(); err == nil {
		err = e
	}
	if e := p.engine.Close(); err == nil {
		err = e
	}
	if p.job == nil {
		return err
	}
	select {
	case <-p.job.Done():
	case <-time.After(endPatience):
		p.job.Kill()
	}
	if e := p.job.Wait(); e != nil {
		err = e
	}
	return err
}

// IsRank1 reports whether this process was started by Start, or by Many.
func IsRank1() bool { return os.Getenv(envRank1) != "" }

// kill ends rank 1, in a job of a process manager the whole job.
func (p *Pair) kill() {
	if p.job == nil {
		p.ctl.Abort(1, "the experiment was given up")
	}
	p.job.Kill()
}

// Follow is the whole of the second process, and of those that a process manager has started besides: it carries out
// orders until there are no more. Those of Many carry out one. act gets the World that the order's setup asks for.
func Follow(act func(*World, *Order) error) error {
	var e errand
	if text := os.Getenv(envRank1); text != "" {
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return fmt.Errorf("read %s: %w", envRank1, err)
		}
	}
	ctx := context.Background()
	if IsRank1() { // a process manager ends what waits in vain
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, joinPatience)
		defer cancel()
	}
	config, err := nmad.FromEnvironment()
	if err != nil {
		return err
	}
	if e.Bind {
		if err := binding.Process(e.cpu(&config)); err != nil {
			return err
		}
	}
	if e.Order != nil {
		return oneOfMany(ctx, config, &e, act)
	}
	engine := pioman.New(pioman.Config{Name: "control"})
	defer engine.Close()
	config.Engine = engine
	ctl, err := nmad.Open(ctx, config)
	if err != nil {
		return err
	}
	defer ctl.Close()
	if !IsRank1() && ctl.Rank() == 1 {
		if err := send(ctl.Gate(0), arrivalTag, here(ctl)); err != nil {
			return fmt.Errorf("tell rank 0 where rank 1 is: %w", err)
		}
	}
	var never atomic.Bool // rank 0's end is our own: the kernel sees to it
	for {
		var o Order
		if err := receive(ctl.Gate(0), orderTag, &o); err != nil {
			return fmt.Errorf("wait for an order: %w", err)
		}
		if o.Kind == "" {
			return nil
		}
		var a answer
		if err := visit(context.Background(), nil, 1, o.Setup, &o, &never, func(w *World) error { return act(w, &o) }); err != nil {
			a.Failure = err.Error()
		}
		if err := send(ctl.Gate(0), answerTag, &a); err != nil {
			return err
		}
	}
}

func send(g *nmad.Gate, tag uint64, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return g.Send(tag, text)
}

func receive(g *nmad.Gate, tag uint64, v any) error {
	buf := make([]byte, mostOrder)
	n, err := g.Recv(tag, buf)
	if err != nil {
		return err
	}
	return json.Unmarshal(buf[:n], v)
}
