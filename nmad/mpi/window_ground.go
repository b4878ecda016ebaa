package mpi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/internal/contexts"
	"github.com/pm2-go/pm2/nmad/rma"
)

// ground is what the windows of one list of processes share: a World of package rma, and memory for their words. Each
// window has a Domain, regions and words of its own there. The first window opens the ground, and the last one closes
// it; the processes agree upon both. Where threads make or free windows at once, processes may see these in different
// orders. A list of processes then has two grounds, or one without a window, which the next window uses.
type ground struct {
	number  int   // the same at all its processes
	ranks   []int // of the job
	memory  *rma.World
	windows int         // of this process; under job.mu
	leaving bool        // its last window asks the others; under job.mu
	slot    int         // bytes of the words of a window
	free    []wordPlace // for words of windows; under job.mu
}

// wordPlace is where the words of a window are.
type wordPlace struct {
	region *rma.Region
	at     int
}

// mostGrounds is how many Worlds of windows there are at a time. Each has the contexts of a number, which its processes
// agree upon.
const mostGrounds = contexts.WindowGroups

// chunkBytes is how much memory for words is made at once.
const chunkBytes = 64 << 10

// grounds are those of a job. All of it is under job.mu.
type grounds struct {
	taken mask
	all   []*ground
}

// ground returns a ground of the processes of c, an open one or a new one. All of them call it.
func (c *Comm) ground() (*ground, error) {
	for attempt := 0; ; attempt++ {
		g, err := c.knownGround()
		if g != nil || err != nil {
			return g, err
		}
		c.job.mu.Lock()
		free := c.job.grounds.taken.others()
		c.job.mu.Unlock()
		if err := free.common(c.agree); err != nil {
			return nil, err
		}
		number := free.pick(attempt)
		if number < 0 {
			return nil, fmt.Errorf("%w: a process has windows of %d lists of processes: free some", ErrComm, mostGrounds)
		}
		c.job.mu.Lock()
		claimed := !c.job.grounds.taken.has(number) // else another thread has it
		c.job.grounds.taken.set(number)
		c.job.mu.Unlock()
		all, err := agree(c.agree).all(claimed)
		if all {
			return c.openGround(number)
		}
		if claimed {
			c.job.releaseGround(number)
		}
		if err != nil {
			return nil, err
		}
	}
}

// knownGround returns a ground that all processes of c have open, with one window more; nil: there is none.
func (c *Comm) knownGround() (found *ground, err error) {
	var mine []*ground
	var common mask
	c.job.mu.Lock()
	for _, g := range c.job.grounds.all {
		if !g.leaving && slices.Equal(g.ranks, c.group.job) {
			mine = append(mine, g)
			common.set(g.number)
			g.windows++ // so none leaves it meanwhile
		}
	}
	c.job.mu.Unlock()
	err = common.common(c.agree)
	c.job.mu.Lock()
	defer c.job.mu.Unlock()
	for _, g := range mine {
		if err == nil && found == nil && common.pick(0) == g.number {
			found = g
		} else {
			g.windows--
		}
	}
	return found, err
}

func (c *Comm) openGround(number int) (*ground, error) {
	j := c.job
	m, err := rma.OpenAmong(j.session, contexts.FirstWindow+contexts.PerWorld*number, c.group.job...)
	if err != nil {
		j.releaseGround(number)
		return nil, err
	}
	g := &ground{number: number, ranks: c.group.job, memory: m, windows: 1, slot: (wordsOfRanks(c.Size()) + 63) &^ 63}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.grounds.all = append(j.grounds.all, g)
	return g, nil
}

func (j *job) releaseGround(number int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.grounds.taken.clear(number)
}

// leaveGround takes one window off its ground. All processes of the window call it when their accesses are done, and
// it returns when all have. After the last window it closes the World. clean says that none of the others uses
// anything of the window any more.
func (w *Window) leaveGround() (clean bool, err error) {
	j, g := w.comm.job, w.ground
	j.mu.Lock()
	asks := g.windows == 1 && !g.leaving
	g.leaving = g.leaving || asks
	j.mu.Unlock()
	ranks := make([]int, w.comm.Size())
	for i := range ranks {
		ranks[i] = i
	}
	over, err := w.comm.agreeAmong(ranks, ofWindows).all(asks)
	j.mu.Lock()
	g.windows--
	if asks {
		g.leaving = false
	}
	over = over || err != nil && g.windows == 0
	if over {
		j.grounds.all = slices.DeleteFunc(j.grounds.all, func(x *ground) bool { return x == g })
	}
	j.mu.Unlock()
	clean = err == nil
	if over {
		err = errors.Join(err, g.memory.Close())
		j.releaseGround(g.number)
	}
	return clean, err
}

// words gives a window memory for its words, zero all of it.
func (j *job) words(g *ground) (p wordPlace, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(g.free) == 0 {
		n := max(chunkBytes/g.slot, 1)
		r, err := g.memory.Make(n * g.slot)
		if err != nil {
			return p, err
		}
		for i := range n {
			g.free = append(g.free, wordPlace{r, i * g.slot})
		}
	}
	last := len(g.free) - 1
	p, g.free = g.free[last], g.free[:last]
	clear(p.region.Bytes()[p.at:][:g.slot])
	return p, nil
}

// giveBackWords takes it back.
func (j *job) giveBackWords(g *ground, p wordPlace) {
	j.mu.Lock()
	defer j.mu.Unlock()
	g.free = append(g.free, p)
}
