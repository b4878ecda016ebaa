package rma

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/pioman"
)

// Tests with real processes: this program starts itself, and RMA_TEST tells it what to be.
const modeVariable = "RMA_TEST"

// acts are what a process of a test can be, by name.
var acts = map[string]func(w *World, rounds int) error{
	"conform": conform, "figures": figures, "sleepers": sleepy, "linear": linear, "litmus": litmus, "victim": victim, "order": fences, "selects": selects, "crowded": crowded, "stopped": stopped,
}

func TestMain(m *testing.M) {
	mode := strings.Fields(os.Getenv(modeVariable))
	if len(mode) == 0 {
		os.Exit(m.Run())
	}
	var err error
	marcel.Run(func() { err = act(mode) })
	if err != nil {
		fmt.Fprintln(os.Stderr, mode[0], err)
		os.Exit(1)
	}
}

// act runs a process of a test: WHAT HOW ROUNDS.
func act(mode []string) error {
	stop, err := pioman.Enable()
	if err != nil {
		return err
	}
	defer stop()
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	o := options{apart: mode[1] == "apart", refuses: mode[1] == "refuses", messages: mode[1] == "messages"}
	if mode[1] == "short" {
		o.remoteFrom = 1
	}
	if mode[1] == "inside" {
		o.inside = func() { _ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) } // this thread stops before it goes on
	}
	w, err := open(s, o)
	if err != nil {
		return err
	}
	rounds, _ := strconv.Atoi(mode[2])
	if err := acts[mode[0]](w, rounds); err != nil {
		return fmt.Errorf("rank %d: %w", w.Rank(), err)
	}
	return errors.Join(w.Close(), s.Close())
}

// lines has what processes write.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start starts n processes.
func start(t *testing.T, driver string, n int, what, how string, rounds int) (*launch.Job, *lines) {
	t.Helper()
	out := &lines{}
	to := func(int) io.Writer { return out }
	j, err := launch.Start(launch.Spec{N: n, Driver: driver, Stdout: to, Stderr: to, Grace: 30 * time.Second, Env: []string{fmt.Sprintf("%s=%s %s %d", modeVariable, what, how, rounds)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Kill)
	return j, out
}

// TestProcesses: what real processes do, each way. Each of them fails by itself.
func TestProcesses(t *testing.T) {
	for _, x := range []struct {
		what   string
		ranks  int
		rounds int
		ways   string
	}{
		{"conform", 3, effort.Of(2000), "shm/mapped shm/apart shm/refuses tcp/mapped unix/mapped"},
		{"sleepers", 3, effort.Of(3000), "shm/mapped shm/apart tcp/mapped"},
		{"linear", 3, effort.Of(100), "shm/mapped shm/apart tcp/mapped"},
		{"litmus", 2, effort.Of(1_000_000), "shm/mapped"},
		{"litmus", 2, effort.Of(5000), "shm/apart tcp/mapped"},
		{"order", 4, effort.Of(1_000_000), "shm/mapped"},
		{"order", 4, effort.Of(5000), "shm/apart tcp/mapped"},
		{"crowded", 3, 1, "shm/mapped"},
		{"selects", 2, effort.Of(500), "shm/mapped shm/apart tcp/mapped"},
		{"figures", 2, effort.Of(100_000), "shm/mapped"},
		{"figures", 2, effort.Of(2000), "shm/apart tcp/mapped unix/mapped"},
	} {
		for _, y := range strings.Fields(strings.ReplaceAll(x.ways, "tcp/mapped", "tcp/mapped"+processesBuiltIn)) {
			driver, how, _ := strings.Cut(y, "/")
			t.Run(x.what+"/"+y, func(t *testing.T) {
				j, out := start(t, driver, x.ranks, x.what, how, x.rounds)
				if err := j.Wait(); err != nil {
					t.Errorf("%v\n%s", err, out)
				} else if out.String() != "" {
					t.Log(out)
				}
			})
		}
	}
}

// crowded has rank 1 allocate when it has one descriptor left, for its own part: those of others it reaches by
// messages, and says why.
func crowded(w *World, _ int) error {
	var limit, few syscall.Rlimit
	if w.rank == 1 {
		free, err := syscall.Dup(0) // the lowest one
		if err := errors.Join(err, syscall.Close(free), syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)); err != nil {
			return err
		}
		few = limit
		few.Cur = uint64(free) + 1
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
			return err
		}
	}
	s, err := w.Alloc(1 << 16)
	if w.rank == 1 {
		err = errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	}
	if err != nil {
		return err
	}
	for rank := range w.size {
		text, err := w.Default().Explain(s.At(rank, 0))
		want, why := "mapped: ", ""
		switch {
		case rank == w.rank:
			want = "own memory"
		case w.rank == 1:
			want, why = "by messages, since it cannot be mapped: ", "too many open files"
		}
		if err != nil || !strings.Contains(text, want) || !strings.Contains(text, why) {
			return fmt.Errorf("%q, %w, want %q, %q", text, err, want, why)
		}
	}
	d, next := w.Default(), s.At((w.rank+1)%w.size, 0)
	got := make([]byte, 3)
	if err := errors.Join(d.Put(next, []byte("abc")), d.Get(got, next), w.barrier()); err != nil || string(got) != "abc" || string(s.Bytes()[:3]) != "abc" {
		return fmt.Errorf("%q, %w", got, err)
	}
	return s.Free()
}

