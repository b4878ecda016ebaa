package bounds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// roleVariable makes this binary a rank of a job; it says what that does.
const roleVariable = "PM2_TEST_BOUNDS_ROLE"

// Roles.
const (
	waits   = "waits"   // joins, sends a first message, and waits for one that never comes
	absent  = "absent"  // never joins
	joins   = "joins"   // joins, makes no links, and waits
	orphans = "orphans" // joins, sends a first message, and says how it has ended to wait for rank 1
	first   = "first"   // rank 1 joins, the others never do
	half    = "half"    // never joins; even ranks end at once
	deaf    = "deaf"    // never joins, and ignores SIGTERM
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		effort.Together(8) // most of each row is waiting
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(role string) error {
	switch role {
	case absent:
		select {}
	case first:
		if os.Getenv(nmad.EnvRank) != "1" {
			select {}
		}
	case deaf:
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("deaf")
		time.Sleep(time.Hour)
	case half:
		if rank := os.Getenv(nmad.EnvRank); (rank[len(rank)-1]-'0')%2 == 0 {
			return nil
		}
		select {}
	}
	c, err := nmad.FromEnvironment()
	if err != nil {
		return err
	}
	c.Linger = linger
	if role == joins || role == first { // others have their links from the start on, which may take its time
		c.Timeout = timeout
	}
	c.Engine = pioman.New(pioman.Config{})
	defer func() { _ = c.Engine.Close() }()
	s, err := nmad.Open(context.Background(), c)
	if err != nil {
		return err
	}
	for rank := range s.Size() {
		if rank != s.Rank() && role != joins {
			_ = s.Gate(rank).Send(helloTag, nil) // the other one may be lost before
		}
	}
	if role == orphans {
		_, err := s.Gate(1).Recv(neverTag, nil) // rank 1 of itself: that does not end
		if lost := (*nmad.PeerError)(nil); errors.Is(err, nmad.ErrPeerLost) && errors.As(err, &lost) {
			err = fmt.Errorf("lost rank %d: %w", lost.Rank, err)
		}
		fmt.Println(err)
		return s.Close()
	}
	_, _ = s.Gate(0).Recv(neverTag, nil)
	_ = s.Close()
	return nil
}
