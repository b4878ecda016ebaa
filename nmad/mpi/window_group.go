package mpi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/internal/contexts"
	"github.com/pm2-go/pm2/nmad/rma"
)

// windowGroup is what the windows of one list of processes share: a World of package rma, and memory for their words.
// Each window has its own Domain, regions and words in it. The first window opens the group, and the last one closes
// it; the processes agree on both. If threads make or free windows at the same time, processes may see this in
// different orders. A list of processes then has two groups, or a group without a window, which the next window uses.
type windowGroup struct {
	number  int   // the same at all its processes
	ranks   []int // of the processes, in the job
	memory  *rma.World
	slot    int         // how many bytes the words of a window take
	windows int         // how many windows of this process the group has; under job.mu
	leaving bool        // the last window is asking the other processes whether to close the group; under job.mu
	free    []wordPlace // for words of windows to come; under job.mu
}

// wordPlace is memory for the words of a window.
type wordPlace struct {
	region *rma.Region
	at     int // in bytes
}

// maxWindowGroups is how many groups a process has at most. The number of a group, on which its processes agree,
// stands for the contexts of its World.
const maxWindowGroups = contexts.WindowGroups

// chunkBytes is how much memory for words is made at a time.
const chunkBytes = 64 << 10

// windowGroups are the groups of a job. job.mu guards them.
type windowGroups struct {
	taken mask // numbers
	all   []*windowGroup
}

// windowGroup returns a group of the processes of c, an open one or a new one. All of these processes call it, and wait
// for each other.
func (c *Comm) windowGroup() (*windowGroup, error) {
	for attempt := 0; ; attempt++ {
		g, err := c.knownWindowGroup()
		if g != nil || err != nil {
			return g, err
		}
		c.job.mu.Lock()
		free := c.job.windowGroups.taken.others()
		c.job.mu.Unlock()
		if err := free.intersect(c.agree); err != nil {
			return nil, err
		}
		number := free.pick(attempt)
		if number < 0 {
			return nil, fmt.Errorf("%w: a process has windows of %d lists of processes: free some", ErrComm, maxWindowGroups)
		}
		c.job.mu.Lock()
		claimed := !c.job.windowGroups.taken.has(number) // else another thread has taken it
		c.job.windowGroups.taken.set(number)
		c.job.mu.Unlock()
		all, err := agree(c.agree).all(claimed)
		if all {
			return c.openWindowGroup(number)
		}
		if claimed {
			c.job.releaseWindowGroup(number)
		}
		if err != nil {
			return nil, err
		}
	}
}

// knownWindowGroup returns a group that all processes of c have open, and counts one more window in it; nil: there is
// none.
func (c *Comm) knownWindowGroup() (found *windowGroup, err error) {
	var candidates []*windowGroup
	var common mask
	c.job.mu.Lock()
	for _, g := range c.job.windowGroups.all {
		if !g.leaving && slices.Equal(g.ranks, c.group.job) {
			candidates = append(candidates, g)
			common.set(g.number)
			g.windows++ // so no thread closes the group meanwhile
		}
	}
	c.job.mu.Unlock()
	err = common.intersect(c.agree)
	c.job.mu.Lock()
	defer c.job.mu.Unlock()
	for _, g := range candidates {
		if err == nil && found == nil && common.pick(0) == g.number {
			found = g
		} else {
			g.windows--
		}
	}
	return found, err
}

// openWindowGroup opens a group under a number on which the processes of c have agreed.
func (c *Comm) openWindowGroup(number int) (*windowGroup, error) {
	j := c.job
	m, err := rma.OpenAmong(j.session, contexts.FirstWindow+contexts.PerWorld*number, c.group.job...)
	if err != nil {
		j.releaseWindowGroup(number)
		return nil, err
	}
	g := &windowGroup{number: number, ranks: c.group.job, memory: m, windows: 1, slot: (wordsOfRanks(c.Size()) + 63) &^ 63}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.windowGroups.all = append(j.windowGroups.all, g)
	return g, nil
}

// releaseWindowGroup frees the number of a group.
func (j *job) releaseWindowGroup(number int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.windowGroups.taken.clear(number)
}

// leaveWindowGroup takes the window out of its group. All processes of the window call it when their accesses are done,
// and it returns when all have called it. After the last window it closes the World. clean: no other process uses the
// words of the window any more.
func (w *Window) leaveWindowGroup() (clean bool, err error) {
	j, g := w.comm.job, w.windows
	j.mu.Lock()
	asks := g.windows == 1 && !g.leaving
	g.leaving = g.leaving || asks
	j.mu.Unlock()
	ranks := make([]int, w.comm.Size())
	for i := range ranks {
		ranks[i] = i
	}
	last, err := w.comm.agreeAmong(ranks, ofWindows).all(asks)
	j.mu.Lock()
	g.windows--
	if asks {
		g.leaving = false
	}
	last = last || err != nil && g.windows == 0
	if last {
		j.windowGroups.all = slices.DeleteFunc(j.windowGroups.all, func(x *windowGroup) bool { return x == g })
	}
	j.mu.Unlock()
	clean = err == nil
	if last {
		err = errors.Join(err, g.memory.Close())
		j.releaseWindowGroup(g.number)
	}
	return clean, err
}

// words returns memory for the words of a window, all zero.
func (j *job) words(g *windowGroup) (p wordPlace, err error) {
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

// giveBackWords frees memory that words has returned.
func (j *job) giveBackWords(g *windowGroup, p wordPlace) {
	j.mu.Lock()
	defer j.mu.Unlock()
	g.free = append(g.free, p)
}
