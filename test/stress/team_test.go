package stress

import (
	"errors"
	"math/rand/v2"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched/topo"
)

// attr makes attributes at random for a thread that waits only in ways that leave its VP
// to others.
func (w *round) attr(r *rand.Rand) (a marcel.Attr) {
	if r.IntN(3) == 0 {
		return a
	}
	if r.IntN(4) == 0 {
		a.VPs = w.someVPs(r)
	}
	if r.IntN(4) == 0 {
		a.Priority = pick(r, priorities...)
	}
	if r.IntN(4) == 0 {
		a.Level = marcel.LevelOf(pick(r, topo.Machine, topo.NUMA, topo.L3, topo.Core, topo.PU))
	}
	a.Pinned = r.IntN(50) == 0
	return a
}

var priorities = []marcel.Priority{marcel.PriorityIdle, marcel.PriorityBatch, marcel.PriorityDefault, marcel.PriorityUserRealTime, marcel.PriorityRealTime}

// someVPs is a set of VPs at random, some of which each scheduler has.
func (w *round) someVPs(r *rand.Rand) (set marcel.VPSet) {
	n := w.s[0].NumVP()
	for _, s := range w.s {
		n = min(n, s.NumVP())
	}
	set.Set(r.IntN(n))
	if r.IntN(2) == 0 {
		set.Set(r.IntN(2 * n)) // there may be no such VP
	}
	return set
}

// body is a function as a Body.
type body func()

func (b body) Run() { b() }

// spawn makes a thread in one of the ways there are, on the caller's scheduler, or on any
// if the caller is a goroutine.
func (w *round) spawn(r *rand.Rand, a marcel.Attr, fn func()) marcel.Thread {
	fn = w.counted(fn)
	switch {
	case !marcel.OnThread():
		return pick(r, w.s...).Spawn(a, fn)
	case a != (marcel.Attr{}):
		return marcel.SpawnWith(a, fn)
	case r.IntN(2) == 0:
		return marcel.SpawnBody(body(fn))
	default:
		return marcel.Spawn(fn)
	}
}

// joined joins h, which is to end like that: nil, ErrCanceled or errMeant.
func (w *round) joined(h marcel.Thread, want error) {
	if err := h.Join(); !errors.Is(err, want) {
		w.fail("Join of %v says %v, want %v", h, err, want)
	}
	if !h.Ended() {
		w.fail("%v was joined and has not ended", h)
	}
}

// team has n threads or goroutines do something, each with a source of its own, and waits
// for them.
func (w *round) team(r *rand.Rand, n int, do func(i int, r *rand.Rand)) {
	var left marcel.WaitGroup
	var threads []marcel.Thread
	for i := range n {
		own := fork(r)
		if r.IntN(4) == 0 {
			left.Add(1)
			w.helper.Go(func() {
				defer left.Done()
				do(i, own)
			})
			continue
		}
		threads = append(threads, w.spawn(r, w.attr(r), func() { do(i, own) }))
	}
	for _, h := range threads {
		join(w, h).until(w, r)
	}
	group(&left).until(w, r)
}

// fork makes a source of random numbers for another thread.
func fork(r *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(r.Uint64(), r.Uint64())) }
