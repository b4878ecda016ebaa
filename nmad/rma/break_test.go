package rma

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
)

// severed has a World take another process for lost, which lives: as where a link breaks between the two only.
func severed(w *World, rank int) {
	w.ended(nmad.Event{Gate: w.s.Gate(rank), Err: &nmad.PeerError{Rank: rank, Reason: "the test says so", Err: nmad.ErrPeerLost}})
}

// fails says what is wrong with the end of a collective call that is to name a lost process, and the one that says so.
func fails(err error, rank int, says string) error {
	if peer := (*nmad.PeerError)(nil); !errors.Is(err, nmad.ErrPeerLost) || !errors.As(err, &peer) || peer.Rank != rank || !strings.Contains(err.Error(), says) {
		return fmt.Errorf("a collective call ends with %w; it is to name rank %d as lost, and say %q", err, rank, says)
	}
	return nil
}

// within fails a test whose collective calls go on.
func within(t *testing.T, worlds []*World, f func(w *World) error) {
	t.Helper()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-over:
		case <-time.After(time.Minute):
			panic("collective calls go on for a minute")
		}
	}()
	each(t, worlds, f)
}

// TestSevered: of processes that have lost each other one fails in a collective call, and closes. The next calls fail
// at the others, too, which have lost none; and all come to the end of Close.
func TestSevered(t *testing.T) {
	for n := 3; n <= 5; n++ {
		for victim := 1; victim < n; victim++ {
			worlds := job(t, "shm", n, options{})
			segments(t, worlds, 64)
			severed(worlds[victim], 0)
			within(t, worlds, func(w *World) error {
				_, err := w.Alloc(64)
				if w.rank == victim {
					return errors.Join(fails(err, 0, "the test says so"), w.Close())
				}
				_, again := w.Alloc(64)
				return errors.Join(fails(err, 0, "says so"), fails(again, 0, "says so"), w.Close())
			})
		}
	}
}

// TestSeveredAtClose: the process that has lost another one closes, and was in no collective call before.
func TestSeveredAtClose(t *testing.T) {
	worlds := job(t, "shm", 3, options{})
	severed(worlds[2], 0)
	within(t, worlds, func(w *World) error {
		if w.rank == 2 {
			return w.Close()
		}
		_, err := w.Alloc(64)
		return errors.Join(fails(err, 0, "which takes part in the collective calls, says so"), w.Close())
	})
}

// TestForgedBreak: a process that has the job's secret ends the collective calls of a World, as it may by not taking
// part. The error names it, all end, and the next World of the session works. What it says of Worlds that are long
// gone, or far ahead, and of ranks that are none changes nothing.
func TestForgedBreak(t *testing.T) {
	worlds := job(t, "shm", 3, options{})
	for _, x := range []struct{ number, rank uint64 }{{0, 2}, {3, 2}, {1 << 32, 2}, {1<<64 - 1, 2}, {1, 3}, {1, 1 << 32}, {1, 1<<64 - 1}, {2, 1 << 63}} {
		forge(t, worlds[1], x.number, x.rank)
	}
	within(t, worlds, works)
	forge(t, worlds[1], 1, 2)
	within(t, worlds, func(w *World) error {
		if w.rank != 1 {
			<-w.intact.Done()
		}
		_, err := w.Alloc(64)
		return fails(err, 2, "which takes part in the collective calls, says so")
	})
	renew(t, worlds)
	within(t, worlds, works)
}

// TestEarlyBreak: a process that has begun the next World tells of it one that has not left the last one.
func TestEarlyBreak(t *testing.T) {
	worlds := job(t, "shm", 3, options{})
	forge(t, worlds[1], 2, 2)
	within(t, worlds, works)
	within(t, worlds, func(w *World) error {
		for w.rank != 1 && w.history.early.Load() == nil {
			runtime.Gosched()
		}
		if err := w.Close(); err != nil {
			return err
		}
		_, err := open(w.s, w.options)
		return fails(err, 2, "which takes part in the collective calls, says so")
	})
}

// forge has a process say to all others that in the World of that number a rank is lost, and waits until they have
// heard it.
func forge(t *testing.T, w *World, number, rank uint64) {
	t.Helper()
	var head [headBytes]byte
	(&wireRequest{ask: askBreak, number: number, bytes: rank}).encode(&head)
	for to := range w.size {
		if to == w.rank {
			continue
		}
		if err := w.s.Gate(to).Start(&nmad.Operation{Match: w.tagged(contextRequests, 0), Buf: head[:], Sync: true}).Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// works says what is wrong with collective calls.
func works(w *World) error {
	s, err := w.Alloc(64)
	if err != nil {
		return err
	}
	return s.Free()
}

// renew closes Worlds, and opens the next ones of their sessions in their places.
func renew(t *testing.T, worlds []*World) {
	t.Helper()
	next := make([]*World, len(worlds))
	within(t, worlds, func(w *World) (err error) {
		if err := w.Close(); err != nil {
			return err
		}
		next[w.rank], err = open(w.s, w.options)
		return err
	})
	copy(worlds, next)
}
