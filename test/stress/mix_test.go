package stress

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// TestMix is the stress test: see the package's comment.
func TestMix(t *testing.T) {
	collecting(t)
	seed := *flagSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	for _, cfg := range configs(t) {
		t.Run(fmt.Sprintf("%dVP", cfg.VPs), func(t *testing.T) {
			began, n := time.Now(), totalOn(cfg.VPs)
			var m *mix
			on(t, cfg, func(s *sched.Scheduler) {
				m = newMix(t, s, seed)
				m.run(n)
			})
			m.check(n)
			t.Logf("seed %d: %d threads and %d of their children, %d steps in %v", seed, n, m.children.Load(), m.steps.Load(), time.Since(began).Round(time.Millisecond))
		})
	}
}

// How a thread ends.
type ending int

const (
	returns ending = iota
	exits
	panics // made with Catch
	endings
)

func (e ending) String() string { return [...]string{"return", "exit", "panic"}[e] }

// A mix is the state that the threads of one run share.
type mix struct {
	t    testing.TB
	s    *sched.Scheduler
	seed uint64

	began, unwound atomic.Int64
	ended          [endings]atomic.Int64
	steps          atomic.Int64
	children       atomic.Int64 // spawned by the steps
	grown          atomic.Int64 // of those, ended

	locks  [4]section
	queues [2]queue
	pool   *marcel.Semaphore // poolUnits units, taken and given back
	busy   sync.Mutex        // contended by threads and goroutines
	helper sync.WaitGroup    // goroutines of the steps
	detach sync.WaitGroup    // detached threads

	failures atomic.Int64
}

const poolUnits = 3

func newMix(t testing.TB, s *sched.Scheduler, seed uint64) *mix {
	m := &mix{t: t, s: s, seed: seed, pool: marcel.NewSemaphore(poolUnits)}
	for i := range m.queues {
		m.queues[i].init()
	}
	return m
}

// fail reports what went wrong, the first dozen times.
func (m *mix) fail(format string, args ...any) {
	if m.failures.Add(1) <= 12 {
		m.t.Errorf("seed %d: "+format, append([]any{m.seed}, args...)...)
	}
}

// run has n threads spawned by several threads and goroutines at a time.
func (m *mix) run(n int) {
	const spawners = 6
	var all sync.WaitGroup
	for k := range spawners {
		low, high := n*k/spawners, n*(k+1)/spawners
		if k%3 == 2 {
			all.Go(func() { m.spawnAll(low, high) })
		} else {
			all.Go(func() { marcel.RunOn(m.s, func() { m.spawnAll(low, high) }) })
		}
	}
	all.Wait()
	m.detach.Wait()
	m.helper.Wait()
}

// spawnAll spawns the threads low to high-1, a few hundred of them alive at once,
// and joins or detaches each.
func (m *mix) spawnAll(low, high int) {
	const window = 300
	for low < high {
		n := min(window, high-low)
		handles := make([]marcel.Thread, n)
		for i := range n {
			handles[i] = m.spawn(low + i)
		}
		for i, h := range handles {
			m.join(h, m.planOf(low+i))
		}
		low += n
	}
}

// A plan is what a thread is meant to be.
type plan struct {
	index    int
	end      ending
	detached bool
	vp       int // 1 + the VP on which it stays; 0: any
}

// planOf derives the plan of thread i from the seed: the same at each call.
func (m *mix) planOf(i int) plan {
	r := rand.New(rand.NewPCG(m.seed, uint64(i)<<1|1))
	p := plan{index: i}
	switch k := r.IntN(100); {
	case k < 4:
		p.end = panics
	case k < 12:
		p.end = exits
	}
	if r.IntN(8) == 0 {
		p.vp = 1 + r.IntN(m.s.NumVP())
	}
	p.detached = p.end != panics && r.IntN(4) == 0
	return p
}

// errMeant is what threads panic with that are meant to.
var errMeant = errors.New("a panic that was meant")

