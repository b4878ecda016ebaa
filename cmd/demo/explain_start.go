package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/nmad"
)

type explainStartCommand struct{}

// Help is the long text of --help.
func (explainStartCommand) Help() string {
	return "Says what has started this process, and by which variables it knows; if something is missing, it says what. In a job, be it started by demo run, " +
		"mpiexec.hydra, srun or another launcher, all processes join and link to rank 0, and rank 0 prints where each of them is " +
		"and which network leads there:\n\n" +
		"    mpiexec.hydra -n 4 demo explain-start\n\n" +
		"Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
}

// startTag is the tag of the line by which a rank tells rank 0 where it is, and of rank 0's answer when all have done so.
const startTag = 1

func (explainStartCommand) run(ctx context.Context) (err error) {
	launcher := nmad.FindLauncher()
	s, err := nmad.Join(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if e := s.Close(); err == nil {
			err = e
		}
	}()
	host, _ := os.Hostname()
	own := fmt.Sprintf("%s at %s, pid %d, %d CPUs", host, s.Host(), os.Getpid(), len(binding.Allowed()))
	if s.Rank() > 0 {
		if err := s.Gate(0).Send(startTag, []byte(own)); err != nil {
			return err
		}
		_, err = s.Gate(0).Recv(startTag, nil)
		return err
	}
	fmt.Printf("started by: %s\n", launcher.Name)
	for _, v := range launcher.Found {
		fmt.Printf("  %s\n", strings.Replace(v, "=", " = ", 1))
	}
	fmt.Printf("a job of %d: rank 0 is %s\n", s.Size(), own)
	buf := make([]byte, 1024)
	for rank := 1; rank < s.Size(); rank++ {
		g := s.Gate(rank)
		n, err := g.Recv(startTag, buf)
		if err != nil {
			return err
		}
		var rails []string
		for _, r := range g.Info().Rails {
			if r.Network == "" { // not a choice
				rails = append(rails, r.Name)
			} else {
				rails = append(rails, r.Name+": "+r.Network+", as "+r.Choice)
			}
		}
		fmt.Printf("  rank %d: %s; %s\n", rank, buf[:n], strings.Join(rails, "; "))
	}
	for rank := 1; rank < s.Size(); rank++ {
		if err := s.Gate(rank).Send(startTag, nil); err != nil {
			return err
		}
	}
	return nil
}
