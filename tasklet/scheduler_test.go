package tasklet

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
)

// manual is a scheduler without VPs: the test fires itself, and says where
// it is.
type manual struct {
	set   hooks.Set
	n     int
	vp    int // what CurrentVP says
	kicks []int
	spawn []func() // what was spawned and has not been run
}

func (m *manual) Hooks() *hooks.Set { return &m.set }
func (m *manual) NumVP() int        { return m.n }
func (m *manual) CurrentVP() int    { return m.vp }
func (m *manual) Kick(vp int)       { m.kicks = append(m.kicks, vp) }

func (m *manual) Spawn(_ sched.Attr, fn func()) sched.Thread {
	m.spawn = append(m.spawn, fn)
	return sched.Thread{}
}

func newManual(t testing.TB, vps int) (*manual, *Vector) {
	t.Helper()
	m := &manual{n: vps, vp: -1}
	v, err := Attach(m)
	if err != nil {
		t.Fatal(err)
	}
	return m, v
}

// living is a scheduler whose VPs are goroutines. They sleep when idle, for
// ever unless they are kicked: a lost wake-up hangs the test.
type living struct {
	set   hooks.Set
	vps   []livingVP
	where sync.Map // asm.G of a VP -> its number
	stop  atomic.Bool
	all   sync.WaitGroup
}

type livingVP struct {
	wake  chan struct{} // capacity 1: sticky
	awake atomic.Bool
	fired atomic.Int64
	_     [128]byte
}

func (l *living) Hooks() *hooks.Set { return &l.set }
func (l *living) NumVP() int        { return len(l.vps) }

func (l *living) CurrentVP() int {
	if vp, ok := l.where.Load(asm.G()); ok {
		return vp.(int)
	}
	return -1
}

func (l *living) Kick(vp int) {
	select {
	case l.vps[vp].wake <- struct{}{}:
	default:
	}
}

func (l *living) Spawn(_ sched.Attr, fn func()) sched.Thread {
	l.all.Add(1)
	go func() { defer l.all.Done(); fn() }()
	return sched.Thread{}
}

// newLiving starts the VPs, and a timer thread if asked for. They are gone
// when the test is over.
func newLiving(t testing.TB, vps int, timer bool) (*living, *Vector) {
	t.Helper()
	l := &living{vps: make([]livingVP, vps)}
	for i := range l.vps {
		l.vps[i].wake = make(chan struct{}, 1)
	}
	v, err := Attach(l)
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.vps {
		l.all.Add(1)
		go l.work(i)
	}
	if timer {
		l.all.Add(1)
		go l.tick()
	}
	t.Cleanup(func() {
		l.stop.Store(true)
		for i := range l.vps {
			l.Kick(i)
		}
		l.all.Wait()
		v.Detach()
	})
	return l, v
}

func (l *living) work(vp int) {
	defer l.all.Done()
	l.where.Store(asm.G(), vp)
	defer l.where.Delete(asm.G())
	me := &l.vps[vp]
	me.awake.Store(true)
	for turn := 0; !l.stop.Load(); turn++ {
		me.fired.Add(1)
		if turn%3 == 0 {
			l.set.Fire(hooks.Switch, vp)
		}
		if l.set.Fire(hooks.Idle, vp) != hooks.Quiet {
			if turn%16 == 0 {
				runtime.Gosched() // more of us than VPs
			}
			continue
		}
		me.awake.Store(false)
		<-me.wake
		me.awake.Store(true)
	}
}

// tick fires the timer in the name of each VP that is awake, much more often than a
// real one would.
func (l *living) tick() {
	defer l.all.Done()
	for turn := 0; !l.stop.Load(); turn++ {
		for vp := range l.vps {
			if l.vps[vp].awake.Load() {
				l.set.Fire(hooks.Timer, vp)
			}
		}
		if turn%64 == 0 {
			time.Sleep(20 * time.Microsecond)
		}
		runtime.Gosched()
	}
}

// until waits for something that must happen sooner or later; the limit is for
// the report, not for speed.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for n := 0; !ok(); n++ {
		if n < 1000 {
			runtime.Gosched()
			continue
		}
		if time.Now().After(deadline) {
			t.Fatalf("still waiting: %s", what)
		}
		time.Sleep(50 * time.Microsecond)
	}
}
