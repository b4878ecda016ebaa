package am

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/caller"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/nmad/rma"
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
	var cfg Config
	if what == "long" || what == "lost" {
		if cfg.Memory, err = rma.Open(session); err != nil {
			return err
		}
	}
	w, err := Open(session, cfg)
	if err != nil {
		return err
	}
	x := &process{Spawner: s, s: session, w: w, args: args, rank: session.Rank()}
	switch what {
	case "trips":
		err = x.trips()
	case "flood":
		err = x.flood()
	case "all":
		err = x.all()
	case "victim":
		err = x.victim()
	case "computes":
		err = x.computes()
	case "long":
		err = x.long()
	case "lost":
		err = x.lost()
	default:
		err = errors.New("what is " + what + "?")
	}
	err = errors.Join(err, w.Close())
	if cfg.Memory != nil {
		err = errors.Join(err, cfg.Memory.Close())
	}
	return errors.Join(err, session.Close())
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

// trips measures round trips of SIZE bytes there and BACK bytes back, ITERS times, in a domain of that ACCESS; rank 1
// polls. Rank 0 says the median of batches, in picoseconds.
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
	err := timed(iters, func(r *Reply) error { return d.RequestFor(r, 1, 1, nil, body) })
	return errors.Join(err, d.Request(1, 2, nil, nil))
}

