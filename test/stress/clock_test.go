package stress

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// sleeps: no sleep is too short.
func (w *round) sleeps(r *rand.Rand) {
	d := upTo(r, 400*time.Microsecond)
	began := time.Now()
	whole := true
	switch r.IntN(3) {
	case 0:
		marcel.Sleep(d)
	case 1:
		marcel.SleepUntil(began.Add(d))
	case 2:
		ctx, cancel := brief(r)
		whole = marcel.SleepContext(ctx, d) == nil
		cancel()
	}
	if e := time.Since(began); whole && e < d {
		w.fail("slept %v instead of %v", e, d)
	}
}

// timers: of several that wait for a timer, or take it back, one has the expiry.
func (w *round) timers(r *rand.Rand) {
	var taken atomic.Int32
	began := time.Now()
	d := upTo(r, 300*time.Microsecond)
	timer := marcel.NewTimer(time.Hour)
	if !timer.Reset(d) {
		w.fail("a timer of an hour was over already")
	}
	stops := r.IntN(4) == 0
	w.team(r, 1+r.IntN(3), func(i int, r *rand.Rand) {
		if stops && i == 0 {
			if timer.Stop() {
				taken.Add(1)
			}
			return
		}
		var got bool
		switch r.IntN(3) {
		case 0:
			got = timer.Wait()
		case 1: // no other thread may take it: another one's case is never ready then
			got = marcel.SelectTimeout(2*time.Millisecond, timer.Case()) == 0
		case 2:
			got = timer.TryWait()
		}
		if got {
			taken.Add(1)
			if e := time.Since(began); e < d {
				w.fail("a timer was over after %v instead of %v", e, d)
			}
		}
	})
	if timer.Stop() {
		taken.Add(1)
	}
	if n := taken.Load(); n != 1 {
		w.fail("an expiry was taken %d times", n)
	}
}

// functions: each function either runs once or was stopped, after each start.
func (w *round) functions(r *rand.Rand) {
	var ran marcel.Semaphore
	starts := 0
	var timers [4]*marcel.Timer
	for i := range timers {
		timers[i] = marcel.AfterFunc(upTo(r, 300*time.Microsecond), ran.Release)
		starts++
	}
	for _, timer := range timers {
		switch r.IntN(3) {
		case 0:
			if !timer.Reset(upTo(r, 100*time.Microsecond)) {
				starts++
			}
		case 1:
			if timer.Stop() {
				starts--
			}
		}
	}
	for range starts {
		acquire(&ran).until(w, r)
	}
	if ran.TryAcquire() {
		w.fail("a function ran though it was stopped, or twice")
	}
}

// ticks: ticks come neither early nor twice.
func (w *round) ticks(r *rand.Rand) {
	const period = 200 * time.Microsecond
	began := time.Now()
	ticker := marcel.NewTicker(period)
	var got atomic.Int64
	w.team(r, 1+r.IntN(2), func(_ int, r *rand.Rand) {
		for range 3 {
			switch r.IntN(3) {
			case 0:
				got.Add(int64(ticker.Wait()))
			case 1:
				got.Add(int64(ticker.TryWait()))
			case 2:
				c := ticker.Case()
				if i, err := marcel.SelectContext(context.Background(), c, marcel.After(time.Millisecond)); err == nil && i == 0 {
					got.Add(int64(c.Ticks))
				}
			}
		}
	})
	ticker.Stop()
	if most := int64(time.Since(began) / period); got.Load() > most {
		w.fail("%d ticks came in the time of %d", got.Load(), most)
	}
	if ticker.Wait() != 0 {
		w.fail("a ticker that was stopped ticks")
	}
}
