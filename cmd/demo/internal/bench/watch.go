package bench

import (
	"math"
	"os"
	"runtime"
	"slices"
	"time"
)

// watch times one repetition and counts its allocations. One thread at a time may use it.
type watch struct {
	start   time.Time
	elapsed time.Duration
	mallocs uint64
	share   float64
	before  runtime.MemStats
	after   runtime.MemStats
	bytes   float64 // held per operation, where a row measures that
	threads int     // most OS threads of the process, where a row counts them
}

// begin starts the clock. What precedes it in a repetition is warm-up.
func (w *watch) begin() {
	runtime.ReadMemStats(&w.before) // stops the world, hence outside of the timed part
	w.start = time.Now()
}

// end stops the clock.
func (w *watch) end() {
	w.elapsed = time.Since(w.start)
	runtime.ReadMemStats(&w.after)
	w.mallocs = w.after.Mallocs - w.before.Mallocs
}

// timed times turns(n). Before that it has warm turns made, or n if that is less, which it does not time.
func (w *watch) timed(n, warm int, turns func(n int) error) error {
	if err := turns(min(n, warm)); err != nil {
		return err
	}
	w.begin()
	err := turns(n)
	w.end()
	return err
}

// timedLoop is timed for turns that cannot fail.
func (w *watch) timedLoop(n, warm int, turns func(n int)) error {
	return w.timed(n, warm, func(n int) error { turns(n); return nil })
}

// set replaces what the clock showed by a figure that the repetition computed itself.
func (w *watch) set(d time.Duration) { w.elapsed = d }

// shares notes how many operations each of several competitors has performed.
func (w *watch) shares(of []int) {
	w.share = float64(slices.Max(of)) / float64(max(slices.Min(of), 1))
}

// settled collects garbage before it begins, for held. The stacks of goroutines that have ended, among them those that
// carried our threads, count as in use until they are given back, and the next row would get them for nothing: a
// collection takes them from their goroutines, and the next one from the caches of the Ps. So settled goes on until two
// collections free no more stacks.
func (w *watch) settled() {
	for last := uint64(math.MaxUint64); ; last = w.before.StackInuse {
		runtime.GC()
		runtime.GC()
		w.begin()
		if w.before.StackInuse >= last {
			return
		}
	}
}

// held notes how much memory is in use, per operation, beyond what was when it settled: heap and stacks, after a
// collection.
func (w *watch) held(n int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	use := func(m *runtime.MemStats) float64 { return float64(m.HeapAlloc) + float64(m.StackInuse) }
	w.bytes = (use(&m) - use(&w.before)) / float64(n)
}

// countThreads counts the OS threads of the process; the row shows the most of all counts.
func (w *watch) countThreads() error {
	tasks, err := os.ReadDir("/proc/self/task")
	w.threads = max(w.threads, len(tasks))
	return err
}

// sample is the outcome of one repetition.
type sample struct {
	ns     float64 // per operation
	p90    float64 // of an exchange's messages, as ns is their median; 0: it is none
	p99    float64
	allocs float64 // per operation
	share  float64 // largest over smallest; 0: no thread competes
	bytes  float64 // per operation; 0: not measured

	osThreads int // the most of the process; 0: not counted
}

func (w *watch) sample(n int) sample {
	return sample{
		ns:     float64(w.elapsed.Nanoseconds()) / float64(n),
		allocs: float64(w.mallocs) / float64(n),
		share:  w.share,
		bytes:  w.bytes,

		osThreads: w.threads,
	}
}
