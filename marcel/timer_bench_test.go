package marcel_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// stoppable is what a timer of ours and one of Go have in common.
type stoppable interface{ Stop() bool }

// beside2 runs the same benchmark on a thread, with timers of ours, and on a
// goroutine, with Go's, in turns of b.Run.
func beside2(b *testing.B, fn func(b *testing.B, ours bool)) {
	b.Run("marcel", func(b *testing.B) {
		s, err := sched.New(sched.Config{VPs: 2})
		if err != nil {
			b.Fatal(err)
		}
		marcel.RunOn(s, func() { fn(b, true) })
		if err := s.Stop(context.Background()); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("go", func(b *testing.B) { beside(b, 2, func() { fn(b, false) }) })
}

// BenchmarkTimer starts and stops one timer, with others pending.
func BenchmarkTimer(b *testing.B) {
	for _, pending := range []int{0, 1_000_000} {
		b.Run(map[int]string{0: "alone", 1_000_000: "million"}[pending], func(b *testing.B) {
			beside2(b, func(b *testing.B, ours bool) {
				others := many(pending, func(i int) stoppable { return newTimer(ours, afar(i)) })
				x, y := marcel.NewTimer(time.Hour), time.NewTimer(time.Hour)
				b.ResetTimer()
				for i := range b.N {
					if d := afar(i); ours {
						x.Reset(d)
						x.Stop()
					} else {
						y.Reset(d)
						y.Stop()
					}
				}
				b.StopTimer()
				for _, o := range others {
					o.Stop()
				}
			})
		})
	}
}

// afar is an hour or so, in no order.
func afar(i int) time.Duration {
	return time.Hour + time.Duration(i*7919%1_000_003)*time.Microsecond
}

func newTimer(ours bool, d time.Duration) stoppable {
	if ours {
		return marcel.NewTimer(d)
	}
	return time.NewTimer(d)
}

func afterFunc(ours bool, d time.Duration, f func()) stoppable {
	if ours {
		return marcel.AfterFunc(d, f)
	}
	return time.AfterFunc(d, f)
}

func many(n int, make1 func(i int) stoppable) []stoppable {
	all := make([]stoppable, n)
	for i := range all {
		all[i] = make1(i)
	}
	return all
}

// BenchmarkMillionTimers has a million pending: made, then stopped; and a million
// functions that are all due at the same moment. The figures are per timer.
func BenchmarkMillionTimers(b *testing.B) {
	const n = 1_000_000
	beside2(b, func(b *testing.B, ours bool) {
		var start, stop, fire time.Duration
		var bytes uint64
		for range b.N {
			before := heap()
			t0 := time.Now()
			all := many(n, func(i int) stoppable { return newTimer(ours, afar(i)) })
			start += time.Since(t0)
			bytes += heap() - before
			t0 = time.Now()
			for _, x := range all {
				x.Stop()
			}
			stop += time.Since(t0)
			all = nil
			runtime.GC()

			var ran atomic.Int64
			f := func() { ran.Add(1) }
			due := time.Now().Add(2 * time.Second)
			all = many(n, func(int) stoppable { return afterFunc(ours, time.Until(due), f) })
			if late := time.Since(due); late > 0 {
				b.Fatalf("too slow: %v late", late)
			}
			for ran.Load() < n {
				if ours {
					marcel.Sleep(time.Millisecond)
				} else {
					time.Sleep(time.Millisecond)
				}
			}
			fire += time.Since(due)
			runtime.KeepAlive(all)
		}
		per := func(d time.Duration) float64 { return float64(d) / n / float64(b.N) }
		b.ReportMetric(per(start), "ns/start")
		b.ReportMetric(per(stop), "ns/stop")
		b.ReportMetric(per(fire), "ns/func")
		b.ReportMetric(float64(bytes)/n/float64(b.N)-16, "B/timer") // 16 are of the list
		b.ReportMetric(0, "ns/op")
	})
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkLateness measures how much later than asked for a sleep ends, or a
// function begins, while nothing else is to be done.
func BenchmarkLateness(b *testing.B) {
	ours := map[string]func(time.Duration) time.Time{
		"sleep": func(d time.Duration) time.Time { marcel.Sleep(d); return time.Now() },
		"func": func(d time.Duration) (at time.Time) {
			var s marcel.Semaphore
			marcel.AfterFunc(d, func() { at = time.Now(); s.Release() })
			s.Acquire()
			return at
		},
	}
	peers := map[string]func(time.Duration) time.Time{
		"sleep": func(d time.Duration) time.Time { time.Sleep(d); return time.Now() },
		"func": func(d time.Duration) time.Time {
			c := make(chan time.Time)
			time.AfterFunc(d, func() { c <- time.Now() })
			return <-c
		},
	}
	for _, d := range []time.Duration{50 * time.Microsecond, time.Millisecond, 20 * time.Millisecond} {
		for _, what := range []string{"sleep", "func"} {
			b.Run(what+"/"+d.String(), func(b *testing.B) {
				beside2(b, func(b *testing.B, mine bool) {
					wait := peers[what]
					if mine {
						wait = ours[what]
					}
					late := make([]float64, b.N)
					for i := range late {
						d := d + time.Duration(rand.IntN(int(d/4)))
						begin := time.Now()
						late[i] = float64(wait(d).Sub(begin) - d)
					}
					slices.Sort(late)
					b.ReportMetric(late[0], "min-ns")
					b.ReportMetric(late[len(late)/2], "p50-ns")
					b.ReportMetric(late[len(late)*99/100], "p99-ns")
				})
			})
		}
	}
}
