package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pm2-go/pm2/cmd/demo/internal/nas"
	"github.com/pm2-go/pm2/nmad/mpi"
)

type nasCommand struct {
	Kernel string `arg:"" help:"ep, is or cg."`
	Class  string `default:"S" help:"Size of the problem: ${nasClasses}, from the smallest up."`
}

// run runs a kernel of the NAS Parallel Benchmarks as a process of a job, or alone.
func (c *nasCommand) run(ctx context.Context) error {
	if !slices.Contains(nas.Kernels, strings.ToLower(c.Kernel)) {
		return usageError{fmt.Errorf("no kernel %q: there are %s", c.Kernel, strings.Join(nas.Kernels, ", "))}
	}
	if !slices.Contains(nas.Classes, strings.ToUpper(c.Class)) {
		return usageError{fmt.Errorf("--class %q: there are %s", c.Class, strings.Join(nas.Classes, ", "))}
	}
	world, err := mpi.Init(ctx)
	if err != nil {
		return err
	}
	r, err := nas.Run(world, c.Kernel, c.Class)
	if err != nil {
		world.Abort(1, err.Error())
	}
	if err2 := world.Finalize(); err == nil {
		err = err2
	}
	if err == nil && world.Rank() == 0 {
		fmt.Printf("%s, class %s, %d ranks: verified (%s), %.3f s\n", r.Kernel, r.Class, r.Ranks, r.Value, r.Took.Seconds())
	}
	return err
}
