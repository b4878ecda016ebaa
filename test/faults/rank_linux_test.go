package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/internal/test/caller"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	_ "github.com/pm2-go/pm2/nmad/driver/fault" // PM2_DRIVER=fault:tcp
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/mpi"
	"github.com/pm2-go/pm2/pioman"
	"golang.org/x/sys/unix"
)

// Variables that make a process of this binary a part of a round.
const (
	planVariable = "PM2_TEST_FAULTS"       // a rank; the plan
	loadVariable = "PM2_TEST_FAULTS_LOAD"  // computes until its standard input ends
	hostVariable = "PM2_TEST_FAULTS_INNER" // set once the process is on its host
	markVariable = "PM2_TEST_FAULTS_MARK"  // whatever belongs to a round has it in its environment
)

// act is what a process does that belongs to a round.
func act() {
	if os.Getenv(loadVariable) != "" {
		go func() {
			_, _ = os.Stdin.Read(make([]byte, 1))
			os.Exit(0)
		}()
		for x := uint64(1); x != 0; x += 2 {
		}
	}
	p := &plan{}
	if err := json.Unmarshal([]byte(os.Getenv(planVariable)), p); err != nil {
		fatal(err)
	}
	c, err := p.settle()
	if err != nil {
		fatal(err)
	}
	debug.SetTraceback(p.traceback())
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // a rank that shows its stacks leaves no memory image
	b := &book{a: account{Rank: c.Rank}, gone: map[int]bool{}}
	if c.Rank == p.Victim {
		hoardOnSignal()
	}
	way := p.Ways[c.Rank]
	before := remains()
	if way.Engine == caller.Explicit {
		c.Engine = pioman.New(pioman.Config{SharedCPUs: c.SharedCPUs})
	}
	if err := way.Run(func(s *caller.Spawner) {
		callers = s
		p.part(c, b)
	}); err != nil {
		b.bad("what makes the progress: %v", err)
	}
	if way.Engine == caller.Explicit {
		if err := c.Engine.Close(); err != nil {
			b.bad("close the engine: %v", err)
		}
		b.nothingMore(before, "the engine was closed")
	}
	say(line{What: "account", Account: &b.a})
}

// settle puts the process onto its host and reads its configuration.
func (p *plan) settle() (nmad.Config, error) {
	rank := os.Getenv(nmad.EnvRank)
	if p.Spaces[0] != "" {
		host := 0
		if rank == fmt.Sprint(p.Victim) {
			host = 1
		}
		if os.Getenv(hostVariable) == "" {
			return nmad.Config{}, moveTo(p.Spaces[host])
		}
		os.Setenv(nmad.EnvListen, p.Addrs[host]+":0")
	}
	c, err := nmad.FromEnvironment()
	if err != nil {
		return c, err
	}
	c.Timeout, c.Linger, c.Unexpected = p.Timeout, p.Linger, p.Unexpected
	return c, nil
}

// moveTo starts this program again, in the name space of the net of its host.
func moveTo(space string) error {
	runtime.LockOSThread()
	f, err := os.Open(space)
	if err != nil {
		return err
	}
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the name space of a host: %w", err)
	}
	f.Close()
	return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), hostVariable+"=1"))
}

