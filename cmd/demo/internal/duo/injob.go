package duo

import (
	"context"
	"errors"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// Follows says whether this process is to follow rank 0 of the job that a process manager has started.
func Follows() (bool, error) {
	if !nmad.FindStart().Managed {
		return false, nil
	}
	c, err := nmad.FromEnvironment()
	return c.Rank > 0, err
}

// joinJob makes a Pair of the ranks 0 and 1 of such a job. The others wait for its end. The ranks are bound as the manager has done
// it; a World binds its own VPs.
func joinJob(ctx context.Context, cpus []int) (*Pair, error) {
	config, err := nmad.FromEnvironment()
	if err != nil {
		return nil, err
	}
	if config.Size < 2 {
		return nil, errors.New("the job has one process, and an experiment needs two: start it with -n 2")
	}
	a, b, two := binding.Pair(cpus)
	p := &Pair{CPUs: [2]int{a, b}, Apart: two, net: Local()}
	if !two {
		p.CPUs = [2]int{cpus[0], cpus[0]}
	}
	p.engine = pioman.New(pioman.Config{Name: "control"})
	config.Engine, config.Unbound = p.engine, true // a World binds its VPs itself
	if p.ctl, err = nmad.Open(ctx, config); err != nil {
		return nil, err
	}
	g := p.ctl.Gate(1)
	if err := g.Link(ctx); err != nil {
		return nil, err
	}
	if r := g.Rails()[0]; r.Network == "tcp" {
		p.ctl.Abort(1, "an experiment needs the ranks 0 and 1 on one host: "+r.Choice)
	}
	return p, nil
}
