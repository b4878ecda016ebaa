//go:build linux

package direct

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// noise has the runtime do, until stop, what looks at all goroutines: collections, profiles,
// dumps, changes of GOMAXPROCS.
func noise(t *testing.T) {
	old := debug.SetGCPercent(10)
	procs := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	often := func(pause time.Duration, f func()) {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(pause):
					f()
				}
			}
		})
	}
	often(time.Millisecond, runtime.GC)
	often(5*time.Millisecond, func() { _ = pprof.Lookup("goroutine").WriteTo(new(bytes.Buffer), 0) })
	often(7*time.Millisecond, func() { runtime.Stack(make([]byte, 1<<16), true) })
	often(20*time.Millisecond, func() {
		runtime.GOMAXPROCS(procs + 2)
		runtime.GOMAXPROCS(procs + 1)
	})
	t.Cleanup(func() {
		close(stop)
		wg.Wait()
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(old)
	})
}

// deep calls f with so many frames below it, each with a pointer into itself, which a stack
// that is copied has to adjust.
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
	below := deep(n-1, f)
	return below + *p
}

func steps(n int) int {
	return effort.Choose(n/5, n/2, n)
}

// TestStorm: fibers keep their stacks and what they compute over switches, on changing OS
// threads, while the runtime looks at them all the time.
func TestStorm(t *testing.T) {
	noise(t)
	var turns, moves atomic.Int64
	var fs []func(*fiber)
	for i := range 40 {
		fs = append(fs, func(f *fiber) {
			x := 1.0 + float64(i)
			y, last := x, f.on.Load()
			for n := range steps(2000) {
				depth := (i*7 + n) % 60
				if got := deep(depth, func() { f.yield(n%3 != 0) }); got != depth*(depth+1)/2 {
					t.Errorf("a stack of %d frames: %d", depth, got)
				}
				if c := f.on.Load(); c != last {
					moves.Add(1)
					last = c
				}
				x += 0.5
				y += 0.5
				turns.Add(1)
			}
			if x != y || x != 1+float64(i)+0.5*float64(steps(2000)) {
				t.Errorf("floating point: %v, %v", x, y)
			}
		})
	}
	w := runWorld(t, 3, fs...)
	t.Logf("%d turns, %d on another OS thread, %d taken back", turns.Load(), moves.Load(), w.taken.Load())
	if turns.Load() != int64(40*steps(2000)) || moves.Load() == 0 {
		t.Error("they have not all run, or never moved")
	}
}

// TestRepossess: fibers that wait in Go lose their OS thread and come back; some end without.
func TestRepossess(t *testing.T) {
	noise(t)
	var fs []func(*fiber)
	var mu sync.Mutex
	counter := 0
	const pairs = 8
	for i := range pairs {
		ping, pong := make(chan int), make(chan int)
		rounds := steps(100)
		fs = append(fs, func(f *fiber) {
			for n := range rounds {
				ping <- n
				if got := <-pong; got != n {
					t.Errorf("%d came back as %d", n, got)
				}
				f.yield(n%2 == 0)
				mu.Lock()
				counter++
				if n%50 == 0 {
					time.Sleep(100 * time.Microsecond)
				}
				mu.Unlock()
			}
			if i%2 == 0 {
				time.Sleep(time.Millisecond) // and it ends, without a carrier
			}
		}, func(f *fiber) {
			for range rounds {
				n := <-ping
				deep(30, func() { f.yield(true) })
				pong <- n
			}
		})
	}
	w := runWorld(t, 2, fs...)
	t.Logf("taken back %d times", w.taken.Load())
	if counter != pairs*steps(100) || w.taken.Load() == 0 {
		t.Errorf("%d of %d, taken back %d times", counter, pairs*steps(100), w.taken.Load())
	}
}

// sum is a computation with closures, whose context register must survive, and with eight
// floating-point registers, without any scheduling point.
func sum(n int) (want, got float64) {
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
	m := float64(n)
	return 9*m + 36, got + a + b + c + d + e + g + h + k
}

// TestStop: fibers that never yield are stopped in the middle of their code, and go on later,
// on another OS thread perhaps, with all their registers; also between system calls, and while
// they call closures, whose prologues the collector stops them in.
func TestStop(t *testing.T) {
	noise(t)
	var fs []func(*fiber)
	end := time.Now().Add(time.Duration(steps(4000)) * time.Millisecond)
	for i := range 6 {
		fs = append(fs, func(f *fiber) {
			for n := 0; time.Now().Before(end); n++ {
				if want, got := sum(200_000); want != got {
					t.Errorf("computed %v, not %v", got, want)
					return
				}
				switch (n + i) % 50 {
				case 0:
					syscall.Getppid()
				case 1:
					f.yield(true)
				case 2:
					deep(100, func() { sum(1000) })
				}
			}
		})
	}
	w := runWorld(t, 2, fs...)
	t.Logf("asked %d times, stopped %d times, and %d times inside", w.asked.Load(), w.claimed.Load(), w.inside.Load())
	if w.claimed.Load() == 0 {
		t.Error("no coroutine was stopped")
	}
}

