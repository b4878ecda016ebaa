package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
)

// TestMain is also one of many processes (duo.Pair.Many).
func TestMain(m *testing.M) {
	if !duo.IsRank1() {
		os.Exit(m.Run())
	}
	if err := Follow(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestTrade: the leader times what counts, the follower ends with it, and what is damaged is found out on either side.
func TestTrade(t *testing.T) {
	for _, x := range []struct {
		size, iters int
		damaged     bool
	}{{8, 40, false}, {1, 1, false}, {300 << 10, 3, false}, {8, 40, true}} {
		err := duo.Alone(t.Context(), duo.Setup{Driver: "shm", Plain: true, CPUs: []int{0}, Free: true}, func(w *duo.World) error {
			first, second := trade{g: w.Gate, tag: fanTag, size: x.size, iters: x.iters}, trade{g: w.Far, tag: fanTag, size: x.size}
			ended := make(chan error, 1)
			go func() {
				if !x.damaged {
					ended <- second.follow()
					return
				}
				second.begin()
				_, err := second.one(7, x.size) // which is number 0 of the other side
				ended <- err
			}()
			warmed := 0
			samples, err := first.lead(func() error { warmed++; return nil })
			other := <-ended
			if x.damaged {
				for _, err := range []error{err, other} {
					if err == nil || !strings.Contains(err.Error(), "is damaged") {
						t.Errorf("%+v: %v", x, err)
					}
				}
				return nil
			}
			if len(samples) != x.iters || warmed != 1 {
				t.Errorf("%+v: %d samples, warm %d times", x, len(samples), warmed)
			}
			for _, s := range samples {
				if !(s > 0) {
					t.Errorf("%+v: half an exchange took %g ns", x, s)
				}
			}
			return errors.Join(err, other)
		})
		if err != nil {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// TestManyProcesses: pairs of processes measure together, and one that fails, or is given up, is no row.
func TestManyProcesses(t *testing.T) {
	p := &duo.Pair{}
	x, err := exchangeProcesses(t.Context(), p, duo.Setup{Hooked: true}, 8, 2, 40)
	if err != nil || len(x.ns) != 40 || x.players != 2 || !(x.elapsed > 0) {
		t.Errorf("%d samples of %d players in %g ns: %v", len(x.ns), x.players, x.elapsed, err)
	}
	_, err = p.Many(t.Context(), 1, duo.Order{Kind: "nothing", Setup: duo.Setup{Driver: "shm"}})
	if err == nil || !strings.Contains(err.Error(), "1 pairs of processes") {
		t.Errorf("an unknown order: %v", err)
	}
	late := errors.New("given up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, late)
	defer cancel()
	_, err = exchangeProcesses(ctx, p, duo.Setup{Hooked: true}, 1<<20, 2, 100_000_000)
	if !errors.Is(err, late) {
		t.Errorf("given up: %v", err)
	}
	p.Far = "on different hosts"
	if _, err := p.Many(t.Context(), 1, duo.Order{}); err == nil || !strings.Contains(err.Error(), p.Far) {
		t.Errorf("two hosts: %v", err)
	}
}

// TestLockRow: shares are of the samples of all rounds, the ratio is that within the rounds.
func TestLockRow(t *testing.T) {
	round := func(elapsed float64, samples, waiting, locks int64) lockRound {
		return lockRound{crowdSample{ns: []float64{100, 300}, elapsed: elapsed, players: 2}, cpuProfile{samples, []int64{waiting, locks}}}
	}
	base := []lockRound{{crowdSample: crowdSample{ns: []float64{100, 200}, elapsed: 400, players: 2}}, {crowdSample: crowdSample{ns: []float64{100, 200}, elapsed: 800, players: 2}}}
	r := lockRow([]lockRound{round(800, 30, 3, 6), round(2400, 10, 1, 4)}, base, true)
	if *r.Ratio != 2.5 || *r.Waiting != 0.1 || *r.Locks != 0.25 || r.Samples != 40 || r.Paced != 800 || r.Rounds != 2 {
		t.Errorf("%+v: ratio %v, waiting %v, at locks %v", r, *r.Ratio, *r.Waiting, *r.Locks)
	}
	if line := r.Line(); !strings.Contains(line, " 10.0 ") || !strings.Contains(line, " 25.0 ") {
		t.Error(line)
	}
	if r := lockRow(base, base, false); r.Ratio != nil || r.Waiting != nil || r.Locks != nil || r.Median != 150 {
		t.Errorf("%+v", r)
	}
}