// stopped has rank 1 stop when it is about to have the kernel copy into memory of rank 0, which takes it for lost,
// and closes the memory: when it is continued it writes nothing there.
func stopped(w *World, _ int) error {
	b := make([]byte, 1<<20)
	r, err := w.Register(b)
	if err != nil {
		return err
	}
	at, err := w.tell(r.Ref(0))
	if err != nil {
		return err
	}
	if w.rank == 1 {
		return errors.Join(w.Default().Put(at, bytes.Repeat([]byte{1}, len(b))), errors.New("it was not stopped, or not ended"))
	}
	for w.peers[1].lost.Load() == nil {
		marcel.Sleep(time.Millisecond)
	}
	pid := int(w.peers[1].pid)
	if err := r.Close(); err != nil {
		return err
	}
	_ = syscall.Kill(pid, syscall.SIGCONT) // it may be gone
	for began := time.Now(); time.Since(began) < 100*time.Millisecond && bytes.Equal(b, make([]byte, len(b))); {
		marcel.Sleep(time.Millisecond)
	}
	if !bytes.Equal(b, make([]byte, len(b))) {
		return errors.New("a process that was taken for lost has written into memory that was closed")
	}
	fmt.Println("survived")
	_ = w.s.Close() // of the process that was lost
	os.Exit(0)
	return nil
}

