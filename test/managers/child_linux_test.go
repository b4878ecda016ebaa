package managers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/sched"
)

// The test program is also what the jobs run: its first argument says what.
func TestMain(m *testing.M) {
	actions := map[string]func(args []string) error{
		"ring": ring, "networks": networks, "doomed": doomed, "loop": loop, "bound": bound, "graceful": graceful,
	}
	if len(os.Args) > 1 && actions[os.Args[1]] != nil {
		if err := actions[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	effort.Together(8) // the parallel ones wait for launchers, silences, and each other's programs to be built
	status := m.Run()
	if programs.folder != "" {
		_ = os.RemoveAll(programs.folder)
	}
	os.Exit(status)
}

// ring exchanges messages with both neighbors, short and long ones.
func ring([]string) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	n := s.Size()
	next, before := s.Gate((s.Rank()+1)%n), s.Gate((s.Rank()+n-1)%n)
	for i, size := range []int{1, 5000, 300000} {
		out, in := make([]byte, size), make([]byte, size)
		for j := range out {
			out[j] = byte(j + s.Rank())
		}
		r := before.Irecv(uint64(i), in)
		if err := errors.Join(next.Send(uint64(i), out), r.Wait()); err != nil {
			return err
		}
		for j, b := range in {
			if b != byte(j+(s.Rank()+n-1)%n) {
				return fmt.Errorf("rank %d: byte %d of %d is %d", s.Rank(), j, size, b)
			}
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	fmt.Printf("rank %d of %d\n", s.Rank(), n)
	return nil
}

// bound says on which processors the threads of this process may run.
func bound([]string) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	threads, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		return err
	}
	masks := map[string]bool{}
	for _, name := range threads {
		text, _ := os.ReadFile(name)
		if _, rest, ok := strings.Cut(string(text), "Cpus_allowed_list:"); ok {
			list, _, _ := strings.Cut(rest, "\n")
			masks[strings.TrimSpace(list)] = true
		}
	}
	manners := "alone"
	if sched.SharedCPUs() {
		manners = "yields"
	}
	fmt.Printf("rank %d on %v, %s\n", s.Rank(), slices.Sorted(maps.Keys(masks)), manners)
	if err := together(s); err != nil {
		return err
	}
	return s.Close()
}

// graceful computes until it gets SIGTERM, and then closes its session, as a program does that ends cleanly.
func graceful([]string) error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	if err := together(s); err != nil {
		return err
	}
	fmt.Println("pid", os.Getpid(), "rank", s.Rank())
	<-asked
	if err := s.Close(); err != nil {
		return err
	}
	fmt.Printf("rank %d has closed its session\n", s.Rank())
	return nil
}

// networks links to all others and says by what.
func networks([]string) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	for rank := range s.Size() {
		if rank == s.Rank() {
			continue
		}
		g := s.Gate(rank)
		if err := g.Link(context.Background()); err != nil {
			return err
		}
		for _, r := range g.Info().Rails {
			fmt.Printf("%d to %d: %s %s\n", s.Rank(), rank, r.Name, r.Network)
		}
	}
	if err := together(s); err != nil {
		return err
	}
	return s.Close()
}

// together returns when all are there.
func together(s *nmad.Session) error {
	for step := range 2 * s.Size() {
		g := s.Gate(step % s.Size())
		var err error
		if step < s.Size() {
			err = g.Send(9, nil)
		} else {
			_, err = g.Recv(9, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// doomed has one rank come to an end of some kind once all are there, while the others wait for it: how RANK [STATUS].
func doomed(args []string) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("pid", os.Getpid(), "rank", s.Rank())
	if err := together(s); err != nil {
		return err
	}
	fmt.Println("together")
	victim, _ := strconv.Atoi(args[1])
	if s.Rank() != victim {
		_, err := s.Gate(victim).Recv(1, nil)
		return fmt.Errorf("rank %d: %w", s.Rank(), err)
	}
	switch args[0] {
	case "kill":
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "exit":
		status, _ := strconv.Atoi(args[2])
		os.Exit(status)
	case "abort":
		status, _ := strconv.Atoi(args[2])
		s.Abort(status, "as the test wants it")
	}
	time.Sleep(time.Hour) // until something else ends it
	return nil
}

// loop computes, and calls nothing that could notice the end of anything.
func loop([]string) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("pid", os.Getpid(), "rank", s.Rank())
	for i := 0; ; i++ {
		if slices.Contains([]int{-1}, i) {
			return nil
		}
	}
}
