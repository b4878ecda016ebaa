package marcel_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

// It is run once, and the one that has been told that it was finds it ended.
func TestOnce(t *testing.T) {
	worlds(t, func(w *world) {
		for range effort.Of(100) {
			var (
				o      marcel.Once
				runs   atomic.Int32
				result int
				begin  = marcel.NewBarrier(6)
				end    = marcel.NewBarrier(7)
			)
			for i := range 6 {
				w.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 12))
					f := func() {
						runs.Add(1)
						marcel.Yield()
						result = 42
					}
					d := time.Duration(r.IntN(60)) * time.Microsecond
					begin.Wait()
					ok := true
					switch r.IntN(4) {
					case 0:
						ok = o.TryDo(f)
					case 1:
						ok = o.DoTimeout(d, f)
					case 2:
						ok = shortly(d, func(ctx context.Context) error { return o.DoContext(ctx, f) }) == nil
					default:
						o.Do(f)
					}
					if ok && result != 42 {
						w.Error("told that it was done, but it was not")
					}
					end.Wait()
				})
			}
			end.Wait()
			o.Do(func() { runs.Add(1) })
			if n := runs.Load(); n != 1 {
				w.Errorf("run %d times", n)
			}
		}
	})
}

// A panic, or the end of the thread, counts as done; its caller alone sees it.
func TestOnceEndsEarly(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		again := func() { t.Error("run again") }
		for name, do := range map[string]func(*marcel.Once, func()){
			"Do":        (*marcel.Once).Do,
			"TryDo":     func(o *marcel.Once, f func()) { o.TryDo(f) },
			"DoTimeout": func(o *marcel.Once, f func()) { o.DoTimeout(time.Hour, f) },
			"DoContext": func(o *marcel.Once, f func()) { _ = o.DoContext(context.Background(), f) },
		} {
			var o, p marcel.Once
			panics(t, "oops", func() { do(&o, func() { panic("oops") }) })
			do(&o, again)
			x := marcel.Spawn(func() { do(&p, marcel.Exit); t.Errorf("%s: went on", name) })
			must(t, x.Join())
			do(&p, again)
			done := make(chan bool)
			q := new(marcel.Once)
			go func() { defer close(done); do(q, func() { marcel.Exit() }) }()
			<-done
			do(q, again)
		}
	})
}

// Those that do not want to wait for another one's function need not.
func TestOnceForms(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var o marcel.Once
		running, end := make(chan bool), make(chan bool)
		go o.Do(func() { close(running); <-end })
		<-running
		again := func() { t.Error("run again") }
		if o.TryDo(again) || o.DoTimeout(time.Millisecond, again) {
			t.Error("done, though it still runs")
		}
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { cancel(cause) })
		if err := o.DoContext(ctx, again); !errors.Is(err, cause) {
			t.Errorf("the context is over: %v", err)
		}
		close(end)
		if !o.DoTimeout(patience, again) || !o.TryDo(again) || o.DoContext(t.Context(), again) != nil {
			t.Error("not done, though it has ended")
		}
		if err := o.DoContext(ctx, again); !errors.Is(err, cause) {
			t.Errorf("done, but the context is over: %v", err)
		}
	})
}
