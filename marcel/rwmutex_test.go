package marcel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

var preferences = []marcel.Preference{marcel.PreferNeither, marcel.PreferReaders, marcel.PreferWriters}

// A writer is alone; readers are not, but no writer is with them. In the end it is
// free, so none that gave up has taken it along.
func TestRWMutexExcludes(t *testing.T) {
	for _, p := range preferences {
		worlds(t, func(w *world) {
			const parties = 8
			var (
				m      = marcel.NewRWMutex(p)
				inside atomic.Int32 // readers; a writer counts 100
				a, b   int          // guarded by m, always the same
			)
			for i := range parties {
				w.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 8))
					for range effort.Of(600) {
						if r.IntN(3) > 0 {
							if !attempt(reading{m}, r) {
								continue
							}
							if n := inside.Add(1); n >= 100 {
								w.Error("a reader beside a writer")
							}
							whatHoldersDo(r)
							if a != b {
								w.Errorf("%d and %d", a, b)
							}
							inside.Add(-1)
							m.RUnlock()
							continue
						}
						if !attempt(m, r) {
							continue
						}
						if n := inside.Add(100); n != 100 {
							w.Error("a writer beside others")
						}
						a++
						whatHoldersDo(r)
						b++
						inside.Add(-100)
						m.Unlock()
					}
				})
			}
			w.all.Wait()
			if !m.TryLock() {
				w.Error("still locked")
			}
		})
	}
}

// rwModel: the state is the number of readers, or -1. TryRLock and a limited RLock
// fail as well while writers wait for readers; that they wait cannot be seen.
func rwModel(p marcel.Preference) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, in, out any) (bool, any) {
			n, ok := state.(int), out.(bool)
			switch name := in.(call).name; {
			case name == "RUnlock":
				return n > 0, n - 1
			case name == "Unlock":
				return n == -1, 0
			case name == "RLock" && ok:
				return n >= 0, n + 1
			case name == "RLock":
				return n < 0 || n > 0 && p != marcel.PreferReaders, n
			case ok: // Lock
				return n == 0, -1
			default:
				return n != 0, n
			}
		},
		DescribeOperation: describe,
	}
}

func TestRWMutexIsLinearizable(t *testing.T) {
	for _, p := range preferences {
		worlds(t, func(w *world) {
			for round := range effort.Of(50) {
				var (
					h    history
					m    = marcel.NewRWMutex(p)
					done sync.WaitGroup
				)
				done.Add(clients)
				for id := range clients {
					w.Go(func() {
						defer done.Done()
						r := rand.New(rand.NewPCG(uint64(id), uint64(round)))
						for range calls - 4 {
							l, name := lock(m), "Lock"
							if r.IntN(2) == 0 {
								l, name = reading{m}, "RLock"
							}
							d := time.Duration(r.IntN(60)) * time.Microsecond
							try := func() bool { l.Lock(); return true }
							switch r.IntN(3) {
							case 0:
								try = l.TryLock
							case 1:
								try = func() bool { return l.LockTimeout(d) }
							}
							if !h.do(id, name, try) {
								continue
							}
							if r.IntN(2) == 0 {
								marcel.Yield()
							}
							if name == "Lock" {
								h.do(id, "Unlock", func() bool { m.Unlock(); return true })
							} else {
								h.do(id, "RUnlock", func() bool { m.RUnlock(); return true })
							}
						}
					})
				}
				done.Wait()
				h.check(w, rwModel(p))
			}
		})
	}
}

// rwMachine drives an RWMutex from one thread of an undisturbed scheduler. Others come,
// wait, give up and leave as they are told; which get in, and when, must be what the
// model says, to the last one: so none is forgotten when one gives up, and
// the order is the one that the preference promises.
type rwMachine struct {
	m       *marcel.RWMutex
	p       marcel.Preference
	all     []*rwParty
	readers []*rwParty // the waiting, in the model, in order of arrival
	writers []*rwParty
	reading int
	writing bool
}

type rwParty struct {
	id     int
	writer bool
	giveUp stopper
	leave  marcel.Semaphore
	t      marcel.Thread
	in     bool // it says so itself
	out    bool // the same: it gave up
	within bool // the model's view of in
	late   bool // the model's view of out
}

func (x *rwMachine) come(writer bool) {
	y := &rwParty{id: len(x.all), writer: writer, giveUp: newStopper()}
	x.all = append(x.all, y)
	l := lock(x.m)
	if !writer {
		l = reading{x.m}
	}
	y.t = marcel.Spawn(func() {
		if l.LockContext(y.giveUp.Context) != nil {
			y.out = true
			return
		}
		y.in = true
		y.leave.Acquire()
		y.in = false
		l.Unlock()
	})
	switch {
	case writer && (x.writing || x.reading > 0):
		x.writers = append(x.writers, y)
	case writer:
		x.writing, y.within = true, true
	case x.writing || len(x.writers) > 0 && x.p != marcel.PreferReaders:
		x.readers = append(x.readers, y)
	default:
		x.reading++
		y.within = true
	}
}

func (x *rwMachine) letReadersIn() {
	for _, y := range x.readers {
		y.within = true
		x.reading++
	}
	x.readers = nil
}

func (x *rwMachine) letWriterIn() {
	if len(x.writers) > 0 {
		x.writers[0].within, x.writing = true, true
		x.writers = x.writers[1:]
	}
}

