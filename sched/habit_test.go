package sched

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// A body of a type of its own, so that it has a habit of its own.
type bodyA struct{}
type bodyB struct{}

func (bodyA) Run() {}
func (bodyB) Run() {}

// forgetful empties the table of habits, now and at the end of the test.
func forgetful(t *testing.T) {
	t.Helper()
	forget := func() {
		for i := range habits {
			h := &habits[i]
			h.code.Store(0)
			h.score.Store(0)
		}
		anyHabits.Store(false)
	}
	forget()
	t.Cleanup(forget)
}

// began makes a runner of v that has just begun a thread with body b.
func began(v *vp, b Body) *co {
	x := newThread()
	x.body, x.vp = b, v
	return &co{cur: x, beganTick: uint32(v.tick), l: &lwp{vp: v}}
}

// TestLearn: a function has the habit when its threads have waited in Go twice before they called the
// scheduler, and no more points than bounded; another one loses it none.
func TestLearn(t *testing.T) {
	forgetful(t)
	v := &vp{sched: unhurried(), tick: 1<<32 + 5}
	c := began(v, bodyA{})
	for n := 1; n <= mostScore+3; n++ {
		learnHabit(c, v)
		if want := n >= enoughScore; anyHabits.Load() != want || habitOfBody(bodyA{}) != nil != want {
			t.Errorf("after %d times: some have one %v, it has one %v", n, anyHabits.Load(), !want)
		}
		if score := habitOf(codeOf(bodyA{})).score.Load(); score != int32(min(n, mostScore)) {
			t.Errorf("after %d times: %d points", n, score)
		}
	}
	if habitOfBody(bodyB{}) != nil || habitOfBody(funcBody(func() {})) != nil {
		t.Error("another function has the habit as well")
	}
}

// TestLearnsNothing: of a thread that has made a switch since it began, and of none.
func TestLearnsNothing(t *testing.T) {
	forgetful(t)
	v := &vp{sched: unhurried(), tick: 7}
	for range 2 * enoughScore {
		c := began(v, bodyA{})
		v.tick++ // it has yielded, for instance
		learnHabit(c, v)
		learnHabit(&co{beganTick: uint32(v.tick)}, v) // its thread has ended
		c = began(v, nil)
		learnHabit(c, v) // is just ending
	}
	if anyHabits.Load() || habitOfBody(bodyA{}) != nil {
		t.Error("a thread that called the scheduler first has taught something")
	}
}

// TestHabitIsLost: each thread that was begun as a goroutine and has not waited costs a point, whether it calls the
// scheduler or only ends; each that has waited earns one.
func TestHabitIsLost(t *testing.T) {
	if !isDirect {
		t.Skip("nothing is learned in the portable mode")
	}
	forgetful(t)
	s := running(t, Config{VPs: 1})
	h := habitOf(codeOf(bodyA{}))
	outside := func(f func()) {
		t.Helper()
		_ = s.Spawn(Attr{}, func() {
			x := newThread()
			x.body, x.vp = funcBody(f), s.vps[0]
			storeRel64(&s.vps[0].spawned, s.vps[0].spawned+1)
			who := Thread{x, x.id}
			c := Enter()
			s.vps[0].startByHabit(x, h)
			c.Leave()
			_ = who.Join()
		}).Join()
	}
	lives := []struct {
		name  string
		f     func()
		earns int32
	}{
		{"yields", Yield, -1},
		{"ends", func() {}, -1},
		{"computes", func() { runtime.Gosched() }, -1},
		{"exits", runtime.Goexit, -1},
		{"sleeps", func() { time.Sleep(time.Microsecond); Yield() }, 1},
		{"sleeps and ends", func() { time.Sleep(time.Microsecond) }, 1},
		{"calls, then sleeps", func() { Yield(); time.Sleep(time.Microsecond) }, -1},
	}
	for _, l := range lives {
		for _, from := range []int32{0, enoughScore, mostScore} {
			h.code.Store(codeOf(bodyA{}))
			h.score.Store(from)
			outside(l.f)
			if n := h.score.Load(); n != min(max(from+l.earns, 0), mostScore) {
				t.Errorf("%s: of %d points %d are left", l.name, from, n)
			}
		}
	}
}

