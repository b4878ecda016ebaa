package nmad_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// agreeing agrees so many times, and says what came of each.
func agreeing(rounds int) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	for round := range rounds {
		x, err := s.Agree(context.Background(), ^(uint64(1) << ((round + s.Rank()) % 64)))
		if err != nil {
			return err
		}
		fmt.Printf("%d %x %v\n", round, x.Value, x.Failed)
	}
	return s.Close()
}

// transcripts are what the ranks of a job have written.
type transcripts struct {
	mu   sync.Mutex
	text []strings.Builder
}

type transcript struct {
	all  *transcripts
	rank int
}

func (tr transcript) Write(b []byte) (int, error) {
	tr.all.mu.Lock()
	defer tr.all.mu.Unlock()
	return tr.all.text[tr.rank].Write(b)
}

// lines are the whole lines of a rank.
func (trs *transcripts) lines(rank int) []string {
	trs.mu.Lock()
	defer trs.mu.Unlock()
	all := strings.Split(trs.text[rank].String(), "\n")
	return all[:len(all)-1]
}

// TestAgreeKilled kills processes, one after the other and rank 0 among them, while all agree again and again.
// Each survivor gets to the end, and what any process has returned, also one that was killed then, is what all
// others have returned.
func TestAgreeKilled(t *testing.T) {
	t.Parallel()
	drivers := []string{"shm", "tcp"}
	if testing.Short() {
		drivers = drivers[:1]
	}
	for _, driver := range drivers {
		for _, engine := range []string{explicit, hooked} {
			t.Run(driver+"/"+engine, func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(2) {
					agreeKilled(t, driver, engine, rand.New(rand.NewPCG(seed, 0)))
				}
			})
		}
	}
}

func agreeKilled(t *testing.T, driver, engine string, random *rand.Rand) {
	const n, rounds = 5, 300
	output := &transcripts{text: make([]strings.Builder, n)}
	j, err := launch.Start(launch.Spec{
		N: n, Driver: driver, Env: []string{fmt.Sprintf("%s=%s agree %d", modeVariable, engine, rounds)},
		Stdout: func(rank int) io.Writer { return transcript{output, rank} }, Grace: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Kill()
	victims := random.Perm(n)[:3]
	victims[random.IntN(2)] = 0
	dead := map[int]bool{}
	for i, v := range victims {
		if dead[v] {
			continue
		}
		for round := 40*(i+1) + random.IntN(40); len(output.lines(v)) < round; time.Sleep(time.Duration(random.IntN(2000)) * time.Microsecond) {
			select {
			case <-j.Done():
				t.Fatalf("the job ended before rank %d had agreed %d times: %v", v, round, j.Wait())
			default:
			}
		}
		if err := syscall.Kill(j.PID(v), syscall.SIGKILL); err == nil {
			dead[v] = true
		} else if !errors.Is(err, syscall.ESRCH) { // that is one that got to its end while we did not run
			t.Fatal(err)
		}
	}
	_ = j.Wait() // tells of those that were killed
	longest := 0
	for rank := range n {
		if len(output.lines(rank)) > len(output.lines(longest)) {
			longest = rank
		}
	}
	all := output.lines(longest)
	for rank := range n {
		mine := output.lines(rank)
		if !dead[rank] && len(mine) != rounds {
			t.Errorf("rank %d has agreed %d times, want %d", rank, len(mine), rounds)
		}
		for i, line := range mine {
			if line != all[i] {
				t.Fatalf("rank %d: %q, rank %d: %q", rank, line, longest, all[i])
			}
		}
	}
	if end := all[len(all)-1]; strings.Count(end, " ") != 1+len(dead) {
		t.Errorf("the last one is %q, want %d that have failed", end, len(dead))
	}
}
