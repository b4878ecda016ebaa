package marcel_test

import (
	"bytes"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// calledByJoin tells whether the caller runs on the stack of one that has joined it.
func calledByJoin() bool {
	buf := make([]byte, 1<<16)
	return bytes.Contains(buf[:runtime.Stack(buf, false)], []byte("sched.Thread.Join("))
}

// task is a function as a Body.
type task func()

func (f task) Run() { f() }

// A joiner calls a seed that has not started: on its own stack, as the thread
// that it is.
func TestInline(t *testing.T) {
	for name, spawn := range map[string]func(func()) marcel.Thread{
		"SpawnInline":     marcel.SpawnInline,
		"SpawnInlineBody": func(f func()) marcel.Thread { return marcel.SpawnInlineBody(task(f)) },
		"attribute":       func(f func()) marcel.Thread { return marcel.SpawnWith(marcel.Attr{Inline: true}, f) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, calm(), func(*sched.Scheduler) {
				me := marcel.Self()
				var key marcel.Key[string]
				must(t, key.Set("mine"))
				switches := 0
				must(t, marcel.OnSwitch(func() { switches++ }))
				ran := false
				var x marcel.Thread
				x = spawn(func() {
					if marcel.Self() != x || !marcel.OnThread() || marcel.Self() == me {
						t.Errorf("Self is %v, want %v", marcel.Self(), x)
					}
					if !calledByJoin() {
						t.Error("not on the joiner's stack")
					}
					if _, ok := key.Get(); ok {
						t.Error("it sees its joiner's values")
					}
					if err := me.Join(); !errors.Is(err, marcel.ErrJoinSelf) {
						t.Errorf("join of its joiner: %v", err)
					}
					ran = true
				})
				if ran {
					t.Error("it started before anybody joined")
				}
				must(t, x.Join())
				if !ran || !x.Ended() || marcel.Self() != me || switches != 0 {
					t.Errorf("ran %v, ended %v, back in %v, %d switches", ran, x.Ended(), marcel.Self(), switches)
				}
				if v, _ := key.Get(); v != "mine" {
					t.Error("the joiner has lost its value")
				}
				must(t, x.Join()) // once more
			})
		})
	}
}

// From the queue's ends and from its middle, and if others are faster; each runs
// once, wherever.
func TestInlineOrder(t *testing.T) {
	for _, vps := range []int{1, 3} {
		for _, order := range []func(i, n int) int{
			func(i, n int) int { return i },
			func(i, n int) int { return n - 1 - i },
			func(i, n int) int { return (i*7919 + 13) % n },
		} {
			run(t, brisk(vps), func(*sched.Scheduler) {
				n := 997
				ran := make([]atomic.Int32, n)
				all := make([]marcel.Thread, n)
				for i := range all {
					all[i] = marcel.SpawnInline(func() {
						if i%5 == 0 {
							marcel.Yield()
						}
						ran[i].Add(1)
					})
				}
				for i := range n {
					k := order(i, n)
					must(t, all[k].Join())
					if ran[k].Load() != 1 {
						t.Fatalf("thread %d ran %d times", k, ran[k].Load())
					}
				}
			})
		}
	}
}

// A called thread may wait, be moved, be awaited by others, and call on.
func TestInlineIsAThread(t *testing.T) {
	worlds(t, func(w *world) {
		for range 4 {
			w.Go(func() {
				var fib func(n int) int
				fib = func(n int) int {
					if n < 2 {
						return n
					}
					var a int
					me := marcel.Self()
					x := marcel.SpawnInline(func() {
						a = fib(n - 1)
						if n%3 == 0 {
							var s marcel.Semaphore
							marcel.Spawn(s.Release)
							s.Acquire()
						}
					})
					if n%4 == 0 {
						marcel.Spawn(func() { must(w, x.Join()) })
					}
					b := fib(n - 2)
					must(w, x.Join())
					if marcel.Self() != me {
						w.Error("somebody else came back from Join")
					}
					return a + b
				}
				if got := fib(11); got != 89 {
					w.Errorf("fib(11) = %d", got)
				}
			})
		}
	})
}