// TestStopped: memory is closed though a process that is taken for lost is inside of a copy.
func TestStopped(t *testing.T) {
	out := &lines{}
	to := func(int) io.Writer { return out }
	j, err := launch.Start(launch.Spec{N: 2, Driver: "shm", Heartbeat: 300 * time.Millisecond, Stdout: to, Stderr: to, Grace: 30 * time.Second, Env: []string{modeVariable + "=stopped inside 0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Kill)
	if err := j.Wait(); err == nil || !strings.Contains(err.Error(), "signal 9") || !strings.Contains(out.String(), "survived") {
		t.Errorf("%v\n%s", err, out)
	}
}

// tell gives a Ref to the next rank, and gets that of the one before.
func (w *World) tell(at Ref) (Ref, error) {
	b, _ := at.AppendBinary(nil)
	in := make([]byte, RefBytes)
	next, before := w.s.Gate((w.rank+1)%w.size), w.s.Gate((w.rank+w.size-1)%w.size)
	send, receive := before.Isend(1, b), next.Irecv(1, in)
	if err := errors.Join(send.Wait(), receive.Wait()); err != nil {
		return Ref{}, err
	}
	return ParseRef(in)
}

// conform puts to memory of all kinds of the next rank, and does what is drawn.
func conform(w *World, rounds int) error {
	const room = 4<<20 + 8192
	s, err := w.Alloc(room)
	if err != nil {
		return err
	}
	m, err := w.Make(room)
	if err != nil {
		return err
	}
	r, err := w.Register(make([]byte, room+1)[1:])
	if err != nil {
		return err
	}
	d := w.Default()
	for _, at := range []Ref{s.At(w.rank, 0), m.Ref(0), r.Ref(0)} {
		next, err := w.tell(at)
		if err != nil {
			return err
		}
		if err := everyForm(d, next, nil, w.rank, rounds > 200); err != nil {
			return err
		}
		if err := atomicsOf(d, next.Add(7), 1, rand.Uint64, nil); !errors.Is(err, ErrAlign) && at != r.Ref(0) {
			return fmt.Errorf("not aligned: %w", err)
		}
	}
	if l := w.Limits(); l.Regions != 2 || l.Segments != 1 {
		return fmt.Errorf("%+v", l)
	}
	if err := errors.Join(w.barrier(), m.Close(), r.Close(), s.Free()); err != nil {
		return err
	}
	const length = 20_000
	if s, err = w.Alloc(64 + length*w.size); err != nil {
		return err
	}
	var stripes []*stripe
	for rank := range w.size {
		stripes = append(stripes, &stripe{at: s.At(rank, uint64(64+w.rank*length)), model: make([]byte, length)})
	}
	var sums [8]int64
	return drawn(d, stripes, s, &sums, rounds, rand.New(rand.NewPCG(7, uint64(w.rank))))
}

// barrier is one of all processes.
func (w *World) barrier() error {
	w.collect.Lock()
	defer w.collect.Unlock()
	_, err := w.agree(collectiveRecord{}, nil)
	return err
}

// sleepy signals to all others at drawn times, so that waiters sleep, or are about to: no signal is lost.
func sleepy(w *World, rounds int) error {
	s, err := w.Alloc(64 * w.size)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	d, draw := w.Default(), rand.New(rand.NewPCG(9, uint64(w.rank)))
	for i := range rounds {
		if draw.IntN(2) == 0 {
			for began := asm.Cycles(); asm.Nanos(asm.Cycles()-began) < draw.Int64N(60_000); {
				asm.Pause()
			}
		}
		for rank := range w.size {
			at := s.At(rank, uint64(64*w.rank))
			if err := d.PutSignal(at, nil, at, SignalAdd, 1); err != nil {
				return err
			}
		}
		for rank := range w.size {
			if _, err := d.WaitSignal(ctx, s.At(w.rank, uint64(64*rank)), GE, uint64(i+1)); err != nil {
				return fmt.Errorf("round %d, from rank %d: %w", i, rank, err)
			}
		}
	}
	return nil
}

// figures times what aims name, and says it: nanoseconds, the median of some.
func figures(w *World, rounds int) error {
	s, err := w.Alloc(4 << 20)
	if err != nil {
		return err
	}
	d, peer, ctx := w.Default(), 1-w.rank, context.Background()
	const data, signal = 128, 0
	oneWay := func(name string, at uint64) error {
		src := make([]byte, 8)
		base, err := Load[uint64](d, s.At(w.rank, signal))
		if err := errors.Join(err, w.barrier()); err != nil {
			return err
		}
		var began int64
		for i := range rounds + rounds/10 {
			if i == rounds/10 {
				began = asm.Cycles()
			}
			for turn := range 2 {
				if turn == w.rank {
					if err := d.PutSignal(s.At(peer, at), src, s.At(peer, signal), SignalAdd, 1); err != nil {
						return err
					}
				} else if _, err := d.WaitSignal(ctx, s.At(w.rank, signal), GE, base+uint64(i+1)); err != nil {
					return err
				}
			}
		}
		w.say(name, asm.Nanos(asm.Cycles()-began)*10/int64(2*rounds))
		return nil
	}
	if theirs, ok := d.Local(s.At(peer, 1024), 64); ok { // the raw line, there and back
		from, to := word(s.Bytes()[1024:]), word(theirs)
		if err := w.barrier(); err != nil {
			return err
		}
		began := asm.Cycles()
		for i := range uint64(rounds) {
			for turn := range 2 {
				if turn == w.rank {
					to.Store(i + 1)
				} else {
					for looks := 0; from.Load() != i+1; looks++ {
						giveWay(looks)
					}
				}
			}
		}
		w.say("raw line, one way", asm.Nanos(asm.Cycles()-began)*10/int64(2*rounds))
	}
	if err := errors.Join(oneWay("8 B and signal, one line, one way", 8), oneWay("8 B and signal, two lines, one way", data)); err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	if w.rank == 0 {
		at := s.At(1, 4096)
		plain, ok := d.Local(s.At(1, 0), 4<<20)
		if !ok {
			plain = make([]byte, 4<<20)
		}
		for _, x := range []struct {
			name string
			f    func() error
		}{
			{"put 8 B", func() error { return d.Put(at, buf[:8]) }},
			{"put 8 B, flush", func() error { return errors.Join(d.PutNBI(at, buf[:8]), d.Flush(1)) }},
			{"get 8 B, flush", func() error { return errors.Join(d.GetNBI(buf[:8], at), d.Flush(1)) }},
			{"get 8 B", func() error { return d.Get(buf[:8], at) }},
			{"fetch add", func() error { return second(Fetch(d, Add, at, int64(1))) }},
			{"compare and swap", func() error { return second(CompareAndSwap(d, at, 1, uint64(2))) }},
			{"put 64 KiB", func() error { return d.Put(at, buf[:64<<10]) }},
			{"put 1 MiB", func() error { return d.Put(at, buf) }},
			{"plain copy of 1 MiB", func() error { copy(plain[4096:], buf); return nil }},
			{"put 1 MiB at 1", func() error { return d.Put(at.Add(1), buf) }},
			{"plain copy of 1 MiB at 1", func() error { copy(plain[4097:], buf); return nil }},
			{"put 1 MiB at 33", func() error { return d.Put(at.Add(33), buf) }},
			{"plain copy of 1 MiB at 33", func() error { copy(plain[4129:], buf); return nil }},
		} {
			n := rounds/100 + 1
			best := int64(1 << 60)
			for range 11 {
				began := asm.Cycles()
				for range n {
					if err := x.f(); err != nil {
						return err
					}
				}
				best = min(best, asm.Nanos(asm.Cycles()-began)*10/int64(n))
			}
			w.say(x.name, best)
		}
	}
	return w.barrier()
}

// say writes tenths of nanoseconds.
func (w *World) say(name string, tenths int64) {
	if w.rank == 0 {
		fmt.Printf("%-36s %8.1f ns\n", name, float64(tenths)/10)
	}
}

// victim has rank 0 put, get and wait until rank 1, which is killed, is lost; and then go on with what it has.
func victim(w *World, _ int) error {
	s, err := w.Alloc(16 << 20)
	if err != nil {
		return err
	}
	d := w.Default()
	if w.rank == 1 {
		copy(s.Bytes(), "what is left")
		if err := w.barrier(); err != nil {
			return err
		}
		fmt.Println("ready")
		marcel.Blocking(func() { time.Sleep(time.Minute) })
		return errors.New("the victim was not killed")
	}
	if err := w.barrier(); err != nil {
		return err
	}
	at, buf := s.At(1, 4096), make([]byte, 8<<20)
	var lost error
	for i := 0; lost == nil; i++ {
		switch i % 4 {
		case 0:
			lost = d.Put(at, buf)
		case 1:
			lost = errors.Join(d.PutNBI(at, buf), d.GetNBI(buf, at), UpdateNBI(d, Add, at, int64(1)), d.Flush(1))
		case 2:
			_, lost = Fetch(d, Add, at, int64(1))
		default:
			lost = d.PutSignal(at, buf[:8], at.Add(8), SignalAdd, 1)
		}
	}
	wrong := func(what string, err error) error {
		var peer *nmad.PeerError
		if !errors.As(err, &peer) || peer.Rank != 1 || !errors.Is(err, nmad.ErrPeerLost) {
			return fmt.Errorf("%s ends with %w", what, err)
		}
		return nil
	}
	var e Event
	_, waited := d.WaitSignal(context.Background(), s.At(0, 0), GE, 1)
	if err := errors.Join(wrong("the first", lost), wrong("a put", d.Put(at, buf)), wrong("an atomic", second(Load[int64](d, at))),
		wrong("an event's", d.PutNB(at, buf, &e, nil)), wrong("a wait", waited)); err != nil {
		return err
	}
	if b, ok := d.Local(s.At(1, 0), 12); w.peers[1].page != nil && (!ok || string(b) != "what is left") {
		return fmt.Errorf("what it had is %q, %v", b, ok)
	}
	if err := d.Put(s.At(0, 0), buf); err != nil {
		return err
	}
	err = w.Close()
	fmt.Println("survived", err)
	os.Exit(0)
	return nil
}

// TestVictim: a process is killed while operations to it are under way.
func TestVictim(t *testing.T) {
	for _, y := range strings.Fields("shm/mapped shm/apart tcp/mapped unix/mapped" + processesBuiltIn) {
		driver, how, _ := strings.Cut(y, "/")
		t.Run(y, func(t *testing.T) {
			for range effort.Of(10) {
				j, out := start(t, driver, 2, "victim", how, 0)
				for began := time.Now(); !strings.Contains(out.String(), "ready"); time.Sleep(time.Millisecond) {
					if time.Since(began) > 30*time.Second {
						t.Fatalf("not ready: %s", out)
					}
				}
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // into the middle
				if err := syscall.Kill(j.PID(1), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				if err := j.Wait(); err == nil || !strings.Contains(out.String(), "survived") {
					t.Fatalf("%v\n%s", err, out)
				}
			}
		})
	}
}