// part is what a rank does.
func (p *plan) part(c nmad.Config, b *book) {
	before := remains()
	over := b.watchLateness()
	began := time.Now()
	s, err := nmad.Open(context.Background(), c)
	b.a.Opened = time.Since(began)
	if err != nil {
		b.a.Open = err.Error()
		marcel.Blocking(over)
		b.nothingMore(before, "Open has failed")
		return
	}
	stop := s.Monitor(nmad.GateEnded, func(e nmad.Event) {
		if rank := e.Gate.Rank(); e.Gate == s.Gate(rank) { // not one of a domain, which its peer may have closed
			b.ended(rank)
		}
	})
	defer stop()
	say(line{What: "joined"})
	silent := keepSaying()
	defer func() { marcel.Blocking(silent) }()
	defer describeOnSignal(s)()
	t := &traffic{p: p, s: s, d: s.Domains()[0], b: b}
	own := c.Rank
	h := t.hang()
	ranks := []int{}
	for rank := range p.Size {
		ranks = append(ranks, rank)
	}
	closing, operations := s.Close, crew{}
	if p.Collectives {
		world, err := mpi.New(s)
		if err != nil {
			b.bad("the communicator of all: %v", err)
		} else {
			closing = world.Finalize
			operations.all.Go(callers.Go(func() { t.collectives(world) }))
		}
	}
	if p.OneSided {
		operations.all.Go(callers.Go(t.oneSided))
	}
	if p.Active {
		operations.all.Go(callers.Go(t.active))
	}
	var domains crew
	for i := range p.Domains {
		domains.all.Go(callers.Go(func() { t.inDomain(1+i, ranks) }))
	}
	t.exchange(1, ranks)
	domains.wait()
	operations.wait()
	switch {
	case own != p.Victim:
		if p.loses() && !p.Rude {
			h.lose(p.Victim)
		}
		t.second(own)
	case p.member():
		t.second(own)
	case p.Kind.deadly():
		marcel.Blocking(func() { time.Sleep(time.Hour) })
	case p.loses():
		for peer := range p.Size {
			if peer != own {
				h.lose(peer)
			}
		}
	}
	if !p.Rude {
		h.end(false)
	}
	began = time.Now()
	if err := closing(); err != nil {
		b.a.Closing = err.Error()
	}
	b.a.Closed = time.Since(began)
	h.end(true)
	b.lookAtCanaries()
	marcel.Blocking(over)
	b.nothingMore(before, "Close")
	b.lookAtCanaries()
}

// second is the traffic without the victim, or, where nothing is lost, with it.
func (t *traffic) second(own int) {
	others := t.p.others(own)
	t.exchange(2, others)
	if !t.p.Barrier {
		return
	}
	var sends []*nmad.Request
	for _, peer := range others {
		sends = append(sends, t.s.Gate(peer).Isend(barrierTag, nil))
	}
	for i, peer := range others {
		began := time.Now()
		_, err := t.s.Gate(peer).Recv(barrierTag, nil)
		t.b.failed("barrier", peer, began, errors.Join(err, sends[i].Wait()))
	}
}

// leaves reports whether an error means that a peer has closed its session in good order.
func leaves(err error) bool { return strings.Contains(err.Error(), "closed its session") }

// environment is what the ranks get besides what package launch says.
func (p *plan) environment(mark, dir string) []string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	env := []string{
		planVariable + "=" + string(text), markVariable + "=" + mark, "TMPDIR=" + dir, "GOTRACEBACK=" + p.traceback(),
		shm.EnvCopy + "=" + p.Copy,
	}
	if p.Faults != "" {
		env = append(env, "PM2_FAULTS="+p.Faults)
	}
	return env
}

// describeSignal has a rank say how its gates are; one that does not listen ignores it.
const describeSignal = syscall.SIGWINCH

func describeOnSignal(s *nmad.Session) (stop func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, describeSignal)
	go func() {
		for range asked {
			fmt.Fprintln(os.Stderr, s)
		}
	}()
	return func() {
		signal.Stop(asked)
		close(asked)
	}
}

// traceback is how much a rank tells when it is ended by SIGQUIT: of each OS thread, too, except where ranks end so by
// themselves.
func (p *plan) traceback() string {
	if p.Kind == memory || p.Kind == cgroup {
		return "all"
	}
	return "crash"
}

// hoardOnSignal has this process open files until there are no more descriptors when SIGUSR1 comes, and close them when
// SIGUSR2 does.
func hoardOnSignal() {
	come := make(chan os.Signal, 2)
	signal.Notify(come, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		var all []int
		for s := range come {
			if s == syscall.SIGUSR2 {
				for _, fd := range all {
					_ = unix.Close(fd)
				}
				all = nil
				continue
			}
			for len(all) < 1<<16 {
				fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					break
				}
				all = append(all, fd)
			}
		}
	}()
}