func (x *rwMachine) depart(y *rwParty) {
	y.leave.Release()
	y.within = false
	if y.writer {
		x.writing = false
		if len(x.readers) > 0 && (x.p != marcel.PreferWriters || len(x.writers) == 0) {
			x.letReadersIn()
		} else {
			x.letWriterIn()
		}
		return
	}
	if x.reading--; x.reading == 0 {
		x.letWriterIn()
	}
}

func (x *rwMachine) surrender(y *rwParty) {
	y.giveUp.stop()
	y.late = true
	gone := func(z *rwParty) bool { return z == y }
	x.readers, x.writers = slices.DeleteFunc(x.readers, gone), slices.DeleteFunc(x.writers, gone)
	if len(x.writers) == 0 && !x.writing {
		x.letReadersIn()
	}
}

// settle waits until all threads have done what they can do.
func (x *rwMachine) settle(fail func(string, ...any)) {
	deadline := time.Now().Add(patience / 4)
	for {
		for marcel.OthersReady() { // until they wait, or have left
			marcel.Yield()
		}
		bad := ""
		for _, y := range x.all {
			if y.in != y.within || y.out != y.late {
				bad = fmt.Sprintf("party %d (writer: %v): inside %v, want %v; has given up %v, want %v", y.id, y.writer, y.in, y.within, y.out, y.late)
			}
		}
		if bad == "" {
			return
		}
		if time.Now().After(deadline) {
			fail("%s", bad)
			return
		}
		marcel.Sleep(20 * time.Microsecond)
	}
}

func TestRWMutexOrder(t *testing.T) {
	for _, p := range preferences {
		run(t, undisturbed(), func(*sched.Scheduler) {
			rapid.Check(t, func(t *rapid.T) {
				x := &rwMachine{m: marcel.NewRWMutex(p), p: p}
				choose := func(of func(*rwParty) bool) *rwParty {
					some := slices.DeleteFunc(slices.Clone(x.all), func(y *rwParty) bool { return !of(y) })
					if len(some) == 0 {
						t.Skip("no such party")
					}
					return rapid.SampledFrom(some).Draw(t, "party")
				}
				t.Repeat(map[string]func(*rapid.T){
					"a reader comes": func(*rapid.T) { x.come(false) },
					"a writer comes": func(*rapid.T) { x.come(true) },
					"one leaves":     func(*rapid.T) { x.depart(choose(func(y *rwParty) bool { return y.within })) },
					"one gives up": func(*rapid.T) {
						x.surrender(choose(func(y *rwParty) bool {
							return slices.Contains(x.readers, y) || slices.Contains(x.writers, y)
						}))
					},
					"": func(t *rapid.T) { x.settle(t.Fatalf) },
				})
				for range x.all { // all leave, in some order
					for _, y := range x.all {
						if y.within {
							x.depart(y)
							x.settle(t.Fatalf)
							break
						}
					}
				}
				for _, y := range x.all {
					if err := y.t.Join(); err != nil {
						t.Error(err)
					}
				}
				if !x.m.TryLock() {
					t.Error("still locked")
				}
			})
		})
	}
}

// Against readers that keep coming and overlap a writer gets in, against writers
// that keep coming a reader does: except where the preference says otherwise.
func TestRWMutexStarvation(t *testing.T) {
	const rounds = 20
	relay := func(stream, single lock) (after int) { // the stream never lets go of it
		got := false
		stream.Lock()
		lone := marcel.Spawn(func() { single.Lock(); got = true; single.Unlock() })
		marcel.Yield() // it waits
		for i := range rounds {
			var next marcel.Thread
			locked := false
			next = marcel.Spawn(func() { stream.Lock(); locked = true })
			marcel.Yield() // in beside us, or in the line
			stream.Unlock()
			for !locked {
				marcel.Yield()
			}
			must(t, next.Join())
			if got {
				after = i + 1
				break
			}
		}
		stream.Unlock()
		must(t, lone.Join())
		return after
	}
	for _, p := range preferences {
		run(t, undisturbed(), func(*sched.Scheduler) {
			m := marcel.NewRWMutex(p)
			if got, starves := relay(reading{m}, m), p == marcel.PreferReaders; starves != (got == 0) {
				t.Errorf("preference %d: a writer got in after %d readers (0: not at all)", p, got)
			}
			m = marcel.NewRWMutex(p)
			if got, starves := relay(m, reading{m}), p == marcel.PreferWriters; starves != (got == 0) {
				t.Errorf("preference %d: a reader got in after %d writers (0: not at all)", p, got)
			}
		})
	}
}

func TestRWMutexMisuse(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		m := new(marcel.RWMutex)
		panics(t, "not locked for reading", m.RUnlock)
		panics(t, "not locked for writing", m.Unlock)
		m.RLock()
		panics(t, "not locked for writing", m.Unlock)
		m.RUnlock()
		m.Lock()
		panics(t, "not locked for reading", m.RUnlock)
		m.Unlock()
		l := m.RLocker()
		l.Lock()
		if !m.TryRLock() || m.TryLock() {
			t.Error("RLocker did not lock for reading")
		}
		m.RUnlock()
		l.Unlock()
		if !m.TryLock() {
			t.Error("still locked")
		}
	})
}