// timed says how long a request takes, and its reply.
func timed(iters int, request func(r *Reply) error) error {
	const batch = 100
	var r Reply
	var took []time.Duration
	for range max(iters/batch, 3) {
		began := time.Now()
		for range batch {
			err := request(&r)
			if err == nil {
				_, _, err = r.Wait()
			}
			if err != nil {
				return err
			}
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	fmt.Println("picoseconds", took[len(took)/2].Nanoseconds()*1000/batch)
	return nil
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
		_, _, err := r.Wait()
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

// barrier waits until all ranks are here.
func (x *process) barrier() error {
	for r := range x.s.Size() {
		if r == x.rank {
			continue
		}
		if err := x.s.Gate(r).Send(99, nil); err != nil {
			return err
		}
	}
	for r := range x.s.Size() {
		if r == x.rank {
			continue
		}
		if _, err := x.s.Gate(r).Recv(99, nil); err != nil {
			return err
		}
	}
	return nil
}

// all asks all ranks from several callers, in all ways: replies, calls, and a Private domain.
func (x *process) all() error {
	_ = x.w.Handle(1, echo)
	_ = x.w.Serve("echo", func(_ context.Context, _ int, args []byte) ([]byte, error) { return args, nil })
	if err := x.barrier(); err != nil {
		return err
	}
	errs := make([]error, 3)
	var waits []func()
	for i := range errs {
		waits = append(waits, x.Go(func() {
			d := x.w.Default()
			if i == 2 {
				if d, errs[i] = x.w.Domain(DomainConfig{Number: 10 + x.rank, Access: nmad.Private}); errs[i] != nil {
					return
				}
				defer func() { errs[i] = errors.Join(errs[i], d.Close()) }()
			}
			var r Reply
			for k := range 60 {
				to, body := (x.rank+k)%x.s.Size(), pattern([]int{0, 8, 2000, 64 << 10}[k%4], uint64(k))
				err := d.RequestFor(&r, to, 1, []uint64{uint64(k)}, body)
				var args []uint64
				var got []byte
				if err == nil {
					args, got, err = r.Wait()
				}
				if err == nil && (args[0] != uint64(k) || !slices.Equal(got, body)) {
					err = fmt.Errorf("%d bytes are damaged", len(body))
				}
				if err == nil && i != 2 {
					if got, err = x.w.Call(context.Background(), to, "echo", body); err == nil && !slices.Equal(got, body) {
						err = fmt.Errorf("a call with %d bytes is damaged", len(body))
					}
				}
				if errs[i] = err; err != nil {
					return
				}
			}
		}))
	}
	for _, wait := range waits {
		wait()
	}
	return errors.Join(errors.Join(errs...), x.barrier())
}

// victim is a job whose rank 1 is killed: what waits for it ends, and the others go on.
func (x *process) victim() error {
	_ = x.w.Handle(1, echo)
	_ = x.w.Handle(2, func(*Token, []uint64, []byte) { _ = unix.Kill(os.Getpid(), unix.SIGKILL) })
	running := make(chan struct{}, 2)
	_ = x.w.Handle(3, func(*Token, []uint64, []byte) { running <- struct{}{} })
	_ = x.w.Serve("hang", func(ctx context.Context, from int, _ []byte) ([]byte, error) {
		_ = x.w.Default().Request(from, 3, nil, nil)
		<-ctx.Done()
		return nil, nil
	})
	if x.rank == 1 {
		if _, err := x.w.Domain(DomainConfig{Number: 9, Access: nmad.Private}); err != nil { // never polled
			return err
		}
	}
	if err := x.barrier(); err != nil {
		return err
	}
	if x.rank == 1 {
		_, _, err := (&Reply{}).never(x.w)
		return err
	}
	d := x.w.Default()
	var r Reply
	if err := d.RequestTo(&r, 1, 9, 1, nil, nil); err != nil {
		return err
	}
	var called error
	wait := x.Go(func() { _, called = x.w.Call(context.Background(), 1, "hang", nil) })
	for over := false; !over; {
		d.Poll()
		select {
		case <-running:
			over = true
		default:
			marcel.Sleep(time.Millisecond)
		}
	}
	other := 2 - x.rank
	if x.rank == 0 { // once both wait
		if _, err := x.s.Gate(other).Recv(7, nil); err != nil {
			return err
		}
		if err := d.Request(1, 2, nil, nil); err != nil {
			return err
		}
	} else if err := x.s.Gate(other).Send(7, nil); err != nil {
		return err
	}
	_, _, replied := r.Wait()
	wait()
	late := d.Request(1, 1, nil, nil)
	for _, err := range []error{replied, called, late} {
		var lost *nmad.PeerError
		if !errors.As(err, &lost) || lost.Rank != 1 {
			return fmt.Errorf("rank %d lost its peer with %v, %v, %v", x.rank, replied, called, late)
		}
	}
	if err := d.RequestFor(&r, other, 1, nil, nil); err != nil {
		return err
	}
	_, _, err := r.Wait()
	if err == nil { // the other one may need answers yet
		err = errors.Join(x.s.Gate(other).Send(8, nil))
	}
	if err == nil {
		_, err = x.s.Gate(other).Recv(8, nil)
	}
	fmt.Println("survived")
	return err
}

// swap tells the other one of two processes of memory, and its number, and hears of its.
func (x *process) swap(g *rma.Region) (at rma.Ref, pid int, err error) {
	b, _ := g.Ref(0).AppendBinary(nil)
	b = binary.LittleEndian.AppendUint64(b, uint64(os.Getpid()))
	in, gate := make([]byte, len(b)), x.s.Gate(1-x.rank)
	sent := gate.Isend(5, b)
	if _, err = gate.Recv(5, in); err == nil {
		err = sent.Wait()
	}
	if err == nil {
		at, err = rma.ParseRef(in)
	}
	return at, int(binary.LittleEndian.Uint64(in[rma.RefBytes:])), err
}

// lost has two processes send long requests to each other until rank 1 is killed: those of rank 0 end, and it can
// close its memory.
func (x *process) lost() error {
	g, err := x.w.cfg.Memory.Register(make([]byte, 4<<20))
	if err != nil {
		return err
	}
	var came atomic.Int64
	_ = x.w.Handle(1, func(t *Token, _ []uint64, _ []byte) {
		if came.Add(1); t.Awaited() {
			_ = t.Reply(nil, nil)
		}
	})
	at, pid, err := x.swap(g)
	src, d, killed := make([]byte, 4<<20), x.w.Default(), false
	for err == nil {
		var local rma.Event
		var r Reply
		if err = d.RequestLong(nil, at, 1, nil, src, &local); err != nil {
			break
		}
		err = d.RequestLong(&r, at, 1, nil, src[:100_000], nil)
		if x.rank == 0 && came.Load() > 6 && !killed {
			killed = true
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		err = errors.Join(err, local.Wait())
		if r.sent {
			_, _, failed := r.Wait()
			err = errors.Join(err, failed)
		}
	}
	var lost *nmad.PeerError
	if !errors.As(err, &lost) || lost.Rank != 1 || !killed {
		return fmt.Errorf("rank %d lost its peer with %w", x.rank, err)
	}
	if err := g.Close(); err != nil {
		return err
	}
	for err = nil; err == nil; marcel.Sleep(time.Millisecond) { // the first ones may not know yet
		err = d.RequestLong(nil, at, 1, nil, src, nil)
	}
	if !errors.As(err, &lost) {
		return fmt.Errorf("and then %w", err)
	}
	fmt.Println("survived")
	_ = errors.Join(x.w.Close(), x.w.cfg.Memory.Close(), x.s.Close()) // of the process that was lost
	os.Exit(0)
	return nil
}

// long measures long requests of SIZE bytes, ITERS times, each of which is answered by nothing; rank 1 polls.
func (x *process) long() error {
	size, iters, d := x.number(0), x.number(1), x.w.Default()
	g, err := x.w.cfg.Memory.Make(max(size, 64))
	if err != nil {
		return err
	}
	over := false
	_ = x.w.Handle(1, func(t *Token, args []uint64, body []byte) { _ = t.Reply(nil, nil) })
	_ = x.w.Handle(2, func(*Token, []uint64, []byte) { over = true })
	at, _, err := x.swap(g)
	if x.rank == 1 || err != nil {
		for err == nil && !over {
			d.Poll()
		}
		return err
	}
	body := make([]byte, size)
	err = timed(iters, func(r *Reply) error { return d.RequestLong(r, at, 1, nil, body, nil) })
	return errors.Join(err, d.Request(1, 2, nil, nil))
}

// never waits for the end of the process.
func (r *Reply) never(w *World) ([]uint64, []byte, error) {
	for {
		w.Default().Poll()
		marcel.Sleep(time.Millisecond)
	}
}

// computes has rank 1 compute, in as many callers as there are processors, and call nothing: the engine runs the handlers.
func (x *process) computes() error {
	over := atomic.Bool{}
	_ = x.w.Handle(1, echo)
	_ = x.w.Handle(2, func(*Token, []uint64, []byte) { over.Store(true) })
	if err := x.barrier(); err != nil {
		return err
	}
	if x.rank == 1 {
		var waits []func()
		for range 2 {
			waits = append(waits, x.Go(func() {
				for sum := 0; !over.Load(); sum++ {
				}
			}))
		}
		for _, wait := range waits {
			wait()
		}
		return nil
	}
	var r Reply
	for range 20 {
		if err := x.w.Default().RequestFor(&r, 1, 1, nil, nil); err != nil {
			return err
		}
		if _, _, err := r.Wait(); err != nil {
			return err
		}
	}
	return x.w.Default().Request(1, 2, nil, nil)
}

// overNetworks are what tests of processes go over where not all networks matter.
var overNetworks = append([]string{"shm", "tcp"}, builtIn...)

// run runs a job of n processes of a test.
func run(t *testing.T, n int, driver, mode string) (string, error) {
	t.Helper()
	o := &output{}
	j, err := launch.Start(launch.Spec{N: n, Driver: driver, Stdout: o.of, Env: []string{modeVariable + "=" + mode}, Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Kill()
	err = j.Wait()
	return o.String(), err
}

// TestProcesses: three processes ask each other, in all ways in which programs call.
func TestProcesses(t *testing.T) {
	for i, way := range caller.Ways() {
		drivers := append([]string{"shm", "tcp", "unix"}, builtIn...)
		driver := drivers[i%len(drivers)]
		if testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(fmt.Sprint(driver, "/", way), func(t *testing.T) {
			if _, err := run(t, 3, driver, fmt.Sprint(way, " all")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTargetKilled: what waits for a process that is killed ends, and the others go on.
func TestTargetKilled(t *testing.T) {
	for _, driver := range overNetworks {
		for _, way := range []string{"goroutine-explicit", "thread-default"} {
			t.Run(driver+"/"+way, func(t *testing.T) {
				text, err := run(t, 3, driver, way+" victim")
				if n := strings.Count(text, "survived"); n != 2 || err == nil || !strings.Contains(err.Error(), "rank 1") || !strings.Contains(err.Error(), "signal 9") {
					t.Errorf("%d have survived; %v", n, err)
				}
			})
		}
	}
}

// TestLongLost: long requests to, and from, a process that is killed end, and the memory can be closed.
func TestLongLost(t *testing.T) {
	for _, driver := range overNetworks {
		t.Run(driver, func(t *testing.T) {
			text, err := run(t, 2, driver, "thread-default lost")
			if err == nil || !strings.Contains(err.Error(), "rank 1") || !strings.Contains(err.Error(), "signal 9") || !strings.Contains(text, "survived") {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

// TestTargetComputes: handlers run while all that the target does is to compute.
func TestTargetComputes(t *testing.T) {
	for _, way := range []string{"goroutine-default", "thread-default", "goroutine-none", "locked-default"} {
		for _, driver := range overNetworks {
			t.Run(driver+"/"+way, func(t *testing.T) {
				if _, err := run(t, 2, driver, way+" computes"); err != nil {
					t.Error(err)
				}
			})
		}
	}
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

// BenchmarkLong measures round trips whose bodies go into memory of the target, mapped or not.
func BenchmarkLong(b *testing.B) {
	for _, driver := range []string{"shm", "tcp"} {
		for _, size := range []int{8, 4 << 10, 64 << 10, 1 << 20} {
			b.Run(fmt.Sprint(driver, "/", size), func(b *testing.B) {
				measured(b, driver, fmt.Sprintf("goroutine-explicit long %d %d", size, b.N))
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
