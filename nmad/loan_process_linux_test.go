package nmad_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/orphans"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// loanSize is the size of the messages here, in bytes.
const loanSize = 300_000

// loanMessage is what rank lends.
func loanMessage(rank int) []byte { return bytes.Repeat([]byte{byte(rank + 1), 2, 3}, loanSize/3) }

// lender is a process of TestKilledWithLoans: it has loaned the other one messages, and was loaned one, when the victim
// is killed.
func lender(victim int) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	g, want := s.Gate(1-s.Rank()), loanMessage(1-s.Rank())
	var sends []*nmad.Request
	var buffers []nmad.Buffer
	for range 3 { // of which the other one takes the first
		b, err := g.Alloc(loanSize)
		if err != nil {
			return err
		}
		copy(b.Bytes(), loanMessage(s.Rank()))
		buffers, sends = append(buffers, b), append(sends, g.Start(&nmad.Operation{Match: nmad.Tag(1), Buffer: b}))
	}
	receive := g.Start(&nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(1), Loan: true})
	err = receive.Wait()
	l := receive.Loan()
	if err != nil || !l.InPlace() || !bytes.Equal(l.Bytes(), want) {
		return fmt.Errorf("a loan of %d bytes, in place: %v: %w", len(l.Bytes()), l.InPlace(), err)
	}
	// Both have theirs once both have said so.
	go g.Send(2, nil)
	if _, err := g.Recv(2, nil); err != nil {
		return err
	}
	fmt.Println("ready", 0)
	if s.Rank() == victim {
		marcel.Blocking(func() { time.Sleep(time.Hour) })
	}
	for _, r := range sends {
		if err := r.Wait(); !errors.Is(err, nmad.ErrPeerLost) {
			return fmt.Errorf("a send of what is loaned ends with %w", err)
		}
	}
	if !bytes.Equal(l.Bytes(), want) {
		return errors.New("the loan of a process that was killed is damaged")
	}
	if err := l.Release(); err != nil {
		return err
	}
	for _, b := range buffers {
		if !bytes.Equal(b.Bytes(), loanMessage(s.Rank())) {
			return errors.New("a buffer is damaged")
		}
		if err := b.Release(); err != nil {
			return err
		}
	}
	if _, err := g.Alloc(1); !errors.Is(err, nmad.ErrPeerLost) {
		return fmt.Errorf("a buffer for a process that was killed: %w", err)
	}
	fmt.Println("lost", time.Now().UnixNano())
	return s.Close()
}

// TestKilledWithLoans kills one of two processes that have loaned each other messages: what it has loaned stays
// readable, what it was loaned comes back, with the error, and nothing is left behind.
func TestKilledWithLoans(t *testing.T) {
	for _, engine := range []string{explicit, hooked} {
		for victim := range 2 {
			t.Run(fmt.Sprint(engine, "/", victim), func(t *testing.T) {
				r := newReports()
				j, err := launch.Start(launch.Spec{
					N: 2, Driver: "shm", Env: []string{fmt.Sprintf("%s=%s lender %d", modeVariable, engine, victim)}, Stdout: r.of, Grace: 30 * time.Second,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer j.Kill()
				if err := r.await(j, "ready", 2); err != nil {
					t.Fatal(errors.Join(err, j.Wait()))
				}
				if err := syscall.Kill(j.PID(victim), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				if err := j.Wait(); err == nil || !strings.Contains(err.Error(), "signal 9") || strings.Contains(err.Error(), fmt.Sprint("rank ", 1-victim, " ")) {
					t.Errorf("the job ended with %v, want that rank %d was killed", err, victim)
				}
				if n, _ := r.count("lost"); n != 1 {
					t.Errorf("%d survivors are through with it", n)
				}
				if left := orphans.Files(); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}
