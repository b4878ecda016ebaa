package exercise

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Report says how often what happened.
type Report struct {
	Switches, Turns, Blocks, Sums, Trees uint64
	Seizures                             uint64 // VPs taken from threads that kept them for too long
}

// trial is one run of the exercise.
type trial struct {
	end    time.Time
	turns  atomic.Uint64
	blocks atomic.Uint64
	sums   atomic.Uint64
	trees  atomic.Uint64
	wrong  atomic.Pointer[error]
}

func (x *trial) over() bool { return !time.Now().Before(x.end) }

func (x *trial) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	x.wrong.CompareAndSwap(nil, &err)
}

// All does everything at once, for d.
func All(d time.Duration) (Report, error) {
	return run(d, (*trial).switching, (*trial).blocking, (*trial).cpuBound, (*trial).forks, (*trial).collecting)
}

// CPUBound computes, for d, beside threads that want to switch.
func CPUBound(d time.Duration) (Report, error) {
	return run(d, (*trial).switching, (*trial).cpuBound, (*trial).collecting)
}

// Switching switches, for d, and nothing else.
func Switching(d time.Duration) (Report, error) { return run(d, (*trial).switching) }

// Blocking switches, for d, between threads that also wait in Go and in the kernel.
func Blocking(d time.Duration) (Report, error) { return run(d, (*trial).switching, (*trial).blocking) }

func run(d time.Duration, parts ...func(*trial)) (Report, error) {
	before := sched.Default().Stats().Total
	x := &trial{end: time.Now().Add(d)}
	marcel.Run(func() {
		var all []marcel.Thread
		for _, part := range parts {
			all = append(all, marcel.Spawn(func() { part(x) }))
		}
		for _, t := range all {
			if err := t.Join(); err != nil {
				x.fail("join: %v", err)
			}
		}
	})
	after := sched.Default().Stats().Total
	r := Report{
		Switches: after.Switches - before.Switches, Seizures: after.Seizures - before.Seizures,
		Turns: x.turns.Load(), Blocks: x.blocks.Load(), Sums: x.sums.Load(), Trees: x.trees.Load(),
	}
	if err := x.wrong.Load(); err != nil {
		return r, *err
	}
	return r, nil
}

// team runs the function as so many threads and waits for them.
func team(n int, f func(i int)) {
	var all []marcel.Thread
	for i := range n {
		all = append(all, marcel.Spawn(func() { f(i) }))
	}
	for _, t := range all {
		_ = t.Join()
	}
}

// switching: threads yield, wake each other, and find their stacks and registers as they were.
func (x *trial) switching() {
	var ping, pong [4]marcel.Semaphore
	team(8, func(i int) {
		me, a, b := marcel.Self(), &ping[i/2], &pong[i/2]
		if i%2 == 1 {
			a, b = b, a
		}
		y := float64(i)
		for n := 0; n == 0 || !x.over(); n++ {
			a.Release()
			depth := (n + i) % 40
			if got := deep(depth, func() { b.Acquire(); marcel.Yield() }); got != depth*(depth+1)/2 {
				x.fail("a stack of %d frames: %d", depth, got)
			}
			if y += 0.5; y != float64(i)+0.5*float64(n+1) || marcel.Self() != me {
				x.fail("after a switch: %v after %d turns, %v", y, n+1, marcel.Self())
			}
			x.turns.Add(1)
		}
		a.Release() // for a waiter that is left
	})
}

// blocking: threads wait in channels, mutexes, sleeps and system calls, and switch in between.
func (x *trial) blocking() {
	var mu sync.Mutex
	counter, want := 0, atomic.Int64{}
	team(4, func(i int) {
		in, out := make(chan int), make(chan int)
		go func() {
			for n := range in {
				out <- n + 1
			}
			close(out)
		}()
		r, w, err := os.Pipe()
		if err != nil {
			x.fail("%v", err)
			return
		}
		defer r.Close()
		defer w.Close()
		buf := []byte{0}
		for n := 0; n == 0 || !x.over(); n++ {
			in <- n
			marcel.Yield()
			if got := <-out; got != n+1 {
				x.fail("%d came back as %d", n, got)
			}
			mu.Lock()
			counter++
			mu.Unlock()
			want.Add(1)
			switch n % 4 {
			case 0:
				time.Sleep(50 * time.Microsecond)
			case 1:
				syscall.Getppid()
			case 2:
				marcel.Blocking(func() { time.Sleep(50 * time.Microsecond) })
			case 3:
				if _, err := w.Write(buf); err != nil {
					x.fail("%v", err)
				}
				if _, err := r.Read(buf); err != nil {
					x.fail("%v", err)
				}
			}
			x.blocks.Add(1)
		}
		close(in)
		<-out
	})
	if int64(counter) != want.Load() {
		x.fail("a mutex lost %d of %d", want.Load()-int64(counter), want.Load())
	}
}

// cpuBound: threads compute with closures and floating point, longer than their slice, without a
// scheduling point; some make system calls meanwhile.
func (x *trial) cpuBound() {
	team(4, func(i int) {
		for first := true; first || !x.over(); first = false {
			want, got := Sum(3_000_000)
			if want != got {
				x.fail("computed %v, not %v", got, want)
			}
			x.sums.Add(1)
			for n := 0; i%2 == 0 && n < 1000; n++ {
				syscall.Getppid()
			}
		}
	})
}

// Sum computes without any scheduling point, by closures, whose context has a register, and in eight floating-point
// registers.
func Sum(n int) (want, got float64) {
	a, b, c, d, e, g, h, k := 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0
	fs := []func(float64) float64{
		func(x float64) float64 { return x + a - a },
		func(x float64) float64 { return x + b - b },
	}
	for i := range n {
		a, b, c, d = a+1, b+1, c+1, d+1
		e, g, h, k = e+1, g+1, h+1, k+1
		got = fs[i%2](got) + 1
	}
	return 9*float64(n) + 36, got + a + b + c + d + e + g + h + k
}

// deep calls f with so many frames below it, each with a pointer into itself, which has to be
// adjusted when the stack is copied.
//
//go:noinline
func deep(n int, f func()) int {
	var frame [8]int
	p := &frame[n%8]
	*p = n
	if n == 0 {
		f()
		return 0
	}
	return deep(n-1, f) + *p
}

// forks: trees of threads.
func (x *trial) forks() {
	for first := true; first || !x.over(); first = false {
		if got := fib(14); got != 377 {
			x.fail("fib(14) = %d", got)
		}
		x.trees.Add(1)
	}
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	var a, b int
	marcel.Do(func() { a = fib(n - 1) }, func() { b = fib(n - 2) })
	return a + b
}

// collecting: garbage, and collections.
func (x *trial) collecting() {
	for !x.over() {
		keep := make([][]byte, 100)
		for i := range keep {
			keep[i] = make([]byte, 1000+i)
			marcel.Yield()
		}
		runtime.GC()
	}
}
