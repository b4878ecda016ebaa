package marcel_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

var errOops = errors.New("oops")

type oddValue struct{ n int }

//go:noinline
func culprit(x any) { panic(x) }

// caught runs f as a thread and returns its panic.
func caught(t *testing.T, f func()) *marcel.PanicError {
	t.Helper()
	err := marcel.SpawnWith(marcel.Attr{Catch: true, Name: "the bad one"}, f).Join()
	var p *marcel.PanicError
	if err != nil && !errors.As(err, &p) {
		t.Errorf("Join returned %T, want a *PanicError", err)
	}
	return p
}

func TestCatch(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		for name, x := range map[string]any{
			"string": "oops", "error": errOops, "odd": oddValue{7}, "wrapped": fmt.Errorf("really: %w", errOops),
		} {
			p := caught(t, func() { marcel.Yield(); culprit(x) })
			if p == nil {
				t.Errorf("%s: no error from Join", name)
				continue
			}
			if p.Value != x {
				t.Errorf("%s: value %v", name, p.Value)
			}
			if err, ok := x.(error); ok != (errors.Unwrap(p) != nil) || ok && (!errors.Is(p, errOops) || errors.Unwrap(p) != err) {
				t.Errorf("%s: unwraps to %v", name, errors.Unwrap(p))
			}
			if !bytes.Contains(p.Stack, []byte("marcel_test.culprit")) {
				t.Errorf("%s: not the thread's stack:\n%s", name, p.Stack)
			}
			if text := p.Error(); !strings.Contains(text, "the bad one") || !strings.Contains(text, fmt.Sprint(x)) || !strings.Contains(text, "culprit") {
				t.Errorf("%s: the message lacks something: %s", name, text)
			}
		}
	})
}

func TestCatchRuntimeErrors(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var (
			null  *oddValue
			none  []int
			table map[int]int
			zero  int
			any   any = "text"
			five      = 5
			c         = make(chan int)
		)
		close(c)
		for text, f := range map[string]func(){
			"nil pointer dereference": func() { five = null.n },
			"index out of range":      func() { five = none[five] },
			"nil map":                 func() { table[1] = 1 },
			"divide by zero":          func() { five /= zero },
			"interface conversion":    func() { five = any.(int) },
			"closed channel":          func() { c <- 1 },
			"nil argument":            func() { panic(nil) },
		} {
			p := caught(t, f)
			var re runtime.Error
			if p == nil || !errors.As(p, &re) || !strings.Contains(p.Error(), text) {
				t.Errorf("%s: Join returned %v", text, p)
			}
		}
		var gone *runtime.PanicNilError
		if p := caught(t, func() { panic(nil) }); !errors.As(p, &gone) {
			t.Errorf("panic(nil): %v", p)
		}
		if p := caught(t, func() { panic(&fs.PathError{Op: "open", Err: fs.ErrNotExist}) }); !errors.Is(p, fs.ErrNotExist) {
			t.Errorf("a wrapped error: %v", p)
		}
	})
}

// Threads' own deferred calls see their panics first, as in any goroutine.
func TestRecoverInside(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		went := 0
		p := caught(t, func() {
			for _, f := range []func(){
				func() { culprit(1) },
				func() { marcel.Yield(); culprit(2) },
				func() { marcel.Blocking(func() { culprit(3) }) },
				func() { marcel.Blocking(func() { marcel.Yield(); culprit(4) }) },
				func() { var m marcel.Mutex; m.Unlock() },
			} {
				panics(t, "", f)
				marcel.Yield() // still a thread like others
				must(t, marcel.Spawn(func() { went++ }).Join())
			}
		})
		if p != nil || went != 5 {
			t.Errorf("after %d recoveries: %v", went, p)
		}
		again := caught(t, func() {
			defer func() {
				culprit(fmt.Errorf("again: %w", recover().(error)))
			}()
			culprit(errOops)
		})
		if again == nil || !errors.Is(again, errOops) || !strings.Contains(again.Error(), "again") {
			t.Errorf("a panic in place of a recovered one: %v", again)
		}
	})
}

