package direct

import (
	"runtime"
	"sync"
	"testing"
)

func TestSupported(t *testing.T) { t.Log(Supported()) }

// leap is the loop that callers of Switch need.
func leap(g uintptr) {
	for {
		switch Try(g) {
		case Done:
			return
		case Recorded:
			HandOver(new(Seat), g)
			return
		default:
			runtime.Gosched()
		}
	}
}

func BenchmarkSwitch(b *testing.B) {
	if !Supported() {
		b.Skip("no direct switch here")
	}
	Hold()
	defer Unhold()
	base := Current()
	stop := false
	var g uintptr
	var wg sync.WaitGroup
	wg.Add(1)
	var seat Seat
	g = Go(func() {
		defer wg.Done()
		if g == 0 {
			Park(&seat)
		}
		for !stop {
			leap(base)
		}
	})
	for g == 0 {
		runtime.Gosched()
		if seat.Parked() {
			g = seat.G
		}
	}
	for b.Loop() {
		leap(g)
	}
	stop = true
	Ready(g)
	wg.Wait()
}

func BenchmarkGo(b *testing.B) {
	if !Supported() {
		b.Skip("no direct switch here")
	}
	Hold()
	defer Unhold()
	taken := 0
	for b.Loop() {
		if g := Go(func() {}); g != 0 {
			taken++
			Ready(g)
		}
	}
	b.ReportMetric(float64(taken)/float64(b.N), "taken/op")
}
