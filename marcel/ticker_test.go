package marcel_test

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// No tick comes before its time, none is lost, none comes twice: after any wait the
// number of ticks got is that of the periods that have passed, give or take what
// passes meanwhile.
func TestTicker(t *testing.T) {
	worlds(t, func(w *world) {
		w.Go(func() {
			const period = 150 * time.Microsecond
			before := time.Now()
			x := marcel.NewTicker(period)
			after := time.Now()
			defer x.Stop()
			got := 0
			for i := range effort.Of(300) {
				since := time.Since(after)
				n := x.Wait()
				if got += n; n < 1 {
					w.Fatalf("%d ticks", n)
				}
				if most := int(time.Since(before) / period); got > most {
					w.Fatalf("%d ticks in %d periods", got, most)
				}
				if least := int(since / period); got < least {
					w.Fatalf("%d ticks in %d periods", got, least)
				}
				if i%10 == 0 {
					compute(2 * period) // come late
				}
			}
		})
	})
}

// Ticks that several wait for add up: each goes to one of them.
func TestTickerOfSeveral(t *testing.T) {
	worlds(t, func(w *world) {
		const period = 100 * time.Microsecond
		before := time.Now()
		x := marcel.NewTicker(period)
		after := time.Now()
		var got atomic.Int64
		var parts sync.WaitGroup
		parts.Add(3)
		for i := range 3 {
			w.Go(func() {
				defer parts.Done()
				for range effort.Of(100) {
					if i == 0 {
						k := x.Case()
						if marcel.Select(nil, k) != 1 || k.Ticks < 1 {
							w.Error("no tick")
						}
						got.Add(int64(k.Ticks))
					} else {
						got.Add(int64(x.Wait()))
					}
				}
			})
		}
		parts.Wait()
		least := int64(time.Since(after) / period)
		n := got.Load() + int64(x.TryWait())
		if most := int64(time.Since(before) / period); n < least || n > most {
			w.Errorf("%d ticks in %d to %d periods", n, least, most)
		}
		x.Stop()
	})
}

// A ticker that is stopped and reset while several wait for it: none is left
// waiting, and no tick comes before its time.
func TestTickerResets(t *testing.T) {
	worlds(t, func(w *world) {
		x := marcel.NewTicker(time.Microsecond)
		var quit atomic.Bool
		for i := range 3 {
			w.Go(func() {
				for n := 0; !quit.Load(); n++ {
					if i == 0 {
						marcel.SelectTimeout(30*time.Microsecond, x.Case())
					} else if x.Wait() == 0 && !quit.Load() {
						marcel.Sleep(time.Microsecond)
					}
				}
			})
		}
		w.Go(func() {
			for n := range effort.Of(2000) {
				switch {
				case n%7 == 0:
					x.Stop()
				case n%50 == 1:
					begin := time.Now()
					if x.Reset(time.Hour); x.TryWait() != 0 {
						w.Errorf("a tick of an hour after %v", time.Since(begin))
					}
				default:
					x.Reset(time.Duration(1+n%40) * time.Microsecond)
				}
				if marcel.Yield(); n%3 == 0 {
					marcel.Sleep(10 * time.Microsecond)
				}
			}
			x.Stop()
			quit.Store(true)
			x.Stop()
		})
	})
}

// Stop ends the waits, also of Selects that time out; Reset starts again.
func TestTickerStop(t *testing.T) {
	run(t, brisk(2), func(*sched.Scheduler) {
		x := marcel.NewTicker(time.Hour)
		var all []marcel.Thread
		for range 3 {
			all = append(all, marcel.Spawn(func() {
				if n := x.Wait(); n != 0 {
					t.Errorf("%d ticks of an hour", n)
				}
			}))
		}
		marcel.Sleep(time.Millisecond)
		x.Reset(math.MaxInt64)
		marcel.Sleep(time.Millisecond)
		x.Stop()
		for _, a := range all {
			must(t, a.Join())
		}
		if x.Wait() != 0 || x.TryWait() != 0 || marcel.SelectTimeout(time.Millisecond, x.Case()) != -1 {
			t.Error("it was stopped")
		}
		x.Reset(time.Nanosecond)
		for range 2 {
			if x.Wait() < 1 {
				t.Error("it did not start again")
			}
		}
		x.Stop()
		var zero marcel.Ticker
		if zero.Wait() != 0 {
			t.Error("the zero Ticker is stopped")
		}
		panics(t, "period", func() { marcel.NewTicker(0) })
		panics(t, "period", func() { zero.Reset(-time.Second) })
	})
}
