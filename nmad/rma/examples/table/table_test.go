package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/am"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/nmad/rma"
	"github.com/pm2-go/pm2/pioman"
)

// Tests with real processes: this program starts itself, and TABLE_TEST tells it what to do, and how often.
const actVariable = "TABLE_TEST"

func TestMain(m *testing.M) {
	what, n, is := strings.Cut(os.Getenv(actVariable), " ")
	if !is {
		os.Exit(m.Run())
	}
	rounds, err := strconv.Atoi(n)
	if err == nil {
		marcel.Run(func() { err = act(what, rounds) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func act(what string, rounds int) error {
	stop, err := pioman.Enable()
	if err != nil {
		return err
	}
	defer stop()
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	w, err := rma.Open(s)
	if err != nil {
		return err
	}
	m, err := am.Open(s, am.Config{})
	if err != nil {
		return err
	}
	t, err := Open(w, m, Config{Slots: 1 << 16, ValueBytes: 16, ID: 7})
	if err != nil {
		return err
	}
	d, err := w.Domain(rma.DomainConfig{Access: nmad.Private})
	if err != nil {
		return err
	}
	x := process{t: t, w: w, d: d}
	if x.turn, err = w.Alloc(64); err != nil {
		return err
	}
	if what == "random" {
		err = x.random(rounds)
	} else {
		err = x.mixed(rounds)
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", s.Rank(), err)
	}
	return errors.Join(x.meet(), t.Close(), m.Close(), w.Close(), s.Close())
}

type process struct {
	t    *Table
	w    *rma.World
	d    *rma.Domain
	turn *rma.Segment // how many have come, times how often, at rank 0
	met  int64
}

// meet returns once all processes have come; the engine runs the handlers meanwhile.
func (x *process) meet() error {
	x.met++
	all := x.met * int64(x.w.Size())
	if _, err := rma.Fetch(x.d, rma.Add, x.turn.At(0, 0), int64(1)); err != nil {
		return err
	}
	for {
		if n, err := rma.Load[int64](x.d, x.turn.At(0, 0)); err != nil || n >= all {
			return err
		}
		marcel.Sleep(50 * time.Microsecond)
	}
}

// value is twice the same word: a torn one shows.
func value(n uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, n), n)
}

// mixed: all processes store the same keys, again and again, while all look them up; then each key has the value that came last.
func (x *process) mixed(rounds int) error {
	const keys = 100
	buf := make([]byte, 16)
	for i := range rounds {
		key := uint64(rand.IntN(keys))
		if err := x.t.Put(context.Background(), key, value(uint64(i)<<8|key)); err != nil {
			return err
		}
		key = uint64(rand.IntN(2 * keys))
		found, err := x.t.Get(x.d, key, buf)
		if err != nil {
			return err
		}
		a, b := binary.LittleEndian.Uint64(buf), binary.LittleEndian.Uint64(buf[8:])
		if found && (a != b || a&255 != key || key >= keys) {
			return fmt.Errorf("key %d has %d and %d", key, a, b)
		}
	}
	if err := x.meet(); err != nil {
		return err
	}
	mine := uint64(1000 + x.w.Rank())
	if err := errors.Join(x.t.Put(context.Background(), mine, value(mine)), x.meet()); err != nil {
		return err
	}
	for rank := range x.w.Size() {
		other := uint64(1000 + rank)
		if found, err := x.t.Get(x.d, other, buf); err != nil || !found || binary.LittleEndian.Uint64(buf) != other {
			return fmt.Errorf("key %d: %v, %v", other, found, err)
		}
	}
	return nil
}

// random stores n keys and looks up as many, all processes at once. Rank 0 prints how many a second it has done itself: stores one by one, stores with 16 under way, lookups.
func (x *process) random(n int) error {
	t, buf, ctx := x.t, make([]byte, 16), context.Background()
	key := func(i int) uint64 { return uint64(i%20000*x.w.Size() + x.w.Rank()) }
	var rates []float64
	timed := func(f func() error) error {
		if err := x.meet(); err != nil {
			return err
		}
		began := time.Now()
		err := f()
		rates = append(rates, float64(n)/time.Since(began).Seconds())
		return errors.Join(err, x.meet())
	}
	err := timed(func() error {
		for i := range n {
			if err := t.Put(ctx, key(i), value(key(i))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = timed(func() error {
		var under [16]am.Reply
		for i := range n + len(under) {
			r := &under[i%len(under)]
			if i >= len(under) && i-len(under) < n {
				if err := t.Wait(ctx, r); err != nil {
					return err
				}
			}
			if i < n {
				if err := t.PutFor(r, key(i), value(key(i))); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = timed(func() error {
		r := rand.New(rand.NewPCG(1, uint64(x.w.Rank())))
		for range n {
			k := uint64(r.IntN(min(n, 20000) * x.w.Size()))
			if found, err := t.Get(x.d, k, buf); err != nil || !found {
				return fmt.Errorf("key %d: %v, %w", k, found, err)
			}
		}
		return nil
	})
	if err == nil && x.w.Rank() == 0 {
		fmt.Println(rates[0], rates[1], rates[2])
	}
	return err
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// start runs processes, and returns what they have written.
func start(t testing.TB, driver string, n int, what string) string {
	t.Helper()
	var mu sync.Mutex
	var out strings.Builder
	write := writer(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return out.Write(b)
	})
	to := func(int) io.Writer { return write }
	j, err := launch.Start(launch.Spec{N: n, Driver: driver, Stdout: to, Stderr: to, Env: []string{actVariable + "=" + what}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Kill)
	if err := j.Wait(); err != nil {
		t.Fatal(err, out.String())
	}
	return out.String()
}

// TestProcesses: lookups see whole values while others store them, over shared memory and by messages.
func TestProcesses(t *testing.T) {
	for _, x := range []struct {
		driver    string
		processes int
		what      string
	}{{"shm", 1, "mixed 300"}, {"shm", 3, "mixed 2000"}, {"tcp", 2, "mixed 200"}, {"shm", 2, "random 300"}} {
		t.Run(fmt.Sprint(x), func(t *testing.T) { start(t, x.driver, x.processes, x.what) })
	}
}

// BenchmarkRandom is random access of two processes at once, on a core each: what one of them achieves.
func BenchmarkRandom(b *testing.B) {
	const n = 200000
	var one, many, lookups float64
	for b.Loop() {
		if _, err := fmt.Sscan(start(b, "shm", 2, fmt.Sprint("random ", n)), &one, &many, &lookups); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(one, "inserts/s")
	b.ReportMetric(many, "inserts/s(16)")
	b.ReportMetric(lookups, "lookups/s")
	b.ReportMetric(0, "ns/op")
}

// TestFull: what finds no room, or cannot be, is an error that says so.
func TestFull(t *testing.T) {
	s, err := nmad.Open(t.Context(), nmad.Config{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := rma.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	m, err := am.Open(s, am.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := Open(w, m, Config{ValueBytes: 1 << 30}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	x, err := Open(w, m, Config{Slots: 4})
	if err != nil {
		t.Fatal(err)
	}
	for key := range uint64(4) {
		if err := x.Put(t.Context(), key, make([]byte, 8)); err != nil {
			t.Error(err)
		}
	}
	if err := x.Put(t.Context(), 4, make([]byte, 8)); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	if found, err := x.Get(w.Default(), 4, make([]byte, 8)); found || err != nil {
		t.Error(found, err)
	}
	if err := x.Put(t.Context(), 1, make([]byte, 7)); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	if _, err := x.Get(w.Default(), 1, make([]byte, 9)); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}
