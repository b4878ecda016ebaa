package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/direct"
)

// Runners and bases by the identity of their goroutine: open addressing, one entry per
// runner and per LWP's base. A goroutine is the runner's as long as the runner
// lives, so a hit needs no check; a runner that is about to end must be taken
// out first, because the Go runtime uses goroutines again. Look-ups take no
// lock: one's own entry does not change while one looks, an entry that goes
// leaves a grave, and a table that is half full is replaced by a copy.
type gTable struct {
	shift uint
	e     []gEntry // its length is a power of two
}

type gEntry struct {
	g atomic.Uintptr
	c *co // written before g
}

const (
	minGTable = 1 << 8
	grave     = 1 // no goroutine has this identity: all are even
)

var (
	gTab  atomic.Pointer[gTable]
	gMu   Spin // for the one that writes: lockGTable
	gUsed int  // places that are not empty, graves included
	gLive int  // graves not included
)

// lockGTable is for runners that begin and end as goroutines, thousands at a time: one that the Go
// scheduler stopped inside would hold up all others, each of which spins for a slice of that. In
// the portable mode they give way to it.
func lockGTable() {
	if isDirect {
		direct.Pin()
	}
	gMu.Lock()
}

func unlockGTable() {
	gMu.Unlock()
	if isDirect {
		direct.Unpin()
	}
}

func init() { gTab.Store(newGTable(minGTable)) }

func newGTable(n int) *gTable {
	t := &gTable{shift: 64, e: make([]gEntry, n)}
	for ; n > 1; n /= 2 {
		t.shift--
	}
	return t
}

// home spreads goroutine addresses (Fibonacci hashing).
func (t *gTable) home(g uintptr) uintptr {
	return uintptr(uint64(g) * 0x9E3779B97F4A7C15 >> (t.shift & 63))
}

// insert takes the first place that is empty or a grave. Nobody else looks for
// g yet.
func (t *gTable) insert(g uintptr, c *co) (fresh bool) {
	mask := uintptr(len(t.e) - 1)
	i := t.home(g)
	for t.e[i&mask].g.Load() > grave {
		i++
	}
	e := &t.e[i&mask]
	fresh = e.g.Load() == 0
	e.c = c
	e.g.Store(g)
	return fresh
}

// lookup returns the co that runs on the calling goroutine: a runner, an
// LWP's base, or nil on any other goroutine. It is too large to be inlined, so
// what is on everybody's path (Enter, EnterLibrary, Visit, Yield, Self) repeats
// its lines, which saves the call.
func lookup() *co {
	g := asm.G()
	if e := gTab.Load().first(g); e.g.Load() == g {
		return e.c
	}
	return probe(g)
}

// first is the entry where g is, if no other was there before.
func (t *gTable) first(g uintptr) *gEntry { return &t.e[t.home(g)&uintptr(len(t.e)-1)] }

// probe looks for g from its first place on.
func probe(g uintptr) *co {
	t := gTab.Load()
	mask := uintptr(len(t.e) - 1)
	for i := t.home(g); ; i++ {
		e := &t.e[i&mask]
		switch e.g.Load() {
		case g:
			return e.c
		case 0:
			return nil
		}
	}
}

// register makes the calling goroutine known as c.
func register(c *co) {
	if isDirect && c.seat.G == 0 {
		c.seat.G = direct.Current()
	}
	c.g = asm.G()
	lockGTable()
	t := gTab.Load()
	if 2*gUsed >= len(t.e) {
		t = t.rebuilt()
		gTab.Store(t)
	}
	if t.insert(c.g, c) {
		gUsed++
	}
	gLive++
	unlockGTable()
}

// unregister takes c out, if it has begun; its goroutine must not have ended.
func unregister(c *co) {
	if c.g == 0 {
		return
	}
	lockGTable()
	t := gTab.Load()
	mask := uintptr(len(t.e) - 1)
	i := t.home(c.g)
	for t.e[i&mask].g.Load() != c.g {
		i++
	}
	e := &t.e[i&mask]
	e.c = nil
	e.g.Store(grave)
	gLive--
	unlockGTable()
}

// shrinkGTable makes the table smaller if few of its places are in use.
func shrinkGTable() {
	lockGTable()
	if t := gTab.Load(); len(t.e) > minGTable && len(t.e) >= 16*gLive {
		gTab.Store(t.rebuilt())
	}
	unlockGTable()
}

// rebuilt returns a copy without graves that is at most a quarter full.
func (t *gTable) rebuilt() *gTable {
	gUsed = 0
	for i := range t.e {
		if t.e[i].g.Load() > grave {
			gUsed++
		}
	}
	n := minGTable
	for n < 4*gUsed {
		n *= 2
	}
	d := newGTable(n)
	for i := range t.e {
		if g := t.e[i].g.Load(); g > grave {
			d.insert(g, t.e[i].c)
		}
	}
	return d
}

// CallerID is a number that the calling thread or goroutine shares with no other
// one, past or future: never 0.
func CallerID() uint64 {
	if c := lookup(); c != nil && c.cur != nil {
		return c.cur.gen << 1
	}
	return asm.GoID()<<1 | 1
}
