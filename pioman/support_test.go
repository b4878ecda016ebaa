package pioman

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(stopping{m}) }

// stopping stops marcel's default scheduler, which examples start, after the tests.
type stopping struct{ *testing.M }

func (m stopping) Run() int {
	code := m.M.Run()
	if s := sched.Running(); s != nil {
		if err := s.Stop(context.Background()); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return code
}

// patience bounds what must happen, not how fast it does.
const patience = 2 * time.Minute

// engine makes an engine that the test closes at its end.
func engine(t testing.TB, c Config) *Engine {
	t.Helper()
	e := New(c)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// scheduler makes one that is stopped at the end of the test.
func scheduler(t testing.TB, c sched.Config) *sched.Scheduler {
	t.Helper()
	s, err := sched.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// tuned are the default parameters, changed by f, if there is one.
func tuned(f func(*Params)) *Params {
	p := DefaultParams()
	if f != nil {
		f(&p)
	}
	return &p
}

func attach(t testing.TB, e *Engine, s Scheduler) (stop func()) {
	t.Helper()
	stop, err := e.Attach(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return stop
}

func submit(t testing.TB, e *Engine, task *Task) {
	t.Helper()
	if err := e.Submit(task); err != nil {
		t.Fatal(err)
	}
}

// finishes fails the test if f does not return: the only clock in most tests.
func finishes(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: not finished after %v", what, patience)
	}
}

// eventually waits for something that other threads bring about.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v", what, patience)
		}
	}
}

// byHand is a scheduler whose hooks the test fires itself.
type byHand struct {
	set     hooks.Set
	vps     int
	current atomic.Int64
	kicks   atomic.Int64
	kicked  atomic.Int64 // the last one
	sleeper atomic.Value // of box
	shared  bool
	queues  []*sched.Queue
}

type box struct{ sched.Sleeper }

func newByHand(vps int) *byHand { return newPlaced(vps, nil) }

// newPlaced is newByHand for a machine whose PUs the VPs are on in turn.
func newPlaced(vps int, machine *topo.Topology) *byHand {
	for calls.GoroutinesPoll(asm.Cycles()) != 0 { // of the test before: its idle hooks would stand back
		time.Sleep(50 * time.Microsecond)
	}
	h := &byHand{vps: vps, queues: sched.Plan(machine, vps)}
	h.current.Store(-1)
	return h
}

func (h *byHand) Hooks() *hooks.Set           { return &h.set }
func (h *byHand) NumVP() int                  { return h.vps }
func (h *byHand) CurrentVP() int              { return int(h.current.Load()) }
func (h *byHand) Kick(vp int)                 { h.kicks.Add(1); h.kicked.Store(int64(vp)) }
func (h *byHand) SetSleeper(s sched.Sleeper)  { h.sleeper.Store(box{s}) }
func (h *byHand) SharedCPUs() bool            { return h.shared }
func (h *byHand) Idle(int) (idle, awake bool) { return true, true }
func (h *byHand) Queues() []*sched.Queue      { return h.queues }

// waitFor is Wait for at most d, or no error if the bits are there at first.
func waitFor(c *Completion, e *Engine, bits uint32, d time.Duration) error {
	if c.Test(bits) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return c.WaitContext(ctx, e, bits)
}

// waitAllFor is likewise for all of bits.
func waitAllFor(c *Completion, e *Engine, bits uint32, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return c.await(e, want{bits, true}, waitForm{ctx: ctx})
}

// pipe is a source like a socket: the kernel knows when something is there.
type pipe struct {
	r, w int
	once sync.Once
}

func newPipe(t testing.TB) *pipe {
	t.Helper()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	x := &pipe{r: p[0], w: p[1]}
	t.Cleanup(x.close)
	return x
}

// close may come again.
func (p *pipe) close() {
	p.once.Do(func() {
		unix.Close(p.r)
		unix.Close(p.w)
	})
}

func (p *pipe) Descriptor() int { return p.r }
func (p *pipe) Arm() bool       { return true }
func (p *pipe) Disarm()         {}

func (p *pipe) put() { _, _ = unix.Write(p.w, []byte{1}) }

// take empties the pipe and returns how many bytes there were.
func (p *pipe) take() int {
	var b [64]byte
	n, err := unix.Read(p.r, b[:])
	if err != nil {
		return 0
	}
	return n
}

// bell is a source like shared memory: a word says that something is there, an
// eventfd only wakes one that has armed.
type bell struct {
	word  atomic.Int64
	armed atomic.Bool
	fd    int
}

func newBell(t testing.TB) *bell {
	t.Helper()
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return &bell{fd: fd}
}

func (b *bell) Descriptor() int { return b.fd }

func (b *bell) Arm() bool {
	b.armed.Store(true)
	return b.word.Load() == 0
}

func (b *bell) Disarm() {
	b.armed.Store(false)
	var buf [8]byte
	_, _ = unix.Read(b.fd, buf[:])
}

func (b *bell) put() {
	b.word.Add(1)
	if b.armed.Load() {
		_, _ = unix.Write(b.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

func (b *bell) take() int { return int(b.word.Swap(0)) }

// openDescriptors counts the open file descriptors of this process.
func openDescriptors(t testing.TB) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(d)
}

// cpuTime is what this process has used so far.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// usesNoCPU waits until this process uses less than a fiftieth of a CPU: others, which keep it from going to
// sleep as it would, may make that late.
func usesNoCPU(t testing.TB, when string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		before, began := cpuTime(t), time.Now()
		time.Sleep(200 * time.Millisecond)
		used, over := cpuTime(t)-before, time.Since(began)
		t.Logf("used %v of CPU in %v", used, over)
		if used <= over/50 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("used %v of CPU in %v %s", used, over, when)
			return
		}
	}
}