// TestHabitsOfOnePlace: a function takes over the place of another one when that has no points.
func TestHabitsOfOnePlace(t *testing.T) {
	forgetful(t)
	v := &vp{sched: unhurried()}
	h := habitOf(codeOf(bodyA{}))
	const stranger = 0xabc
	h.code.Store(stranger)
	h.score.Store(3)
	for left := 2; left >= 0; left-- {
		learnHabit(began(v, bodyA{}), v)
		if h.code.Load() != stranger || int(h.score.Load()) != left {
			t.Fatalf("code %#x has %d points, want %d of the first one's", h.code.Load(), h.score.Load(), left)
		}
		if habitOfBody(bodyA{}) != nil {
			t.Error("it has another one's habit")
		}
	}
	for n := 1; n <= enoughScore; n++ {
		learnHabit(began(v, bodyA{}), v)
		if h.code.Load() != codeOf(bodyA{}) || int(h.score.Load()) != n {
			t.Errorf("code %#x has %d points, want %d", h.code.Load(), h.score.Load(), n)
		}
	}
	if habitOfBody(bodyA{}) == nil {
		t.Error("not learned in a place that was taken over")
	}
}

// TestHabitsRace: several VPs learn of two functions in one place, and look them up.
func TestHabitsRace(t *testing.T) {
	forgetful(t)
	var all sync.WaitGroup
	h := habitOf(codeOf(bodyA{}))
	for id := range 4 {
		all.Go(func() {
			v := &vp{sched: unhurried()}
			r := rand.New(rand.NewPCG(uint64(id), 1))
			for range effort.Of(20_000) {
				switch r.IntN(3) {
				case 0:
					learnHabit(began(v, bodyA{}), v)
				case 1:
					if h.code.Load() != 0xabc && h.score.Load() <= 0 {
						h.code.Store(0xabc) // what learn does for another function
						h.score.Store(0)
					}
				default:
					habitOfBody(bodyA{})
				}
			}
		})
	}
	all.Wait()
	if n := h.score.Load(); n < -8 || n > mostScore+8 { // approximate: each racer may be one off
		t.Errorf("%d points", n)
	}
}

// wrapped is a Body that calls a function of the user's.
type wrapped struct {
	Wrapper
	f func()
}

func (wr *wrapped) Run() { wr.f() }

// TestCode: what a thread runs is told of its function, whatever it closes over or is wrapped in, or its type.
func TestCode(t *testing.T) {
	var same []funcBody
	for n := range 2 {
		same = append(same, func() { _ = n })
	}
	f, other := same[0], funcBody(func() {})
	if codeOf(f) != codeOf(same[1]) || codeOf(f) == codeOf(other) || codeOf(f) == codeOf(bodyA{}) || codeOf(bodyA{}) == codeOf(bodyB{}) {
		t.Error("codes do not tell functions apart, or tell too much")
	}
	x := newThread()
	if x.code() != 0 {
		t.Error("nothing has a code")
	}
	wraps := &wrapped{moduleCalls{}.WrapperOf(f), f}
	if codeOf(wraps) != codeOf(f) || codeOf(&wrapped{(moduleCalls{}).WrapperOf(other), other}) != codeOf(other) || (moduleCalls{}).WrapperOf(nil) != (Wrapper{}) {
		t.Error("a wrapper's code is not that of what it wraps")
	}
	for _, body := range []Body{f, &bodyA{}, wraps} {
		if x.body = body; x.code() != codeOf(body) {
			t.Errorf("%T: %#x, not %#x", body, x.code(), codeOf(body))
		}
	}
}

// TestWanderers: a function whose threads wait in Go first is learned, and its threads are threads all the same.
func TestWanderers(t *testing.T) {
	forgetful(t)
	s := running(t, Config{VPs: 1})
	var out atomic.Pointer[chan int]
	var in, wrong atomic.Int32
	nap := funcBody(func() {
		in.Add(1)
		<-*out.Load()
		me := Self()
		Yield()
		if Self() != me || CurrentVP() != 0 {
			wrong.Add(1)
		}
	})
	const n = 20
	wave := func() (outside int) {
		ch := make(chan int)
		out.Store(&ch)
		in.Store(0)
		_ = s.Spawn(Attr{}, func() {
			hs := make([]Thread, n)
			for i := range hs {
				hs[i] = spawn(nap)
				if c := hs[i].thread.co; c != nil && c.l == &s.vps[0].outsideLWP {
					outside++
				}
			}
			for in.Load() < n {
				Yield()
				runtime.Gosched()
			}
			if live := len(s.Threads()); live != n+1 {
				t.Errorf("%d threads are listed, %d live", live, n+1)
			}
			close(ch)
			for _, h := range hs {
				if err := h.Join(); err != nil || !h.Ended() {
					t.Error(err)
				}
			}
		}).Join()
		return outside
	}
	if outside := wave(); outside != 0 {
		t.Errorf("%d threads were begun outside before anything was known", outside)
	}
	if isDirect {
		awaited(t, "the habit is learned", func() bool { return wave() > 0 })
	}
	for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		wave()
	}
	if wrong.Load() != 0 {
		t.Errorf("%d times not the same thread, or without a VP", wrong.Load())
	}
	awaited(t, "all are counted as ended", func() bool { return s.Alive() == 0 }) // which they are after their joiners are woken
}
