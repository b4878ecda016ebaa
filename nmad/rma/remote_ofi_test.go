//go:build ofi && cgo && linux

package rma

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

func init() {
	acts["bereaved"], acts["frozen"] = bereaved, frozen
}

// TestRemoteWays: which operations go by the network itself. The first answer by messages brings the key.
func TestRemoteWays(t *testing.T) {
	worlds := job(t, "ofi:tcp", 3, options{})
	s := segments(t, worlds, 1<<20)
	r, err := worlds[2].Register(make([]byte, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	d, v := worlds[0].Default(), &worlds[0].peers[2].ways
	long, short := make([]byte, 100_000), make([]byte, 100)
	for kind, at := range map[string]Ref{"segment": s[0].At(2, 0), "registered": r.Ref(0)} {
		var e Event
		for i, x := range []struct {
			what string
			want uint64 // operations by the network
			f    func() error
		}{
			{"a short put", 0, func() error { return d.Put(at, short) }},
			{"a put", 1, func() error { return d.Put(at, long) }},
			{"a get", 1, func() error { return d.Get(long, at) }},
			{"a short get", 0, func() error { return d.Get(short, at) }},
			{"PutNB", 1, func() error { return errors.Join(d.PutNB(at, long, nil, &e), e.Wait()) }},
			{"GetNB", 1, func() error { return errors.Join(d.GetNB(long, at, &e), e.Wait()) }},
			{"PutNBI, GetNBI", 2, func() error { return errors.Join(d.PutNBI(at, long), d.Fence(), d.GetNBI(long, at), d.Flush(2)) }},
			{"PutSignal", 1, func() error { return d.PutSignal(at, long, at.Add(200_000), SignalAdd, 1) }},
			{"atomics", 0, func() error {
				return errors.Join(UpdateNBI(d, Add, at, int64(1)), CombineNBI(d, Add, at, make([]int64, 1000), nil), d.Flush(2), second(Fetch(d, Add, at, int64(1))))
			}},
		} {
			before := v.moves.Load()
			if err := x.f(); err != nil || v.moves.Load()-before != x.want {
				t.Errorf("%s, %d, %s: %d by the network, want %d; %v", kind, i, x.what, v.moves.Load()-before, x.want, err)
			}
		}
		if text, err := d.Explain(at); err != nil || !strings.Contains(text, "by the network itself") {
			t.Errorf("%q, %v", text, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Put(r.Ref(0), long); !errors.Is(err, ErrKey) {
		t.Errorf("a put to memory that was closed: %v", err)
	}
	if len(v.known) != 1 || len(worlds[2].peers[0].ways.taught) != 1 {
		t.Errorf("%d keys are known, and %d in use; want that of the segment", len(v.known), len(worlds[2].peers[0].ways.taught))
	}
}

// TestRemoteClosing: memory is closed while all others put and get there, and learn its key: no byte comes there any
// more, and the operations end well, or with ErrKey.
func TestRemoteClosing(t *testing.T) {
	worlds := job(t, "ofi:tcp", 3, options{remoteFrom: 1})
	memory := make([]byte, 1<<20)
	w := worlds[0]
	var at atomic.Pointer[Ref]
	var over atomic.Bool
	ended := make(chan error)
	for _, x := range worlds[1:] {
		go func() {
			draw := rand.New(rand.NewPCG(11, uint64(x.rank)))
			buf := bytes.Repeat([]byte{byte(x.rank)}, len(memory))
			for !over.Load() {
				n := 1 + draw.IntN(len(memory))
				ref, d := at.Load(), x.Default()
				if ref == nil {
					marcel.Yield()
					continue
				}
				var err error
				switch draw.IntN(4) {
				case 0:
					err = d.Put(*ref, buf[:n])
				case 1:
					err = d.Get(make([]byte, n), *ref)
				case 2:
					err = errors.Join(d.PutNBI(*ref, buf[:n]), d.PutNBI(*ref, buf[:n%100]), d.Flush(0))
				default:
					err = d.PutSignal(ref.Add(8), buf[:n-1-(n-1)%8], *ref, SignalAdd, 1)
				}
				if errors.Is(err, ErrRange) { // the last form reaches beyond the end
					err = nil
				}
				if err != nil && !errors.Is(err, ErrKey) {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	draw := rand.New(rand.NewPCG(12, 0))
	moves := func() uint64 { return worlds[1].peers[0].ways.moves.Load() + worlds[2].peers[0].ways.moves.Load() }
	for i := 0; i < effort.Of(300) || moves() == 0; i++ {
		g, err := w.Register(memory)
		if err != nil {
			t.Fatal(err)
		}
		ref := g.Ref(0)
		at.Store(&ref)
		for began := time.Now(); time.Since(began) < time.Duration(draw.IntN(5000))*time.Microsecond; marcel.Yield() {
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		clear(memory)
		for began := time.Now(); time.Since(began) < time.Duration(draw.IntN(1000))*time.Microsecond; marcel.Yield() {
		}
		if !bytes.Equal(memory, make([]byte, len(memory))) {
			t.Fatalf("round %d: bytes have come to memory that was closed", i)
		}
	}
	over.Store(true)
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Error(err)
	}
}

// bereaved has three processes put to and get from each other's memory until rank 1 is killed: what goes there then
// fails, and the others go on.
func bereaved(w *World, _ int) error {
	const length = 16 << 20
	s, err := w.Alloc(length)
	if err != nil {
		return err
	}
	r, err := w.Register(make([]byte, length))
	if err != nil {
		return err
	}
	next, err := w.tell(r.Ref(0))
	if err != nil {
		return err
	}
	d, buf := w.Default(), make([]byte, length)
	for range 2 {
		for rank := range w.size {
			if err := errors.Join(d.Put(s.At(rank, 0), buf[:1<<20]), d.Put(next, buf[:1<<20])); err != nil {
				return err
			}
		}
	}
	if n := w.peers[(w.rank+1)%w.size].ways.moves.Load(); n == 0 {
		return errors.New("nothing goes by the network itself")
	}
	if err := w.barrier(); err != nil {
		return err
	}
	if w.rank == 1 {
		fmt.Println("ready")
	}
	var lost error
	for i := 0; lost == nil; i++ {
		for rank := range w.size {
			at := s.At(rank, 0)
			switch i % 4 {
			case 0:
				err = d.Put(at, buf)
			case 1:
				err = d.Get(buf, at)
			case 2:
				err = errors.Join(d.PutNBI(at, buf), d.GetNBI(buf[:length/2], at), d.Flush(rank))
			default:
				err = d.PutSignal(at.Add(8), buf[8:], at, SignalAdd, 1)
			}
			if err != nil && rank != 1 {
				return fmt.Errorf("to rank %d: %w", rank, err)
			}
			lost = errors.Join(lost, err)
		}
	}
	var peer *nmad.PeerError
	if !errors.As(lost, &peer) || peer.Rank != 1 || !errors.Is(lost, nmad.ErrPeerLost) {
		return fmt.Errorf("it ends with %w", lost)
	}
	other := 2 - w.rank
	if err := errors.Join(d.Put(s.At(other, 0), buf), d.Get(buf, s.At(other, 0)), r.Close()); err != nil {
		return err
	}
	_ = w.Close()
	fmt.Println("survived", w.rank)
	_ = w.s.Close()
	os.Exit(0)
	return nil
}

// TestBereaved: a process is killed while others put and get there, and it does so itself.
func TestBereaved(t *testing.T) {
	for range effort.Of(10) {
		j, out := start(t, "ofi:tcp", 3, "bereaved", "mapped", 0)
		for began := time.Now(); !strings.Contains(out.String(), "ready"); time.Sleep(time.Millisecond) {
			if time.Since(began) > 30*time.Second {
				t.Fatalf("not ready: %s", out)
			}
		}
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) // into the middle
		if err := syscall.Kill(j.PID(1), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := j.Wait(); err == nil || strings.Count(out.String(), "survived") != 2 {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// frozen has rank 2 put into memory of rank 0 until it is stopped. Rank 0 takes it for lost, and closes the memory:
// when rank 2 is continued, no byte comes there.
func frozen(w *World, _ int) error {
	b := make([]byte, 64<<20)
	r, err := w.Register(b)
	if err != nil {
		return err
	}
	at, err := w.tell(r.Ref(0))
	if err != nil {
		return err
	}
	other := at // of rank 1, for rank 0
	switch w.rank {
	case 2:
		fmt.Printf("pid %d\n", os.Getpid())
		src := bytes.Repeat([]byte{1}, len(b))
		for err == nil {
			err = errors.Join(w.Default().PutNBI(at, src), w.Default().PutNBI(at, src), w.Default().Put(at, src))
		}
		if !errors.Is(err, nmad.ErrPeerLost) {
			return err
		}
		os.Exit(0)
	case 1:
		_ = errors.Join(w.Close(), w.s.Close()) // rank 0 is through then
		os.Exit(0)
	}
	for w.peers[2].lost.Load() == nil {
		marcel.Sleep(time.Millisecond)
	}
	if err := r.Close(); err != nil {
		return err
	}
	clear(b)
	fmt.Println("closed")
	for began := time.Now(); time.Since(began) < time.Second; { // rank 2 is continued meanwhile
		if _, err := Load[int64](w.Default(), other); err != nil {
			return err
		}
	}
	if !bytes.Equal(b, make([]byte, len(b))) {
		return errors.New("a process that was taken for lost has written into memory that was closed")
	}
	fmt.Println("survived")
	_ = w.Close()
	_ = w.s.Close()
	os.Exit(0)
	return nil
}

// TestFrozen: memory is closed though a process that is taken for lost is in the middle of a put.
func TestFrozen(t *testing.T) {
	out := &lines{}
	to := func(int) io.Writer { return out }
	j, err := launch.Start(launch.Spec{N: 3, Driver: "ofi:tcp", Heartbeat: 300 * time.Millisecond, Stdout: to, Stderr: to, Grace: 30 * time.Second, Env: []string{modeVariable + "=frozen mapped 0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Kill)
	await := func(text string) {
		for began := time.Now(); !strings.Contains(out.String(), text); time.Sleep(time.Millisecond) {
			if time.Since(began) > 30*time.Second {
				t.Fatalf("no %q: %s", text, out)
			}
		}
	}
	await("pid")
	time.Sleep(time.Duration(50+rand.IntN(50)) * time.Millisecond)
	if err := syscall.Kill(j.PID(2), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await("closed")
	_ = syscall.Kill(j.PID(2), syscall.SIGCONT) // it may have been ended
	err = j.Wait()
	t.Logf("%v\n%s", err, out)
	if !strings.Contains(out.String(), "survived") {
		t.Error("rank 0 has not come to its end")
	}
}
