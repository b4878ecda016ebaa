package marcel_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

// lock is what all locks have in common.
type lock interface {
	sync.Locker
	TryLock() bool
	LockTimeout(time.Duration) bool
	LockContext(context.Context) error
}

// reading is an RWMutex of which the other side is tested.
type reading struct{ *marcel.RWMutex }

func (r reading) Lock()                                 { r.RLock() }
func (r reading) TryLock() bool                         { return r.TryRLock() }
func (r reading) LockTimeout(d time.Duration) bool      { return r.RLockTimeout(d) }
func (r reading) LockContext(ctx context.Context) error { return r.RLockContext(ctx) }
func (r reading) Unlock()                               { r.RUnlock() }

var locks = map[string]func() lock{
	"Mutex":          func() lock { return new(marcel.Mutex) },
	"RecursiveMutex": func() lock { return new(marcel.RecursiveMutex) },
	"RWMutex":        func() lock { return new(marcel.RWMutex) },
	"SpinLock":       func() lock { return new(marcel.SpinLock) },
}

// eachLock runs the test for each kind; work is what a holder of it may do.
func eachLock(t *testing.T, test func(t *testing.T, fresh func() lock, work func(*rand.Rand))) {
	t.Helper()
	for name, fresh := range locks {
		work := whatHoldersDo
		if name == "SpinLock" {
			work = func(r *rand.Rand) { // neither wait nor yield
				if r.IntN(200) == 0 {
					compute(30 * time.Microsecond)
				}
			}
		}
		t.Run(name, func(t *testing.T) { test(t, fresh, work) })
	}
}

// attempt locks in one of the forms, and tells whether it could.
func attempt(l lock, r *rand.Rand) bool {
	d := time.Duration(r.IntN(60)) * time.Microsecond
	switch r.IntN(8) {
	case 0:
		return l.TryLock()
	case 1:
		return l.LockTimeout(d)
	case 2:
		return shortly(d, l.LockContext) == nil
	default:
		l.Lock()
		return true
	}
}

// Never two inside, and no update is lost, whatever holders do inside; in the end
// it is free, so none that gave up has taken it along.
func TestLocksExclude(t *testing.T) {
	eachLock(t, func(t *testing.T, fresh func() lock, work func(*rand.Rand)) {
		worlds(t, func(w *world) {
			const parties = 8
			var (
				l      = fresh()
				inside atomic.Int32
				count  int // guarded by l
				want   atomic.Int64
			)
			for i := range parties {
				w.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 2))
					for range effort.Of(1000) {
						if !attempt(l, r) {
							continue
						}
						if inside.Add(1) != 1 {
							w.Error("not alone")
						}
						c := count
						work(r)
						count = c + 1
						want.Add(1)
						inside.Add(-1)
						l.Unlock()
					}
				})
			}
			w.all.Wait()
			if int64(count) != want.Load() {
				w.Errorf("%d updates, %d are left", want.Load(), count)
			}
			if !l.TryLock() {
				w.Error("still locked")
			}
		})
	})
}

func TestLocksAreLinearizable(t *testing.T) {
	eachLock(t, func(t *testing.T, fresh func() lock, work func(*rand.Rand)) {
		worlds(t, func(w *world) {
			for round := range effort.Of(60) {
				var (
					h    history
					l    = fresh()
					done sync.WaitGroup
				)
				done.Add(clients)
				for id := range clients {
					w.Go(func() {
						defer done.Done()
						r := rand.New(rand.NewPCG(uint64(id), uint64(round)))
						for range calls {
							d := time.Duration(r.IntN(60)) * time.Microsecond
							got := false
							switch r.IntN(5) {
							case 0:
								got = h.do(id, "TryLock", l.TryLock)
							case 1:
								got = h.do(id, "LockTimeout", func() bool { return l.LockTimeout(d) })
							case 2:
								got = h.do(id, "LockContext", func() bool { return shortly(d, l.LockContext) == nil })
							default:
								got = h.do(id, "Lock", func() bool { l.Lock(); return true })
							}
							if !got {
								continue
							}
							work(r)
							h.do(id, "Unlock", func() bool { l.Unlock(); return true })
						}
					})
				}
				done.Wait()
				h.check(w, mutexModel())
			}
		})
	})
}

