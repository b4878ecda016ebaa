package piomantest

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/pioman"
)

// World is what makes the progress, and what calls the engine in it.
type World struct {
	Name string
	// Start has the engine make progress so, as often as it is called after the stop before. nil: only waiters poll.
	Start func(e *pioman.Engine) (Host, error)
	// Spawn runs f at the same time as the test, on one kind of caller each.
	Spawn map[string]func(f func())
}

// Host is what an engine has been hooked to.
type Host struct {
	Hooks *hooks.Set // where the test may register hooks that submit tasks
	Stir  func()     // makes the Idle hooks fire at least once, soon
	Stop  func()     // unhooks the engine; may be called again
}

// patience bounds what must happen, not how fast it does.
const patience = 2 * time.Minute

// scene is one test in one world.
type scene struct {
	*testing.T
	w World
	e *pioman.Engine

	planned  bool // handlers are to panic
	mu       sync.Mutex
	panicked []string // tasks that OnPanic told of
}

// stage makes an engine that is started as the world does, and closed at the end.
func (w World) stage(t *testing.T) *scene {
	t.Helper()
	s := w.bare(t)
	_, stop := s.start()
	t.Cleanup(stop)
	return s
}

// bare makes an engine like stage, and does not start it.
func (w World) bare(t *testing.T) *scene {
	s := &scene{T: t, w: w}
	s.e = pioman.New(pioman.Config{Name: t.Name(), OnPanic: func(p *pioman.PanicError) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.planned {
			s.Errorf("%v\n%s", p, p.Stack)
		}
		s.panicked = append(s.panicked, p.Task)
	}})
	t.Cleanup(func() {
		if err := s.e.Close(); err != nil {
			t.Error(err)
		}
		if n := s.e.Pending(); n != 0 {
			t.Errorf("%d requests pending at the end", n)
		}
	})
	return s
}

// start starts the engine; Hooks is nil where there are none.
func (s *scene) start() (h Host, stop func()) {
	if s.w.Start == nil {
		return Host{}, func() {}
	}
	h, err := s.w.Start(s.e)
	if err != nil {
		s.Error(err)
		return Host{}, func() {}
	}
	return h, h.Stop
}

// background reports whether requests progress without a waiter.
func (s *scene) background() bool { return s.w.Start != nil }

// rounds is how often a test repeats what it does.
func (s *scene) rounds(n int) int {
	if testing.Short() {
		return max(n/10, 1)
	}
	return n
}

// crowd runs f in n callers of each kind at the same time, numbered from 0, and waits for all.
func (s *scene) crowd(n int, f func(k int)) {
	s.Helper()
	var all sync.WaitGroup
	k := 0
	for _, spawn := range s.w.Spawn {
		for range n {
			all.Add(1)
			me := k
			k++
			spawn(func() {
				defer all.Done()
				f(me)
			})
		}
	}
	s.finishes("callers", all.Wait)
}

// size is how many callers crowd(n) has.
func (s *scene) size(n int) int { return n * len(s.w.Spawn) }

// finishes fails the test if f does not return.
func (s *scene) finishes(what string, f func()) {
	s.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		s.Fatalf("%s: not finished after %v\n%s", what, patience, buf[:runtime.Stack(buf, true)])
	}
}

// eventually waits for what others bring about. Where nothing polls in the background the test does.
func (s *scene) eventually(what string, f func() bool) {
	s.Helper()
	for end := time.Now().Add(patience); !f(); {
		if time.Now().After(end) {
			s.Fatalf("%s: not after %v", what, patience)
		}
		if s.background() {
			time.Sleep(50 * time.Microsecond)
		} else {
			s.e.Poll()
			runtime.Gosched()
		}
	}
}

// submit is Submit that must succeed.
func (s *scene) submit(t *pioman.Task) {
	if err := s.e.Submit(t); err != nil {
		s.Error(err)
	}
}

// tests are all of the suite.
var tests = []struct {
	name string
	run  func(*testing.T, World)
}{
	{"one-shot tasks", oneShots},
	{"repeat tasks", repeats},
	{"progress in the background", background},
	{"cancel", cancels},
	{"panics", panics},
	{"handlers that exit", exits},
	{"tasks from tasks", fromTasks},
	{"tasks from hooks", fromHooks},
	{"waits that give up", givingUp},
	{"any and all bits", anyAndAll},
	{"several waiters", severalWaiters},
	{"sources", sources},
	{"unhook at every moment", unhooking},
	{"close at every moment", closing},
	{"everything at once", everything},
}

// Run runs the suite.
func Run(t *testing.T, w World) {
	for _, test := range tests {
		t.Run(w.Name+"/"+test.name, func(t *testing.T) { test.run(t, w) })
	}
}
