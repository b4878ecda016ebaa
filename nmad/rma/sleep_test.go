package rma

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

// TestSleeps: threads that sleep for a signal, some for the same word, are woken by signals of any process, and by
// none that is for another word; and the word "sleeping" is 0 in the end.
func TestSleeps(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		s := segments(t, worlds, 4096)
		ctx := patience(t)
		const waiters = 5
		w := worlds[0]
		sleeping := w.peers[0].page.sleeping()
		for i := range effort.Of(200) {
			want := uint64(i + 1)
			ended := make(chan error)
			for k := range waiters {
				go func() {
					word, err := w.Default().WaitSignal(ctx, s[0].At(0, uint64(8*(k%3))), GE, want)
					if err == nil && word < want {
						err = fmt.Errorf("%d, want %d", word, want)
					}
					ended <- err
				}()
			}
			for sleeping.Load() < waiters && i%2 == 0 { // else it comes at any moment
				runtime.Gosched()
			}
			d := worlds[(i+1)%len(worlds)].Default()
			for k := range 3 {
				at := s[(i+1)%len(worlds)].At(0, uint64(8*k))
				if err := d.PutSignal(at, nil, at, SignalAdd, 1); err != nil {
					t.Fatal(err)
				}
			}
			for range waiters {
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := sleeping.Load(); n != 0 {
			t.Errorf("%d sleep", n)
		}
	})
}

// TestClosedWhileAsleep: a wait ends when its memory is closed.
func TestClosedWhileAsleep(t *testing.T) {
	worlds := job(t, "shm", 1, options{})
	w := worlds[0]
	r, err := w.Make(8)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- second(w.Default().WaitSignal(context.Background(), r.Ref(0), NE, 0)) }()
	for w.peers[0].page.sleeping().Load() == 0 {
		runtime.Gosched()
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, ErrKey) {
		t.Error(err)
	}
}

// selects has events of operations in a Select, from a thread; one without an operation counts as done.
func selects(w *World, rounds int) error {
	s, err := w.Alloc(1 << 20)
	if err != nil || w.rank > 0 {
		return err
	}
	var none, put, get Event
	d, buf := w.Default(), make([]byte, 1<<20)
	if marcel.Select(none.Case()) != 0 {
		return errors.New("an event without an operation")
	}
	for range rounds {
		if err := errors.Join(d.PutNB(s.At(1, 0), buf, nil, &put), d.GetNB(buf[:8], s.At(1, 8), &get)); err != nil {
			return err
		}
		first := marcel.Select(put.Case(), get.Case())
		if over, err := []*Event{&put, &get}[first].Test(); !over || err != nil {
			return fmt.Errorf("event %d: %v, %w", first, over, err)
		}
		if err := errors.Join(put.Wait(), get.Wait(), get.WaitContext(context.Background())); err != nil {
			return err
		}
	}
	return nil
}

// TestKernelCopies: memory that was registered is reached by the kernel's copies, in rounds with messages where these
// are refused.
func TestKernelCopies(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		worlds := job(t, "shm", 2, options{refuses: refuses})
		r, err := worlds[1].Register(make([]byte, 100_000))
		if err != nil {
			t.Fatal(err)
		}
		if err := worlds[0].Default().Put(r.Ref(1), make([]byte, 90_000)); err != nil {
			t.Fatal(err)
		}
		p := &worlds[0].peers[1]
		if way := p.kernel.Load(); (way == kernelCopies) == refuses {
			t.Errorf("refused %v: way %d; a sandbox?", refuses, way)
		}
		if n := p.number.Load(); (n == 1) == refuses {
			t.Errorf("refused %v: %d requests", refuses, n)
		}
	}
}

// TestComputes: a process that computes, and calls nothing, is reached all the same: its engine's hooks answer.
func TestComputes(t *testing.T) {
	worlds := job(t, "tcp", 2, options{})
	s := segments(t, worlds, 1<<20)
	stop, computes := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				computes <- n
				return
			default:
				n++
			}
		}
	}()
	d, ended := worlds[0].Default(), make(chan error)
	go func() {
		_, err := Fetch(d, Add, s[0].At(1, 0), int64(1))
		ended <- errors.Join(err, d.Put(s[0].At(1, 8), make([]byte, 900_000)))
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no answer")
	}
	close(stop)
	<-computes
}