// What each form does with a free lock, with a taken one, and when it is too late.
func TestLockForms(t *testing.T) {
	eachForm := func(t *testing.T, mine, other lock) {
		elsewhere := func(f func()) { // the owner of a RecursiveMutex matters
			done := make(chan bool)
			go func() { defer close(done); f() }()
			<-done
		}
		cause := errors.New("enough")
		over, end := context.WithCancelCause(context.Background())
		end(cause)
		for name, take := range map[string]func() bool{
			"Lock":        func() bool { mine.Lock(); return true },
			"TryLock":     mine.TryLock,
			"LockTimeout": func() bool { return mine.LockTimeout(time.Hour) },
			"no time":     func() bool { return mine.LockTimeout(-1) },
			"LockContext": func() bool { return mine.LockContext(context.Background()) == nil },
		} {
			if !take() {
				t.Errorf("%s: a free one was not to be had", name)
				continue
			}
			elsewhere(func() {
				if other.TryLock() {
					t.Errorf("%s: taken, but TryLock took it", name)
				}
			})
			mine.Unlock()
		}
		if err := mine.LockContext(over); !errors.Is(err, cause) {
			t.Errorf("free, but the context is over: %v", err)
		}
		locked, free := make(chan bool), make(chan bool)
		go func() { other.Lock(); close(locked); <-free; other.Unlock() }()
		<-locked
		for _, d := range []time.Duration{-1, 0, 50 * time.Microsecond, 2 * time.Millisecond} {
			begin := time.Now()
			if mine.LockTimeout(d) {
				t.Errorf("%v: locked twice", d)
			}
			if took := time.Since(begin); took < d {
				t.Errorf("%v: over after %v", d, took)
			}
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Millisecond, func() { cancel(cause) })
		if err := mine.LockContext(ctx); !errors.Is(err, cause) {
			t.Errorf("the context is over: %v", err)
		}
		if err := shortly(time.Millisecond, mine.LockContext); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the deadline is over: %v", err)
		}
		close(free)
		if !mine.LockTimeout(patience) {
			t.Error("was not to be had when it was free again")
		}
		mine.Unlock()
	}
	for name, fresh := range locks {
		t.Run(name, func(t *testing.T) {
			onThreadAndOff(t, func(t *testing.T) { l := fresh(); eachForm(t, l, l) })
		})
	}
	t.Run("reading", func(t *testing.T) {
		onThreadAndOff(t, func(t *testing.T) { m := new(marcel.RWMutex); eachForm(t, reading{m}, m) })
	})
	t.Run("writing against readers", func(t *testing.T) {
		onThreadAndOff(t, func(t *testing.T) { m := new(marcel.RWMutex); eachForm(t, m, reading{m}) })
	})
}

// Misuse comes out as a panic that a thread may recover from: nothing is left
// half done.
func TestLockMisuse(t *testing.T) {
	eachLock(t, func(t *testing.T, fresh func() lock, _ func(*rand.Rand)) {
		onThreadAndOff(t, func(t *testing.T) {
			l := fresh()
			panics(t, "marcel: ", l.Unlock)
			l.Lock()
			computed.Add(1)
			l.Unlock()
			panics(t, "marcel: ", l.Unlock)
			var none context.Context
			panics(t, "nil pointer", func() { _ = l.LockContext(none) })
			if !l.TryLock() {
				t.Error("locked by an Unlock too many")
			}
			if marcel.OnThread() {
				must(t, marcel.Spawn(func() {}).Join()) // the VP is in order
			}
		})
	})
}
