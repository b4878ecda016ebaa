package fairness

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Case is one measurement.
type Case struct {
	CPUBound int
	Slices   bool // short kernel slices for the VP, long ones for the CPU-bound threads
	Peer     bool // goroutines instead of threads
}

// every is the time between two wakes.
const every = time.Millisecond

// settling: how long the CPU-bound threads have run before anything is measured.
const settling = 100 * time.Millisecond

// Measure returns the delays of n wakes by a goroutine and of n sleeps, in nanoseconds. It blocks for a little more
// than 2n milliseconds. An error: ctx ended, or the scheduler did not start.
func (c Case) Measure(ctx context.Context, cpu, n int) (wakes, sleeps []float64, err error) {
	if c.Peer {
		return c.measurePeer(ctx, n)
	}
	s, err := sched.New(sched.Config{VPs: 1, CPUs: []int{cpu}, NoKernelSlices: !c.Slices})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if e := s.Stop(context.WithoutCancel(ctx)); err == nil {
			err = e
		}
	}()
	var end atomic.Bool
	defer end.Store(true)
	for range c.CPUBound {
		s.Spawn(marcel.Attr{Name: "cpu-bound"}, func() {
			for !end.Load() {
			}
		})
	}
	// All have been preempted once; a single one keeps the VP until another thread is ready.
	for c.CPUBound > 1 && s.Stats().Total.Seizures < uint64(c.CPUBound) {
		if err := pause(ctx); err != nil {
			return nil, nil, err
		}
	}
	time.Sleep(settling)
	var sem marcel.Semaphore
	wakes, err = series(ctx, n, sem.Release, sem.Acquire, func(f func()) func() {
		t := s.Spawn(marcel.Attr{}, f)
		return func() { _ = t.Join() }
	})
	if err != nil {
		return nil, nil, err
	}
	t := s.Spawn(marcel.Attr{}, func() { sleeps = oversleeps(n, marcel.Sleep) })
	return wakes, sleeps, t.Join()
}

func (c Case) measurePeer(ctx context.Context, n int) (wakes, sleeps []float64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var end atomic.Bool
	var cpuBound sync.WaitGroup
	defer cpuBound.Wait()
	defer end.Store(true)
	for range c.CPUBound {
		cpuBound.Go(func() {
			for !end.Load() {
			}
		})
	}
	time.Sleep(settling)
	ch := make(chan struct{}, n)
	wakes, err = series(ctx, n, func() { ch <- struct{}{} }, func() { <-ch }, func(f func()) func() {
		done := make(chan struct{})
		go func() { defer close(done); f() }()
		return func() { <-done }
	})
	if err != nil {
		return nil, nil, err
	}
	done := make(chan struct{})
	go func() { defer close(done); sleeps = oversleeps(n, time.Sleep) }()
	<-done
	return wakes, sleeps, nil
}

// series has one party wait n times for the caller's wake.
func series(ctx context.Context, n int, wake, wait func(), spawn func(func()) (join func())) ([]float64, error) {
	began := time.Now()
	at := make([]time.Duration, n)
	late := make([]float64, n)
	var err error
	join := spawn(func() {
		for i := range n {
			wait()
			late[i] = float64(time.Since(began) - at[i])
		}
	})
	for i := range n {
		if err == nil {
			err = pause(ctx) // an interrupt lets the waiter go through
		}
		at[i] = time.Since(began)
		wake()
	}
	join()
	return late, err
}

func oversleeps(n int, sleep func(time.Duration)) []float64 {
	late := make([]float64, n)
	for i := range late {
		began := time.Now()
		sleep(every)
		late[i] = float64(time.Since(began) - every)
	}
	return late
}

func pause(ctx context.Context) error {
	time.Sleep(every)
	if ctx.Err() != nil {
		return fmt.Errorf("measure delays: %w", context.Cause(ctx))
	}
	return nil
}
