package duo

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// InJob reports whether a process manager has started this process.
func InJob() bool { return nmad.FindLauncher().Managed }

// Follows reports whether this process is to follow rank 0 of the job that a process manager has started.
func Follows() (bool, error) {
	if !InJob() {
		return false, nil
	}
	c, err := nmad.FromEnvironment()
	return c.Rank > 0, err
}

// place is where a rank is, in a job of a process manager. Rank 1 sends its place to rank 0.
type place struct {
	Addr   string `json:"addr"`   // of its host, for the other rank
	Kernel string `json:"kernel"` // which one runs it
	Space  string `json:"space"`  // its network namespace there
	CPUs   []int  `json:"cpus"`   // that it may use
}

func here(ctl *nmad.Session) *place {
	boot, _ := kernel.Boot()
	return &place{ctl.Host(), boot, kernel.Space("net"), binding.Allowed()}
}

// settle makes of two places what a Pair knows of them: each rank keeps to the CPUs that its manager has left it.
func (p *Pair) settle(mine, theirs *place) error {
	if len(mine.CPUs) == 0 || len(theirs.CPUs) == 0 {
		return errors.New("a rank of the job may use no CPU")
	}
	p.net = Net{Addrs: [2]string{mine.Addr, theirs.Addr}}
	p.remote = mine.Kernel != theirs.Kernel
	switch {
	case p.remote:
		p.Far = "on different hosts"
	case mine.Space != theirs.Space:
		p.Far = "in different network namespaces of one host"
	}
	p.CPUs = [2]int{mine.CPUs[0], theirs.CPUs[0]}
	if !p.remote {
		p.CPUs[1] = binding.Other(mine.CPUs[0], theirs.CPUs)
	}
	p.Apart = !p.Shared()
	return nil
}

var errAlone = errors.New("the job has one process, and an experiment needs two: start it with -n 2")

// joinJob makes a Pair of the ranks 0 and 1 of such a job. The others wait for its end. A World binds its VPs within
// what the manager has left its process.
func joinJob(ctx context.Context) (_ *Pair, err error) {
	config, err := nmad.FromEnvironment()
	if err != nil {
		return nil, err
	}
	if config.Size < 2 {
		return nil, errAlone
	}
	p := &Pair{engine: pioman.New(pioman.Config{Name: "control"})}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.engine.Close())
		}
	}()
	config.Engine, config.Unbound = p.engine, true // a World binds its VPs itself
	if p.ctl, err = nmad.Open(ctx, config); err != nil {
		return nil, err
	}
	var theirs place
	if err = receive(p.ctl.Gate(1), arrivalTag, &theirs); err != nil {
		return nil, errors.Join(fmt.Errorf("hear where rank 1 is: %w", err), p.ctl.Close())
	}
	if err = p.settle(here(p.ctl), &theirs); err != nil {
		return nil, errors.Join(err, p.ctl.Close())
	}
	return p, nil
}

// Decline ends such a job, for a reason: its processes have nothing to do. It returns the reason.
func Decline(ctx context.Context, why error) error {
	p, err := joinJob(ctx)
	if errors.Is(err, errAlone) {
		return why
	}
	if err != nil {
		return errors.Join(why, err)
	}
	return errors.Join(why, p.Close())
}
