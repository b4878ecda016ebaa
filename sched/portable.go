//go:build !go1.26 || go1.28 || !linux || !(amd64 || (arm64 && !cgo)) || goexperiment.staticlockranking || goexperiment.runtimesecret || valgrind || portable

package sched

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// isDirect is false: this is the portable mode. Threads are goroutines that the Go scheduler
// switches, one at a time for each VP, on OS threads that are not bound; all else is the same.
const isDirect = false

// byG finds runners and bases by the address of their goroutine's g.
var byG = struct {
	mu sync.RWMutex
	of map[uintptr]*co
}{of: map[uintptr]*co{}}

// lookup returns the co that runs on the calling goroutine: a runner, an LWP's base, or nil on any other goroutine.
func lookup() *co {
	g := asm.G()
	byG.mu.RLock()
	c := byG.of[g]
	byG.mu.RUnlock()
	return c
}

// keep records that goroutine g is c's, or no co's if c is nil, for lookup.
func keep(g uintptr, c *co) {
	byG.mu.Lock()
	if c == nil {
		delete(byG.of, g)
	} else {
		byG.of[g] = c
	}
	byG.mu.Unlock()
}

// wordSleeps has a channel, of capacity 1, for each word on which a goroutine sleeps. At most one goroutine sleeps on a
// word.
var wordSleeps = struct {
	mu sync.Mutex
	of map[*atomic.Uint32]chan struct{}
}{of: map[*atomic.Uint32]chan struct{}{}}

// sleepState is the channel and the timer of a sleep. The owner of the word keeps them, so that a sleep allocates
// nothing.
type sleepState struct {
	wake  chan struct{}
	timer *time.Timer
}

// futexWait sleeps, as a goroutine, while *p == 0, until futexWake.
func futexWait(p *atomic.Uint32, s *sleepState) { futexWaitFor(p, s, maxAt) }

// futexWaitFor is futexWait for at most ns.
func futexWaitFor(p *atomic.Uint32, s *sleepState, ns int64) {
	if s.wake == nil {
		s.wake, s.timer = make(chan struct{}, 1), time.NewTimer(maxAt)
	}
	wordSleeps.mu.Lock()
	defer wordSleeps.mu.Unlock()
	if p.Load() != 0 {
		return
	}
	wordSleeps.of[p] = s.wake
	wordSleeps.mu.Unlock()
	s.timer.Reset(time.Duration(ns))
	select {
	case <-s.wake:
	case <-s.timer.C:
	}
	s.timer.Stop()
	wordSleeps.mu.Lock()
	delete(wordSleeps.of, p)
	select {
	case <-s.wake: // woken when the time was over
	default:
	}
}

// futexWake wakes the goroutine that sleeps on p, if there is one.
func futexWake(p *atomic.Uint32) {
	wordSleeps.mu.Lock()
	defer wordSleeps.mu.Unlock()
	select {
	case wordSleeps.of[p] <- struct{}{}: // a nil channel takes nothing
	default:
	}
}

// Without a membarrier threads pass barriers of their own: see borrow.go.
func hasMembarrier() bool { return false }
func membarrier()         {}

// giveWay lets other goroutines run.
func giveWay() { runtime.Gosched() }
func osNap()   { runtime.Gosched() }

// In the portable mode OS threads are the Go scheduler's: we neither know nor bind them, nor set their policy.
const schedOther, schedBatch = 0, 0

func gettid() int                        { return 0 }
func interrupt(int)                      {}
func nice() int32                        { return 0 }
func exactTimers()                       {}
func setAttr(int, uint32, int32, uint64) {}
func bindTo(tid, cpu int) error          { return errors.ErrUnsupported }
