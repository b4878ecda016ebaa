package stress

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// cancels: threads that are canceled give back what they hold, and have taken nothing
// that they do not know of.
func (w *round) cancels(r *rand.Rand) {
	const units = 2
	sem := marcel.NewSemaphore(units)
	var mu marcel.Mutex
	cond := marcel.NewCond(&mu)
	victims := w.victims(r, func(r *rand.Rand) {
		switch r.IntN(4) {
		case 0: // a condition without a signal: its mutex is held again at the end
			mu.Lock()
			defer mu.Unlock()
			cond.WaitTimeout(upTo(r, 200*time.Microsecond))
		case 1:
			marcel.Sleep(upTo(r, 100*time.Microsecond))
		default:
			f := acquire(sem)
			if r.IntN(2) == 0 {
				f = choose(sem.Case())
			}
			if f.once(w, r) {
				defer sem.Release()
				marcel.TestCancel()
				marcel.Yield()
			}
		}
	})
	victims(nil)
	if !mu.TryLock() {
		w.fail("the mutex of a condition is locked after all have ended")
	}
	for i := range units + 1 {
		if sem.TryAcquire() != (i < units) {
			w.fail("a semaphore has not %d units after cancels", units)
		}
	}
}

// cancelsMessages: a message that a canceled thread has sent has been received, and one
// that it has received is known to it.
func (w *round) cancelsMessages(r *rand.Rand) {
	box := marcel.NewMailbox[uint64](r.IntN(3))
	var in, out atomic.Uint64
	victims := w.victims(r, func(r *rand.Rand) {
		v := r.Uint64()
		if r.IntN(2) == 0 {
			if send(w, box, v).once(w, r) {
				in.Add(v)
			}
		} else if recv(w, box, &v).once(w, r) {
			out.Add(v)
		}
	})
	victims(func() { // else the last ones wait for ever, if they are not canceled
		if v, err := box.TryRecv(); err == nil {
			out.Add(v)
		} else if box.TrySend(1) == nil {
			in.Add(1)
		}
	})
	for v, err := box.TryRecv(); err == nil; v, err = box.TryRecv() {
		out.Add(v)
	}
	if in.Load() != out.Load() {
		w.fail("messages of sum %#x were sent, %#x received, by threads that were canceled", in.Load(), out.Load())
	}
}

// victims makes threads that take steps. The function that it returns cancels some of
// them, calls serve again and again until all have ended, and joins them.
func (w *round) victims(r *rand.Rand, step func(r *rand.Rand)) func(serve func()) {
	hs := make([]marcel.Thread, 1+r.IntN(4))
	canceled := make([]bool, len(hs))
	var begun, over marcel.Semaphore
	for i := range hs {
		own := fork(r)
		hs[i] = w.spawn(r, w.attr(r), func() {
			defer over.Release()
			begun.Release()
			was := true
			for range 4 {
				if own.IntN(4) == 0 {
					was = marcel.SetCancelState(!was)
				}
				step(own)
			}
		})
	}
	return func(serve func()) {
		for i, h := range hs {
			if r.IntN(2) == 0 {
				begun.Acquire()
			}
			marcel.Sleep(upTo(r, 50*time.Microsecond))
			if r.IntN(4) > 0 {
				canceled[i] = true
				w.must(ended(h.Cancel()))
			}
		}
		for range hs {
			if serve == nil {
				over.Acquire()
				continue
			}
			for !over.AcquireTimeout(20 * time.Microsecond) {
				serve()
			}
		}
		for i, h := range hs {
			if err := h.Join(); err != nil && !(canceled[i] && errors.Is(err, marcel.ErrCanceled)) {
				w.fail("a thread, canceled: %v, ends with %v", canceled[i], err)
			}
		}
	}
}

// lastCalls: handlers, callbacks and destructors of a thread are called, each once, in
// whichever way it ends.
func (w *round) lastCalls(r *rand.Rand) {
	var calls atomic.Int32
	call := func() { calls.Add(1) }
	var after, begun marcel.Semaphore
	key := marcel.NewKey(func(n int) { calls.Add(int32(n)) })
	a := w.attr(r)
	a.Catch = true
	kind := r.IntN(4)
	h := w.spawn(r, a, func() {
		w.must(key.Set(100))
		w.must(marcel.AtExit(func() { marcel.Yield(); call() }))
		w.must(marcel.AfterExit(after.Release))
		w.must(marcel.PushCleanup(call))
		w.must(marcel.PushCleanup(call))
		w.must(marcel.PopCleanup(true))
		w.must(marcel.OnSwitch(func() {}))
		marcel.Yield()
		begun.Release()
		switch kind {
		case 1:
			marcel.Exit()
		case 2:
			panic(errMeant)
		case 3:
			new(marcel.Semaphore).Acquire()
		}
	})
	begun.Acquire()
	var want error
	switch kind {
	case 2:
		want = errMeant
	case 3:
		want = marcel.ErrCanceled
		w.must(h.Cancel())
	}
	w.joined(h, want)
	after.Acquire()
	if n := calls.Load(); n != 103 {
		w.fail("last calls of an end of kind %d add up to %d, want 103", kind, n)
	}
}

// keys: each thread finds its own value.
func (w *round) keys(r *rand.Rand) {
	var destroyed atomic.Int64
	key := marcel.NewKey(func(v int64) { destroyed.Add(v) })
	var sum int64
	hs := make([]marcel.Thread, 1+r.IntN(4))
	for i := range hs {
		v := r.Int64N(1000)
		sum += v
		hs[i] = w.spawn(r, w.attr(r), func() {
			w.must(key.Set(v))
			marcel.Yield()
			if got, ok := key.Get(); !ok || got != v {
				w.fail("a thread set its value to %d and finds %d, %v", v, got, ok)
			}
		})
	}
	for _, h := range hs {
		w.joined(h, nil)
	}
	if d := destroyed.Load(); d != sum {
		w.fail("values of sum %d were destroyed, want %d", d, sum)
	}
}
