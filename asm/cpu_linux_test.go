package asm

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// bind pins the calling thread, which must be locked, to one processor.
func bind(t testing.TB, cpu int) {
	var one unix.CPUSet
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Skipf("binding to CPU %d is forbidden here: %v", cpu, err)
	}
}

func TestCPUIsWhereTheThreadIsBound(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var full unix.CPUSet
	if err := unix.SchedGetaffinity(0, &full); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.SchedSetaffinity(0, &full); err != nil {
			t.Error(err)
		}
	}()
	for cpu := range 1024 {
		if !full.IsSet(cpu) {
			continue
		}
		bind(t, cpu)
		for range 1000 {
			if got := CPU(); got != cpu {
				t.Fatalf("bound to %d, CPU says %d", cpu, got)
			}
			if got := getcpu(); got != cpu {
				t.Fatalf("bound to %d, getcpu says %d", cpu, got)
			}
		}
	}
}

func TestCPUAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { CPU(); getcpu() }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkCPU(b *testing.B) {
	sum := 0
	for b.Loop() {
		sum += CPU()
	}
	_ = sum
}

// The peer of CPU: the system call.
func BenchmarkGetcpu(b *testing.B) {
	sum := 0
	for b.Loop() {
		sum += getcpu()
	}
	_ = sum
}
