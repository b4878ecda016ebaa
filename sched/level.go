package sched

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/sched/topo"
)

// Level says on the run queue of which topology level a thread waits when it is ready. The zero Level stands for the
// VP's own queue, from which only thieves take it away. On the queue of an item, such as a cache, every VP below that
// item takes its turn, with priorities respected across all of them; it costs a lock. This is Marcel's choice of a run
// queue for a thread.
type Level uint8

// LevelOf returns the level of the items of a kind. A thread with that level waits on the queue of the item that
// contains the VP on which it is spawned. Where the machine has no items of the kind, the next larger kind counts.
func LevelOf(k topo.Kind) Level { return Level(k) + 1 }

// String is the name of the level's items, "VP" for the zero Level.
func (lv Level) String() string {
	if lv == 0 {
		return "VP"
	}
	return topo.Kind(lv - 1).String()
}

// check returns an error if there is no such level.
func (lv Level) check() error {
	if int(lv) > len(topo.Kinds()) {
		return fmt.Errorf("marcel: there is no %v: use LevelOf with one of the kinds of package topo", lv)
	}
	return nil
}

// nodeAt returns the node of the item at a level that contains v; nil for the zero Level.
func (v *vp) nodeAt(l Level) *queueNode {
	if l == 0 {
		return nil
	}
	k := topo.Kind(l - 1)
	for it := v.pu; it != nil; it = it.Parent {
		if it.Kind <= k {
			if n := v.sched.nodes[it]; n.covers(v) {
				return n
			}
		}
	}
	return v.sched.root
}

// ErrNoItem says that a scheduler has no VP below an item: the item is of another topology, or has no VPs.
var ErrNoItem = errors.New("marcel: the scheduler has no VPs there")

// Place says on the run queue of which item of its scheduler's topology the thread waits from now on when it is ready:
// every VP below takes its turn. Nil stands for the VP's own queue. If the thread is ready it moves at once; if it
// runs, the change counts from its next scheduling point on. Place does not block. It fails with ErrNoItem, and with
// ErrNoThread for the zero Thread and one that has ended.
func (h Thread) Place(it *topo.Item) error {
	if h.thread == nil || h.makeExtras() == nil {
		return ErrNoThread
	}
	s := h.thread.home()
	n := s.nodes[it]
	if it != nil && n == nil {
		return ErrNoItem
	}
	return h.reassign(func(t *thread) { t.assign(n) })
}

// reassign has change say in which queue the thread waits when it is ready, and moves it there.
func (h Thread) reassign(change func(t *thread)) error {
	t := h.thread
	if t == nil {
		return ErrNoThread
	}
	c := Visit()
	defer c.Leave()
	alive := t.lockAlive(h.id)
	if alive {
		change(t)
	}
	t.mu.Unlock()
	if !alive {
		return ErrNoThread
	}
	t.sort(c)
	return nil
}

// Weight returns 1 until the thread has ended, then 0: its part of the weight of a bubble.
func (h Thread) Weight() int {
	if h.Ended() {
		return 0
	}
	return 1
}

// WakeOn is Place, by the name that the entities of a bubble have in common.
func (h Thread) WakeOn(it *topo.Item) error { return h.Place(it) }

// Item returns the item of the topology on whose run queue the thread waits when it is ready; nil if that is its VP's
// own, or it has ended.
func (h Thread) Item() *topo.Item {
	if h.extras() == nil || h.Ended() {
		return nil
	}
	if n := h.thread.node(); n != nil {
		return n.item
	}
	return nil
}
