//go:build chaos

package sched

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/direct"
)

// With the build tag chaos a scheduler meets all the time what it else meets now and then:
//
//   - run queues begin with room for two threads, so that they grow and wrap around;
//   - thieves take any number of threads from any VP, however far, few or young they are.
//
// And each switch checks what the runtime knows of the goroutines and OS threads that take part against what we know of
// them: what does not agree ends the program at once, where else it would hang, or crash, some time later.
//
// Each Lock of a Spin looks whether it keeps the order of locks (lockorder.go).
//
// It is for the tests (go test -tags chaos ./test/stress): slow, and no figure of it means
// anything.

const firstRing = 2

const randomSteals = true

const checked = true

// lockOrder is the table: what is further down is locked later.
var lockOrder = [...]int{rankExtras: 1, rankBubbles: 2, rankQueue: 3, rankThread: 4, rankBounded: 5, rankTimers: 6, rankNode: 7, rankBarred: 8, rankLeaf: 9}

// nests: two of that rank may be held at once.
func (lr lockRank) nests() bool { return lr == rankQueue || lr == rankThread }

// check is for c, which has just been switched to, and has yet to finish what the one before it has left.
func (c *co) check() {
	l := c.l
	if c.ending {
		return // it ends, as a goroutine
	}
	if isDirect {
		b := bonds(c)
		c.must(b.Status == direct.Running, "it runs, and its status is %d", b.Status)
		c.must(b.M == b.Machine && b.Curg == c.seat.G, "its m is %#x, on %#x, whose curg is %#x", b.M, b.Machine, b.Curg)
		c.must(b.LockedM == b.Machine && b.LockedG == c.seat.G, "it is locked to %#x, on %#x, to which %#x is locked", b.LockedM, b.Machine, b.LockedG)
		c.must(b.Locks == direct.Held || l.previous == nil, "its OS thread is locked %#x times", b.Locks) // nil: by itself, and it has stayed
		c.must(l.osThreadHint() == b.Machine, "it is on LWP %d, whose OS thread is %#x, and runs on %#x", l.id, l.osThreadHint(), b.Machine)
		if f := l.previous; l.op != opNone && f != nil {
			b := bonds(f)
			c.must(b.Status == direct.Waiting, "the one that has left before it, with %d to be done, has status %d", l.op, b.Status)
			c.must(b.M == 0 && b.LockedM == 0, "the one that has left before it, with %d to be done, is on %#x, locked to %#x", l.op, b.M, b.LockedM)
		}
	}
	if l.op != opHand && (!c.base || l.vp.word.holder() == l.id) {
		c.checkVP()
	}
}

// checkVP: c holds its VP.
func (c *co) checkVP() {
	l := c.l
	v := l.vp
	c.must(v.word.holder() == l.id, "it is on LWP %d, and VP %d is LWP %d's", l.id, v.id, v.word.holder())
	c.must(v.current() == c, "VP %d runs another one", v.id)
	c.must(c.isInside(), "it holds a VP, and is not inside")
	id := c.idNow()
	c.must(c.base || id == l.coID, "it is on LWP %d, and has the number %#x", l.id, id)
}

// checkNext is for c, which is about to switch to d.
func (c *co) checkNext(d *co) {
	c.must(c != d, "it would switch to itself")
	if !isDirect {
		return
	}
	b := bonds(c)
	c.must(b.Status == direct.Running && b.M == b.Machine, "it leaves, and its status is %d, its m %#x, on %#x", b.Status, b.M, b.Machine)
	if b = bonds(d); b.Status != direct.Waiting {
		// The collector may have readied it: then it parks again by itself. Nothing else may.
		c.must(d.resumeAs != ordinary, "it switches to one of status %d", b.Status)
	}
	c.must(b.LockedM == 0, "it switches to one that is locked to %#x", b.LockedM)
}

// bonds returns the runtime's links of c's goroutine. It waits until the garbage collector has cleared
// the scan bit.
func bonds(c *co) direct.Bonds {
	for end := time.Now().Add(10 * time.Second); ; relax() {
		b := direct.BondsOf(c.gHint())
		if !b.Scanned || time.Now().After(end) {
			c.must(!b.Scanned, "the scan bit of its status stays set, %d", b.Status)
			return b
		}
	}
}

// idNow is c's id as it is now: a taker may be about to change it, which the check that asks allows for.
//
//go:norace
func (c *co) idNow() uint32 { return c.id }

// must ends the program unless ok.
func (c *co) must(ok bool, format string, args ...any) {
	if ok {
		return
	}
	name := "a base, or a runner"
	if t := c.threadHint(); t != nil {
		name = t.title()
	}
	what := fmt.Sprintf("sched: %s, %s: %s", name, c.standing(), fmt.Sprintf(format, args...))
	if l := c.lwpHint(); l != nil && l.vp != nil {
		l.vp.sched.Dump(os.Stderr)
	}
	debug.SetTraceback("system")
	go func() { panic(what) }()
	select {}
}

// rankedSpin is what a Spin has to be checked with.
type rankedSpin struct {
	rank lockRank
	by   uintptr // the goroutine that has locked it; another one may unlock it
}

// locksHeld has the Spins that goroutines hold, unranked ones not counted.
var locksHeld = struct {
	busy atomic.Uint32 // guards by
	by   map[uintptr][]*Spin
}{by: map[uintptr][]*Spin{}}

func holding(do func()) {
	for n := 1; !locksHeld.busy.CompareAndSwap(0, 1); n++ {
		spinPause(n)
	}
	do()
	locksHeld.busy.Store(0)
}

func (mu *Spin) ranked(r lockRank) { mu.rank = r }

// locked is for the one that has just locked s: in order, unless it only tried.
func (mu *Spin) locked(inOrder bool) {
	if mu.rank == unranked {
		return
	}
	mu.by = asm.G()
	holding(func() { locksHeld.by[mu.by] = append(locksHeld.by[mu.by], mu) })
	if !inOrder {
		return
	}
	if o := mu.outOfOrder(); o != nil {
		what := fmt.Sprintf("sched: a lock of rank %d is taken under one of rank %d: see lockorder.go\n%s", mu.rank, o.rank, debug.Stack())
		go func() { panic(what) }()
		select {}
	}
}

// outOfOrder returns a Spin that was locked before mu, which is held, and comes after it; nil: there is none.
func (mu *Spin) outOfOrder() (before *Spin) {
	holding(func() {
		for _, o := range locksHeld.by[mu.by] {
			if o == mu {
				break
			}
			if a, b := lockOrder[o.rank], lockOrder[mu.rank]; a > b || a == b && !mu.rank.nests() {
				before = o
			}
		}
	})
	return before
}

func (mu *Spin) unlocking() {
	if mu.rank == unranked {
		return
	}
	holding(func() {
		mine := slices.DeleteFunc(locksHeld.by[mu.by], func(o *Spin) bool { return o == mu })
		if len(mine) == 0 {
			delete(locksHeld.by, mu.by)
		} else {
			locksHeld.by[mu.by] = mine
		}
	})
}