func (m *mix) spawn(i int) marcel.Thread {
	p := m.planOf(i)
	if p.detached {
		m.detach.Add(1)
	}
	a := marcel.Attr{VPs: vps(p.vp), Catch: p.end == panics}
	var h marcel.Thread
	if a == (marcel.Attr{}) && marcel.OnThread() {
		h = marcel.Spawn(func() { m.body(p) }) // the path without allocation
	} else {
		h = m.s.Spawn(a, func() { m.body(p) })
	}
	if p.detached {
		h.Detach()
	}
	return h
}

func (m *mix) join(h marcel.Thread, p plan) {
	if p.detached {
		return
	}
	for range 2 { // the second time of one that ended long ago
		err := h.Join()
		if p.end != panics {
			if err != nil {
				m.fail("thread %d was to %v, Join says %v", p.index, p.end, err)
			}
			continue
		}
		var pe *marcel.PanicError
		switch {
		case !errors.Is(err, errMeant) || !errors.As(err, &pe):
			m.fail("thread %d was to panic, Join says %v", p.index, err)
		case !strings.Contains(pe.Error(), fmt.Sprintf("thread %d:", p.index)) || !strings.Contains(string(pe.Stack), "panicHere"):
			m.fail("thread %d got the panic of another one: %v", p.index, err)
		}
	}
	if !h.Ended() {
		m.fail("thread %d was joined and has not ended", p.index)
	}
}

// body is what thread p.index does.
func (m *mix) body(p plan) {
	m.began.Add(1)
	if p.detached {
		defer m.detach.Done()
	}
	defer m.unwound.Add(1)
	me := marcel.Self()
	r := rand.New(rand.NewPCG(m.seed, uint64(p.index)<<1))
	for range 1 + r.IntN(8) {
		name := m.step(r)
		if marcel.Self() != me || !marcel.OnThread() {
			m.fail("thread %d was not itself after step %s", p.index, name)
		}
		if vp := holds(m.s); vp < 0 || vp >= m.s.NumVP() || p.vp > 0 && vp != p.vp-1 {
			m.fail("thread %d of VP %d is on VP %d after step %s", p.index, p.vp-1, vp, name)
		}
		m.steps.Add(1)
		moved.Add(1)
	}
	m.ended[p.end].Add(1)
	switch p.end {
	case exits:
		marcel.Exit()
		m.fail("thread %d went on after Exit", p.index)
	case panics:
		panicHere(p.index)
	}
}

// holds returns the VP on which the calling thread runs. One whose VP has been taken
// has it, or another, back after a scheduling point.
func holds(s *sched.Scheduler) int {
	vp := s.CurrentVP()
	for vp == -1 {
		marcel.Yield()
		vp = s.CurrentVP()
	}
	return vp
}

func panicHere(index int) {
	panic(fmt.Errorf("thread %d: %w", index, errMeant))
}

// check compares what happened with what was meant, once all has ended.
func (m *mix) check(n int) {
	var meant [endings]int64
	for i := range n {
		meant[m.planOf(i).end]++
	}
	for e := range endings {
		if got := m.ended[e].Load(); got != meant[e] {
			m.fail("%d threads ended by %v, want %d", got, e, meant[e])
		}
	}
	if b, u := m.began.Load(), m.unwound.Load(); b != int64(n) || u != int64(n) {
		m.fail("%d threads began and %d unwound, want %d", b, u, n)
	}
	if c, g := m.children.Load(), m.grown.Load(); c != g {
		m.fail("%d children spawned, %d ended", c, g)
	}
	if alive := m.s.Alive(); alive != 0 {
		m.fail("%d threads are alive after all have ended", alive)
	}
	for i := range m.locks {
		m.locks[i].check(m)
	}
	for i := range m.queues {
		m.queues[i].check(m)
	}
	for i := range poolUnits {
		if !m.pool.TryAcquire() {
			m.fail("the pool has %d units left, want %d", i, poolUnits)
			break
		}
	}
	if m.pool.TryAcquire() {
		m.fail("the pool has more than %d units left", poolUnits)
	}
	if n := m.failures.Load(); n > 12 {
		m.t.Errorf("%d failures in all", n)
	}
}
