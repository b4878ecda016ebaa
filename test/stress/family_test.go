package stress

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// children: a join sees all that the children did.
func (w *round) children(r *rand.Rand) {
	n := 1 + r.IntN(8)
	done := make([]int, n)
	w.team(r, n, func(i int, _ *rand.Rand) {
		done[i]++
		marcel.Yield()
		done[i]++
	})
	for _, d := range done {
		if d != 2 {
			w.fail("joined one that had done %d of 2", d)
		}
	}
}

// inline: threads that their joiner may run, joined by several.
func (w *round) inline(r *rand.Rand) {
	var hs [4]marcel.Thread
	var ran [len(hs)]bool
	for i := range hs {
		own := fork(r)
		work := w.counted(func() {
			w.useUnits(own)
			marcel.Yield()
			ran[i] = true
		})
		if marcel.OnThread() {
			hs[i] = marcel.Spawn(work)
		} else {
			hs[i] = pick(r, w.s...).Spawn(marcel.Attr{}, work)
		}
	}
	w.team(r, r.IntN(3), func(_ int, r *rand.Rand) { join(w, hs[r.IntN(len(hs))]).until(w, r) })
	for i := len(hs) - 1; i >= 0; i-- {
		w.joined(hs[i], nil)
		if !ran[i] {
			w.fail("joined an inline thread that did not run")
		}
	}
}

// detached: no thread joins them; they tell of their ends.
func (w *round) detached(r *rand.Rand) {
	var over marcel.Semaphore
	n := 1 + r.IntN(4)
	for range n {
		a := w.attr(r)
		a.Detached = r.IntN(2) == 0
		h := w.spawn(r, a, over.Release)
		h.Detach()
	}
	for range n {
		acquire(&over).until(w, r)
	}
}

// ends: a child ends in one of the ways there are, and Join tells which.
func (w *round) ends(r *rand.Rand) {
	a := w.attr(r)
	a.Catch = true
	a.Name = fmt.Sprint("of kind ", r.IntN(5))
	kind := r.IntN(6)
	unwound, on := false, false
	h := w.spawn(r, a, func() {
		defer func() { unwound = true }()
		switch kind {
		case 0:
			marcel.Exit()
		case 1:
			defer marcel.Yield() // a switch while it unwinds
			runtime.Goexit()
		case 2:
			marcel.Blocking(func() { nap(1000); runtime.Goexit() })
		case 3:
			panic(errMeant)
		case 4:
			marcel.Blocking(func() { nap(1000); panic(errMeant) })
		case 5:
			defer func() { panic(errors.Join(errMeant, recover().(error))) }()
			defer marcel.Yield()
			panic(errors.New("replaced"))
		}
		on = true
	})
	var want error
	if kind >= 3 {
		want = errMeant
	}
	for range 2 {
		err := h.Join()
		var pe *marcel.PanicError
		if !errors.Is(err, want) || want != nil && !errors.As(err, &pe) {
			w.fail("an end of kind %d comes out of Join as %v", kind, err)
		}
	}
	if !unwound || on {
		w.fail("an end of kind %d: deferred calls ran: %v; went on: %v", kind, unwound, on)
	}
	if h.Name() != a.Name || !errors.Is(h.Cancel(), marcel.ErrNoThread) || !errors.Is(h.SetPriority(marcel.PriorityIdle), marcel.ErrNoThread) {
		w.fail("%v has ended as %q, and is named %q or takes orders", h, a.Name, h.Name())
	}
}

// suspends: a thread that is stopped now and then gets to its end all the same.
func (w *round) suspends(r *rand.Rand) {
	var sem marcel.Semaphore
	n := 0
	h := w.spawn(r, w.attr(r), func() {
		for range 20 {
			sem.Acquire()
			marcel.Yield()
			n++
		}
	})
	for i := range 20 {
		if i%5 == r.IntN(5) {
			w.must(h.Suspend()) // it cannot have ended
		}
		sem.Release()
		if r.IntN(3) == 0 {
			marcel.Yield()
		}
		if r.IntN(2) == 0 {
			w.must(ended(h.Resume()))
		}
	}
	w.must(ended(h.Resume()))
	w.joined(h, nil)
	if n != 20 {
		w.fail("a thread that was suspended took %d steps of 20", n)
	}
}

// ended is err but for ErrNoThread.
func ended(err error) error {
	if errors.Is(err, marcel.ErrNoThread) {
		return nil
	}
	return err
}

// moves: a thread with a VP is found there, wherever it was before.
func (w *round) moves(r *rand.Rand) {
	own := fork(r)
	h := w.spawn(r, marcel.Attr{}, func() {
		me := marcel.Self()
		for range 5 {
			set := w.someVPs(own)
			w.must(me.SetVPs(set))
			marcel.Yield()
			s := sched.Current()
			if vp := s.CurrentVP(); vp >= 0 && !set.Has(vp) {
				w.fail("%v is on VP %d, which is not of %v", me, vp, set)
			}
			w.must(me.SetPriority(pick(own, priorities...)))
			w.must(me.Place(someItem(s, own)))
		}
	})
	w.joined(h, nil)
}

// yieldsTo: all threads get their turns, yielded to or not.
func (w *round) yieldsTo(r *rand.Rand) {
	var hs [3]marcel.Thread
	turns := 0
	for i := range hs {
		hs[i] = w.spawn(r, marcel.Attr{}, func() {
			for range 3 {
				marcel.Yield()
			}
		})
	}
	for range 10 {
		if marcel.YieldTo(pick(r, hs[:]...)) {
			turns++
		}
	}
	if turns > 0 && !marcel.OnThread() {
		w.fail("a goroutine has yielded to a thread")
	}
	for _, h := range hs {
		w.joined(h, nil)
	}
}

// firm: a thread whose VP is not taken from it, past its slice.
func (w *round) firm(r *rand.Rand) {
	own := fork(r)
	h := w.spawn(r, marcel.Attr{NonPreemptible: r.IntN(2) == 0}, func() {
		w.must(marcel.DisablePreemption())
		vp := sched.Current().CurrentVP()
		burn(upTo(own, 2*time.Millisecond))
		if now := sched.Current().CurrentVP(); now != vp || now < 0 {
			w.fail("a thread without preemption was on VP %d, then on %d", vp, now)
		}
		marcel.Sleep(10 * time.Microsecond)
		w.must(marcel.EnablePreemption())
		marcel.Yield()
	})
	w.joined(h, nil)
}