// TestTraced: while an execution trace is taken fibers are switched by way of the Go
// scheduler, and go on as they were when it begins and ends.
func TestTraced(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("a trace is being taken already")
	}
	var turns atomic.Int64
	var over atomic.Bool
	var fs []func(*fiber)
	for range 8 {
		fs = append(fs, func(f *fiber) {
			for n := 0; !over.Load(); n++ {
				f.yield(n%2 == 0)
				turns.Add(1)
			}
		})
	}
	go func() {
		defer over.Store(true)
		for range steps(50) {
			if err := trace.Start(new(bytes.Buffer)); err != nil {
				t.Error(err)
			}
			from := turns.Load()
			for turns.Load() < from+20 {
				time.Sleep(time.Millisecond)
			}
			trace.Stop()
			time.Sleep(3 * time.Millisecond)
		}
	}()
	runWorld(t, 2, fs...)
	t.Logf("%d turns", turns.Load())
}

// TestRefusals: Switch changes nothing unless the caller is locked to its OS thread once, and
// next is parked.
func TestRefusals(t *testing.T) {
	if !Supported() {
		t.Skip("no direct switch here")
	}
	var seat Seat
	gone := make(chan struct{})
	go func() { Park(&seat); close(gone) }()
	for !seat.Parked() {
		runtime.Gosched()
	}
	waits := make(chan uintptr)
	block := make(chan struct{})
	go func() { waits <- Current(); <-block }()
	inChannel := <-waits
	for Status(inChannel) != Waiting {
		runtime.Gosched()
	}
	expect := func(what string, g uintptr, want Refusal) {
		t.Helper()
		got := Try(g)
		for got == Asked {
			runtime.Gosched()
			got = Try(g)
		}
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	expect("not locked", seat.G, Unlocked)
	Hold()
	expect("to itself", Current(), NotParked)
	expect("to one that waits in a channel", inChannel, NotParked)
	running, stop := make(chan uintptr), make(chan struct{})
	go func() {
		running <- Current()
		<-stop
	}()
	runs := <-running
	expect("to one that runs or waits in Go", runs, NotParked)
	close(stop)
	runtime.LockOSThread()
	expect("locked once more", seat.G, Unlocked)
	runtime.UnlockOSThread()
	runtime.UnlockOSThread()
	expect("unlocked once too often", seat.G, Unlocked)
	Rehold()
	if err := trace.Start(new(bytes.Buffer)); err == nil {
		expect("traced", seat.G, Recorded)
		trace.Stop()
	}
	if Repossess(inChannel, Machine(), Current(), new(uint32), new(uint32), 1) {
		t.Error("an OS thread was taken from one that is not locked to it")
	}
	Unhold()
	if AskStop(Current()) {
		t.Error("a goroutine that is not locked was asked to stop")
	}
	close(block)
	Ready(seat.G)
	<-gone
}

// TestDeprive: the word is written while the thread is held in a system call, and not if it
// is inside.
func TestDeprive(t *testing.T) {
	if !Supported() {
		t.Skip("no direct switch here")
	}
	var fd [2]int
	if err := syscall.Pipe(fd[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd[0])
	var inside, word uint32
	gs, seen := make(chan uintptr), make(chan uint32)
	go func() {
		gs <- Current()
		_, _ = syscall.Read(fd[0], make([]byte, 1))
		seen <- atomic.LoadUint32(&word)
	}()
	g := <-gs
	for Status(g) != Syscall {
		runtime.Gosched()
	}
	inside = 1
	if Deprive(g, Syscall, &inside, &word, 7) || word != 0 {
		t.Error("one that is inside lost its word")
	}
	inside = 0
	if Deprive(g, Waiting, &inside, &word, 7) || word != 0 {
		t.Error("one in a system call was taken for one that waits")
	}
	if !Deprive(g, Syscall, &inside, &word, 7) {
		t.Error("it was not deprived")
	}
	syscall.Close(fd[1])
	if n := <-seen; n != 7 {
		t.Errorf("back from its system call it finds %d", n)
	}
}

// TestNewborn: what Go returns has not begun, and begins when it is switched to.
func TestNewborn(t *testing.T) {
	if !Supported() {
		t.Skip("no direct switch here")
	}
	Hold()
	defer Unhold()
	base, taken := Current(), 0
	for range 1000 {
		var begun, parks atomic.Bool
		var seat Seat
		parks.Store(true) // unless it is taken
		g := Go(func() {
			if parks.Load() {
				Park(&seat)
			}
			begun.Store(true)
			leap(base)
		})
		if g == 0 {
			for !seat.Parked() {
				runtime.Gosched()
			}
			g = seat.G
		} else if taken++; begun.Load() || Status(g) != Waiting {
			t.Fatalf("it is not parked: %v, %d", begun.Load(), Status(g))
		}
		parks.Store(false)
		if leap(g); !begun.Load() {
			t.Fatal("it has not begun")
		}
		Ready(g)
	}
	if taken == 0 {
		t.Error("none was taken before it began")
	}
}

// TestNames: stack dumps say what a parked goroutine waits for.
func TestNames(t *testing.T) {
	if !Supported() {
		t.Skip("no direct switch here")
	}
	var seat Seat
	gone := make(chan struct{})
	go func() { Park(&seat); close(gone) }()
	for !seat.Parked() {
		runtime.Gosched()
	}
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	if !bytes.Contains(buf, []byte("[coroutine")) || !bytes.Contains(buf, []byte("TestNames")) {
		_, _ = os.Stderr.Write(buf)
		t.Error("the dump lacks a parked goroutine")
	}
	Ready(seat.G)
	<-gone
}
