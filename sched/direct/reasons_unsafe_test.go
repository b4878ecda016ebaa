//go:build go1.26 && !go1.28 && linux && (amd64 || (arm64 && !cgo)) && !portable

package direct

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// Whatever a goroutine can wait for by its own code is told from what the runtime makes it wait for.
func TestByChoice(t *testing.T) {
	if !Supported() {
		t.Skip("no direct switch here")
	}
	a, b := net.Pipe()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ch, done := make(chan int), make(chan int)
	var mu sync.Mutex
	var rw sync.RWMutex
	var wg sync.WaitGroup
	cond := sync.NewCond(&mu)
	mu.Lock()
	rw.Lock()
	wg.Add(1)
	ends := map[string]func(){
		"receive": func() { <-ch },
		"send":    func() { done <- 1 },
		"select": func() {
			select {
			case <-ch:
			case <-time.After(time.Minute):
			}
		},
		"sleep":     func() { time.Sleep(time.Second / 2) },
		"mutex":     func() { mu.Lock(); defer mu.Unlock() },
		"rlock":     func() { rw.RLock(); defer rw.RUnlock() },
		"waitgroup": wg.Wait,
		"condition": func() { mu.Lock(); cond.Wait(); mu.Unlock() },
		"pipe":      func() { _, _ = a.Read(make([]byte, 1)) },
		"network":   func() { _, _ = listener.Accept() },
	}
	var all sync.WaitGroup
	for name, wait := range ends {
		g := make(chan uintptr)
		all.Go(func() {
			g <- Current()
			wait()
		})
		gp := <-g
		for end := time.Now().Add(10 * time.Second); Status(gp) != Waiting || !ByChoice(gp); runtime.Gosched() {
			if time.Now().After(end) {
				t.Errorf("%s: not seen to wait by choice", name)
				break
			}
		}
	}
	// Parked by Park, it waits for us, not by choice.
	var seat Seat
	all.Go(func() { Park(&seat) })
	for !seat.Parked() {
		runtime.Gosched()
	}
	for Status(seat.G) != Waiting {
		runtime.Gosched()
	}
	if ByChoice(seat.G) {
		t.Error("what Park has parked waits by choice")
	}
	Ready(seat.G)
	mu.Unlock()
	rw.Unlock()
	wg.Done()
	close(ch)
	<-done
	_ = b.Close()
	_ = listener.Close()
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	for {
		select {
		case <-ended:
			return
		default:
			cond.Broadcast()
			time.Sleep(time.Millisecond)
		}
	}
}

// One that begins a collection, as any allocation may, waits for a semaphore of the runtime's: not by choice.
func TestCollectingIsNoChoice(t *testing.T) {
	if !Supported() {
		t.Skip("no direct switch here")
	}
	const semacquire = 13
	var stop atomic.Bool
	var all sync.WaitGroup
	gs := make(chan uintptr)
	for range 2 {
		all.Go(func() {
			for gs <- Current(); !stop.Load(); {
				runtime.GC()
			}
		})
	}
	one, other := <-gs, <-gs
	seen := 0
	for end := time.Now().Add(time.Minute); seen < 20 && time.Now().Before(end); runtime.Gosched() {
		for _, gp := range []uintptr{one, other} {
			before := reasonOf(gp)
			if Status(gp) != Waiting || before != semacquire {
				continue
			}
			if chosen := ByChoice(gp); reasonOf(gp) == before {
				if seen++; chosen {
					t.Error("one that waits for another one's collection does so by choice")
					seen = 20
				}
			}
		}
	}
	stop.Store(true)
	all.Wait()
	if seen == 0 {
		t.Error("neither was seen to wait for the other")
	}
}

//go:norace
func reasonOf(gp uintptr) uint8 { return *(*uint8)(unsafe.Add(address(gp), gWaitreason)) }