// A panic of a called thread is that thread's, as ever.
func TestInlinePanic(t *testing.T) {
	run(t, calm(), func(*sched.Scheduler) {
		for range times(100) {
			gone := 0
			x := marcel.SpawnWith(marcel.Attr{Inline: true, Catch: true, Name: "called"}, func() {
				must(t, marcel.AtExit(func() { gone++; culprit(1) }))
				must(t, marcel.AtExit(func() { gone++ }))
				culprit(errOops)
			})
			err := x.Join()
			var p *marcel.PanicError
			if !errors.Is(err, errOops) || !errors.As(err, &p) || p.Thread != `marcel thread "called"` || gone != 2 {
				t.Fatalf("Join returned %v; %d last calls", err, gone)
			}
			must(t, marcel.Spawn(marcel.Yield).Join())
		}
	})
}

// Exit of a called thread ends its joiner, too: first the one, then the other,
// each with its own deferred and last calls.
func TestInlineExit(t *testing.T) {
	for name, end := range map[string]func(){
		"exit":           marcel.Exit,
		"blocking":       func() { marcel.Blocking(marcel.Exit) },
		"in a last call": func() { must(t, marcel.AtExit(marcel.Exit)) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, brisk(2), func(*sched.Scheduler) {
				for range times(200) {
					var log []string
					var x marcel.Thread
					joiner := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
						me := marcel.Self()
						defer func() {
							log = append(log, "joiner")
							if marcel.Self() != me || !x.Ended() || me.Ended() {
								t.Errorf("self %v, want %v; ended: %v, %v", marcel.Self(), me, x.Ended(), me.Ended())
							}
							marcel.Yield()
						}()
						x = marcel.SpawnWith(marcel.Attr{Inline: true, VPs: marcel.OneVP(0)}, func() {
							must(t, marcel.AtExit(func() { log = append(log, "called"); marcel.Yield() }))
							end()
						})
						_ = x.Join()
						log = append(log, "went on")
					})
					must(t, joiner.Join())
					must(t, x.Join())
					// it ran in its turn if the joiner's slice ended in between
					if got := len(log); got < 2 || got == 2 && (log[0] != "called" || log[1] != "joiner") {
						t.Fatal(log)
					}
				}
			})
		})
	}
}

// On goroutines and for threads of others Join just waits.
func TestInlineElsewhere(t *testing.T) {
	s := start(t, brisk(2))
	other := start(t, brisk(1))
	for range times(200) {
		x := s.Spawn(marcel.Attr{Inline: true}, marcel.Yield)
		y := s.Spawn(marcel.Attr{Inline: true, VPs: marcel.OneVP(1)}, marcel.Yield)
		z := other.Spawn(marcel.Attr{Inline: true}, marcel.Yield)
		j := s.Spawn(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
			must(t, x.Join())
			must(t, y.Join())
			must(t, z.Join())
		})
		must(t, x.Join())
		must(t, j.Join())
	}
}

// The joiner goes where the called thread went, and a joiner that is bound keeps
// it.
func TestInlineMoves(t *testing.T) {
	s := start(t, brisk(3))
	var moved atomic.Int32
	within(t, func() {
		for i := range times(300) {
			vp := 1 + i%3
			must(t, s.Spawn(marcel.Attr{VPs: marcel.OneVP(vp - 1)}, func() {
				must(t, marcel.SpawnInline(func() {
					called := calledByJoin()
					for range 5 {
						marcel.Yield()
						marcel.Sleep(10 * time.Microsecond)
						if called && s.CurrentVP() != vp-1 && s.CurrentVP() >= 0 {
							t.Error("it left the VP of its joiner")
						}
					}
				}).Join())
				if at := s.CurrentVP(); at != vp-1 && at >= 0 {
					t.Errorf("the joiner came to VP %d", at)
				}
			}).Join())
			must(t, s.Spawn(marcel.Attr{}, func() {
				before := s.CurrentVP()
				must(t, marcel.SpawnInline(func() { marcel.Sleep(10 * time.Microsecond) }).Join())
				if s.CurrentVP() != before {
					moved.Add(1)
				}
				marcel.Yield()
			}).Join())
		}
	}, s)
	t.Logf("%d joiners came elsewhere", moved.Load())
}

func TestInlineDoesNotAllocate(t *testing.T) {
	run(t, calm(), func(*sched.Scheduler) {
		f := func() {}
		if n := testing.AllocsPerRun(1000, func() { must(t, marcel.SpawnInline(f).Join()) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		b := new(counted)
		if n := testing.AllocsPerRun(1000, func() { must(t, marcel.SpawnInlineBody(b).Join()) }); n != 0 || *b != 1001 {
			t.Errorf("a body: %v allocations, and it ran %d times", n, *b)
		}
	})
}

// counted is a Body that counts how often it has run.
type counted int

func (c *counted) Run() { *c++ }
