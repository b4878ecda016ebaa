package am

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/caller"
	"github.com/pm2-go/pm2/internal/effort"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// Tests with real processes: this program starts itself, and AM_TEST tells it what to be.
const modeVariable = "AM_TEST"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		if err := act(strings.Fields(mode)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	effort.Together(8)
	os.Exit(m.Run())
}

// act runs a process of a test: WAY WHAT ARGUMENTS.
func act(mode []string) error {
	way, err := caller.Parse(mode[0])
	if err != nil {
		return err
	}
	failed := way.Run(func(s *caller.Spawner) { err = inJob(s, mode[1], mode[2:]) })
	return errors.Join(err, failed)
}

// inJob does what a process is told to do.
func inJob(s *caller.Spawner, what string, args []string) error {
	session, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	w, err := Open(session, Config{})
	if err != nil {
		return err
	}
	x := &process{Spawner: s, s: session, w: w, args: args, rank: session.Rank()}
	switch what {
	case "trips":
		err = x.trips()
	case "flood":
		err = x.flood()
	default:
		err = errors.New("what is " + what + "?")
	}
	return errors.Join(err, w.Close(), session.Close())
}

// process is one of a test's.
type process struct {
	*caller.Spawner
	s    *nmad.Session
	w    *World
	rank int
	args []string
}

func (x *process) number(i int) int {
	n, _ := strconv.Atoi(x.args[i])
	return n
}

// trips measures round trips of SIZE bytes there and BACK bytes back, ITERS times, in a domain of that ACCESS; rank 1 polls. Rank 0 says the median of batches, in picoseconds.
func (x *process) trips() error {
	size, back, iters, d := x.number(0), x.number(1), x.number(2), x.w.Default()
	answer := make([]byte, back)
	over := false
	_ = x.w.Handle(1, func(t *Token, args []uint64, body []byte) { _ = t.Reply(args, answer) })
	_ = x.w.Handle(2, func(*Token, []uint64, []byte) { over = true })
	if x.rank == 1 {
		for !over {
			d.Poll()
		}
		return nil
	}
	body := make([]byte, size)
	var r Reply
	const batch = 100
	var took []time.Duration
	for range max(iters/batch, 3) {
		began := time.Now()
		for range batch {
			err := d.RequestFor(&r, 1, 1, nil, body)
			if err == nil {
				_, _, err = r.Wait(nil)
			}
			if err != nil {
				return err
			}
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	fmt.Println("picoseconds", took[len(took)/2].Nanoseconds()*1000/batch)
	return d.Request(1, 2, nil, nil)
}

// flood measures requests of SIZE bytes one way, ITERS of them.
func (x *process) flood() error {
	size, iters, d := x.number(0), x.number(1), x.w.Default()
	n := 0
	_ = x.w.Handle(1, func(*Token, []uint64, []byte) { n++ })
	_ = x.w.Handle(2, echo)
	if x.rank == 1 {
		for n < iters {
			d.Poll()
		}
		var r Reply
		if err := d.RequestFor(&r, 0, 2, nil, nil); err != nil {
			return err
		}
		_, _, err := r.Wait(nil)
		return err
	}
	over := false
	_ = x.w.Handle(2, func(t *Token, args []uint64, body []byte) { over = true; echo(t, args, body) })
	body := make([]byte, size)
	began := time.Now()
	for range iters {
		if err := d.Request(1, 1, nil, body); err != nil {
			return err
		}
	}
	for !over {
		d.Poll()
	}
	fmt.Println("picoseconds", time.Since(began).Nanoseconds()*1000/int64(iters))
	d.Poll()
	return nil
}

// output collects what the ranks print.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) of(int) io.Writer { return o }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// measured runs two processes in a mode that says picoseconds.
func measured(b *testing.B, driver, mode string) {
	o := &output{}
	j, err := launch.Start(launch.Spec{N: 2, Driver: driver, Stdout: o.of, Env: []string{modeVariable + "=" + mode}})
	if err != nil {
		b.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		b.Fatal(err)
	}
	_, text, _ := strings.Cut(o.String(), "picoseconds ")
	ps, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(ps)/1000, "ns/trip")
}

// BenchmarkTrips measures round trips between two processes, one core each, of which the target polls.
func BenchmarkTrips(b *testing.B) {
	for _, engine := range []string{"goroutine-explicit", "thread-default"} {
		for _, c := range [][2]int{{0, 0}, {8, 8}, {4 << 10, 0}, {4 << 10, 4 << 10}, {64 << 10, 0}} {
			b.Run(fmt.Sprintf("%s/%d/%d", engine, c[0], c[1]), func(b *testing.B) {
				measured(b, "shm", fmt.Sprintf("%s trips %d %d %d", engine, c[0], c[1], b.N))
			})
		}
	}
}

// BenchmarkFlood measures requests one way.
func BenchmarkFlood(b *testing.B) {
	for _, size := range []int{8, 4 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			measured(b, "shm", fmt.Sprintf("goroutine-explicit flood %d %d", size, b.N))
		})
	}
}
