package asm

import (
	"runtime"
	"testing"

	"github.com/pm2-go/pm2/internal/kernel"
)

// bind pins the calling thread, which must be locked, to one processor.
func bind(t testing.TB, cpu int) {
	one := make([]uint64, cpu/64+1)
	one[cpu/64] = 1 << (cpu % 64)
	if err := kernel.SetAffinity(0, one); err != nil {
		t.Skipf("binding to CPU %d is forbidden here: %v", cpu, err)
	}
}

func TestCPUIsWhereTheThreadIsBound(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	full, err := kernel.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := kernel.SetAffinity(0, full); err != nil {
			t.Error(err)
		}
	}()
	for cpu := range 64 * len(full) {
		if full[cpu/64]>>(cpu%64)&1 == 0 {
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
