package stress

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// What Go offers beside this package, as threads use it, and what may go on in the process
// meanwhile.

// A street is where threads and goroutines meet by the means of Go alone.
type street struct {
	echo  chan chan int // the receiver of one sends on it
	mu    sync.Mutex
	count int // guarded by mu
	went  int // what count has to be; guarded by mu
	pipe  [2]net.Conn
	wire  [2]*os.File // nonblocking, so that a reader waits in the netpoller
	turn  chan bool   // one may use the pipe and the wire
}

func newStreet(w *round) *street {
	s := &street{echo: make(chan chan int), turn: make(chan bool, 1)}
	s.pipe[0], s.pipe[1] = net.Pipe()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	s.wire = [2]*os.File{os.NewFile(uintptr(fds[0]), "wire"), os.NewFile(uintptr(fds[1]), "wire")}
	for range 2 {
		w.helper.Go(func() {
			for ch := range s.echo {
				ch <- 1
			}
		})
	}
	for _, end := range []io.ReadWriter{s.pipe[1], s.wire[1]} {
		w.helper.Go(func() { _, _ = io.Copy(end, end) })
	}
	return s
}

func (s *street) close(w *round) {
	close(s.echo)
	for i := range 2 {
		w.must(s.pipe[i].Close())
	}
	w.must(s.wire[0].Close())
	if s.count != s.went {
		w.fail("a sync.Mutex guards a counter that counts %d of %d", s.count, s.went)
	}
}

// waitsInGo waits for goroutines, or for time, without a word to the scheduler.
func (w *round) waitsInGo(r *rand.Rand) {
	s := w.street
	switch r.IntN(8) {
	case 0:
		ch := make(chan int)
		s.echo <- ch
		<-ch
	case 1:
		select {
		case <-make(chan int):
		case <-time.After(upTo(r, 300*time.Microsecond)):
		}
	case 2:
		s.mu.Lock()
		c := s.count
		switch r.IntN(3) {
		case 0:
			marcel.Yield()
		case 1:
			time.Sleep(upTo(r, 50*time.Microsecond))
		}
		s.count = c + 1
		s.went++
		s.mu.Unlock()
	case 3:
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { time.Sleep(20 * time.Microsecond) })
		}
		wg.Wait()
	case 4:
		w.across(r, s.pipe[0])
	case 5:
		w.across(r, s.wire[0])
	case 6:
		time.Sleep(upTo(r, 200*time.Microsecond))
	case 7:
		for range r.IntN(20) {
			runtime.Gosched()
		}
	}
}

// across sends some bytes to their echo and waits for them.
func (w *round) across(r *rand.Rand, end io.ReadWriter) {
	w.street.turn <- true
	defer func() { <-w.street.turn }()
	var out, in [64]byte
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	n := 1 + r.IntN(len(out))
	if _, err := end.Write(out[:n]); err != nil {
		w.fail("a byte is not sent: %v", err)
		return
	}
	if _, err := io.ReadFull(end, in[:n]); err != nil || in != out && string(in[:n]) != string(out[:n]) {
		w.fail("%d bytes come back as others: %v", n, err)
	}
}

// locks: a thread that has locked its OS thread keeps it over whatever it does, and others
// have none of it; what it has locked once more than unlocked ends with it.
func (w *round) locks(r *rand.Rand) {
	own := fork(r)
	a := w.attr(r)
	a.Catch = true
	depth, left := 1+r.IntN(3), r.IntN(3)
	ends := r.IntN(4)
	h := w.spawn(r, a, func() {
		for range depth {
			runtime.LockOSThread()
		}
		tid := unix.Gettid()
		for range 1 + own.IntN(6) {
			name := "none"
			switch own.IntN(8) {
			case 0:
				name = "yield"
				marcel.Yield()
			case 1:
				name = "units"
				w.useUnits(own)
			case 2:
				name = "sleep"
				marcel.Sleep(upTo(own, 100*time.Microsecond))
			case 3:
				name = "waits in Go"
				w.waitsInGo(own)
			case 4:
				name = "Blocking"
				marcel.Blocking(func() { nap(own.IntN(50_000)) })
			case 5:
				name = "joins"
				w.joined(w.spawn(own, marcel.Attr{}, func() { w.useUnits(own) }), nil)
			case 6:
				name = "computes"
				burn(upTo(own, 2*time.Millisecond))
			case 7:
				name = "unlocks and locks"
				runtime.UnlockOSThread()
				runtime.LockOSThread()
			}
			if depth > 1 || name != "unlocks and locks" {
				if now := unix.Gettid(); now != tid {
					w.fail("a thread locked to OS thread %d is on %d after step %s", tid, now, name)
				}
			} else {
				tid = unix.Gettid()
			}
		}
		switch ends {
		case 0:
			runtime.Goexit()
		case 1:
			panic(errMeant)
		}
		for range depth - min(left, depth) {
			runtime.UnlockOSThread()
		}
	})
	var want error
	if ends == 1 {
		want = errMeant
	}
	w.joined(h, want)
}