// Deferred calls are code like other code: they may wait and be moved.
func TestDeferredCallsOfEndingThreads(t *testing.T) {
	worlds(t, func(w *world) {
		if w.kind == goroutines {
			w.Skip("threads only")
		}
		var ran atomic.Int32
		work := func() {
			var s marcel.Semaphore
			marcel.Yield()
			marcel.Spawn(s.Release)
			s.Acquire()
			marcel.Blocking(runtime.Gosched)
			ran.Add(1)
		}
		n := effort.Of(200)
		for range n {
			for i, end := range []func(){marcel.Exit, func() { culprit(errOops) }} {
				x := w.s.Spawn(marcel.Attr{Catch: true}, func() {
					defer work()
					defer work()
					end()
				})
				w.Go(func() {
					if err := x.Join(); (err == nil) != (i == 0) || i == 1 && !errors.Is(err, errOops) {
						w.Errorf("end %d: %v", i, err)
					}
				})
			}
		}
		w.all.Wait()
		if int(ran.Load()) != 4*n {
			w.Errorf("%d of %d deferred calls ran", ran.Load(), 4*n)
		}
	})
}

// Exit runs deferred calls, ends the thread and no other one, and is no error.
func TestExit(t *testing.T) {
	worlds(t, func(w *world) {
		if w.kind == goroutines {
			done, after := make(chan bool), false
			go func() {
				defer close(done)
				marcel.Exit()
				after = true
			}()
			if <-done; after {
				w.Error("went on after Exit")
			}
			return
		}
		for i := range effort.Of(500) {
			var unwound, after atomic.Bool
			x := w.s.Spawn(marcel.Attr{Catch: i%2 == 0}, func() {
				defer unwound.Store(true)
				func() {
					if i%3 == 0 {
						marcel.Yield()
					}
					if i%5 == 0 {
						marcel.Blocking(marcel.Exit)
					}
					marcel.Exit()
				}()
				after.Store(true)
			})
			w.Go(func() {
				must(w, x.Join())
				if !unwound.Load() || after.Load() {
					w.Errorf("deferred call ran: %v; went on after Exit: %v", unwound.Load(), after.Load())
				}
			})
		}
	})
}

// Exits and panics in each other's deferred calls end as they do in a goroutine.
func TestExitInDeferredCalls(t *testing.T) {
	for name, c := range map[string]struct {
		f    func()
		want error
	}{
		"exit in exit":                 {func() { defer marcel.Exit(); marcel.Exit() }, nil},
		"exit in return":               {func() { defer marcel.Exit() }, nil},
		"exit instead of a panic":      {func() { defer marcel.Exit(); culprit(errOops) }, nil},
		"exit after a recovered panic": {func() { defer func() { _ = recover(); marcel.Exit() }(); culprit(errOops) }, nil},
		"recover finds no exit":        {func() { defer func() { _ = recover() }(); marcel.Exit() }, nil},
		"panic in a panic":             {func() { defer culprit(errOops); culprit(1) }, errOops},
		"panic in return":              {func() { defer culprit(errOops) }, errOops},
		"three exits": {func() {
			defer func() { defer marcel.Exit(); marcel.Exit() }()
			marcel.Exit()
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			onThreadAndOff(t, func(t *testing.T) {
				for range 100 {
					if err := marcel.SpawnWith(marcel.Attr{Catch: true}, c.f).Join(); !errors.Is(err, c.want) {
						t.Fatalf("Join returned %v, want %v", err, c.want)
					}
					must(t, marcel.Spawn(func() { marcel.Yield() }).Join())
				}
			})
		})
	}
}

// Deep stacks, and many ends of all kinds: runners are used again and retired.
func TestManyEnds(t *testing.T) {
	for _, vps := range []int{1, 2, 5} {
		run(t, brisk(vps), func(*sched.Scheduler) {
			var all []marcel.Thread
			for i := range effort.Of(1500) {
				all = append(all, marcel.SpawnWith(marcel.Attr{Catch: true}, func() {
					if i%7 == 0 {
						marcel.Yield()
					}
					down(i%100, func() {
						switch i % 3 {
						case 0:
							marcel.Exit()
						case 1:
							culprit(errOops)
						}
					})
				}))
			}
			for i, x := range all {
				if err := x.Join(); (err != nil) != (i%3 == 1) {
					t.Errorf("thread %d: %v", i, err)
				}
			}
		})
	}
}

//go:noinline
func down(n int, f func()) int {
	if n == 0 {
		f()
		return 0
	}
	return 1 + down(n-1, f)
}
