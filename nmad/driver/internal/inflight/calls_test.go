package inflight

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

func TestGatesDoNotShareLines(t *testing.T) {
	if n := unsafe.Sizeof(Calls{}); n != 128 {
		t.Errorf("a gate has %d bytes, want 128", n)
	}
}

func TestLastOneOutFrees(t *testing.T) {
	freed := 0
	s := New(2, func() { freed++ })
	if !s.Calls(0).Enter() || !s.Calls(1).Enter() || !s.Calls(1).Enter() {
		t.Fatal("an open gate turned a caller away")
	}
	s.Close()
	s.Close()
	if s.Calls(0).Enter() || s.Calls(1).Enter() {
		t.Error("a closed gate let a caller in")
	}
	s.Calls(0).Leave()
	s.Calls(1).Leave()
	if freed != 0 {
		t.Fatal("freed while a caller is inside")
	}
	s.Calls(1).Leave()
	if freed != 1 {
		t.Fatalf("freed %d times after the last one left", freed)
	}
	if s.Calls(0).Enter() {
		t.Error("a drained gate let a caller in")
	}
	if freed != 1 {
		t.Errorf("freed %d times", freed)
	}
}

func TestCloseAgainstEnter(t *testing.T) {
	for range 2000 {
		var alive atomic.Bool
		var freed, bad atomic.Int32
		alive.Store(true)
		s := New(3, func() { alive.Store(false); freed.Add(1) })
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for s.Calls(i).Enter() {
					if !alive.Load() {
						bad.Add(1)
					}
					s.Calls(i).Leave()
				}
			}()
		}
		s.Close()
		wg.Wait()
		if bad.Load() != 0 || freed.Load() != 1 {
			t.Fatalf("%d calls ran on what was freed, freed %d times", bad.Load(), freed.Load())
		}
	}
}