// marks: what a thread has set on its goroutine is not found on the next one's.
func (w *round) marks(r *rand.Rand) {
	kind := r.IntN(4)
	h := w.spawn(r, w.attr(r), func() {
		switch kind {
		case 0:
			pprof.Do(context.Background(), pprof.Labels("a", "b"), func(context.Context) { marcel.Yield() })
		case 1:
			pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("c", "d")))
		case 2:
			if debug.SetPanicOnFault(true) {
				w.fail("a thread begins with another one's SetPanicOnFault")
			}
		case 3:
			runtime.UnlockOSThread() // of what it has not locked
		}
		marcel.Yield()
	})
	w.joined(h, nil)
}

// forks: a tree of calls that may run at the same time.
func (w *round) forks(r *rand.Rand) {
	var tree func(depth int) int
	tree = func(depth int) int {
		if depth == 0 {
			return 1
		}
		var a, b int
		marcel.Do(func() { a = tree(depth - 1) }, func() { b = tree(depth - 1) })
		return a + b
	}
	if !marcel.OnThread() {
		return // Do would use the default scheduler
	}
	if n := r.IntN(6); tree(n) != 1<<n {
		w.fail("a tree of depth %d lacks leaves", n)
	}
}

// computes calls closures past its slice, and has its registers where it left them.
func (w *round) computes(r *rand.Rand) {
	step := func(x, y float64) float64 { return x*0.999 + y }
	if r.IntN(2) == 0 {
		step = func(x, y float64) float64 { return x*0.5 - y }
	}
	run := func(n int) (a, b, c, d float64, i uint64) {
		for range n {
			a, b, c, d = step(a, 1), step(b, a), step(c, b), step(d, c)
			i = i*6364136223846793005 + 1442695040888963407
		}
		return
	}
	n := 1 + r.IntN(20_000)
	a, b, c, d, i := run(n)
	for end := time.Now().Add(upTo(r, 6*time.Millisecond)); time.Now().Before(end); {
		if a1, b1, c1, d1, i1 := run(n); a1 != a || b1 != b || c1 != c || d1 != d || i1 != i {
			w.fail("computed (%v %v %v %v %d), and then (%v %v %v %v %d)", a, b, c, d, i, a1, b1, c1, d1, i1)
		}
	}
}

// allocates makes garbage, and helps the collector that is chasing it.
func (w *round) allocates(r *rand.Rand) {
	var kept [][]uint64
	for i := range 1 + r.IntN(200) {
		x := make([]uint64, 1+r.IntN(2000))
		x[0] = uint64(i)
		kept = append(kept, x)
	}
	for i, x := range kept {
		if x[0] != uint64(i) {
			w.fail("memory of a thread has changed")
		}
	}
}

// weather is what goes on in the process while a storm lasts.
func (w *round) weather(r *rand.Rand, quit <-chan bool) {
	tracing, profiling := false, false
	each(r, quit, 3*time.Millisecond, func() {
		switch r.IntN(10) {
		case 0, 1, 2:
			w.collect()
		case 3:
			runtime.GOMAXPROCS(1 + r.IntN(8))
		case 4:
			if tracing {
				trace.Stop()
			} else {
				w.must(trace.Start(io.Discard))
			}
			tracing = !tracing
		case 5:
			w.must(pprof.Lookup("goroutine").WriteTo(io.Discard, r.IntN(3)))
		case 6:
			runtime.Stack(make([]byte, 1<<16), true)
		case 7:
			if profiling {
				pprof.StopCPUProfile()
			} else {
				w.must(pprof.StartCPUProfile(io.Discard))
			}
			profiling = !profiling
		case 8:
			runtime.ReadMemStats(new(runtime.MemStats))
		case 9:
			w.must(syscall.Setgid(os.Getgid())) // on each OS thread
		}
	})
	if tracing {
		trace.Stop()
	}
	if profiling {
		pprof.StopCPUProfile()
	}
}

// collect runs the collector; not while the round is to show that it runs without.
func (w *round) collect() {
	if !w.calm {
		runtime.GC()
	}
}
