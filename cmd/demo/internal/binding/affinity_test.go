package binding

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAllowed(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpus := Allowed()
	if len(cpus) == 0 || len(cpus) > runtime.NumCPU() {
		t.Errorf("Allowed() = %v, the Go runtime counts %d", cpus, runtime.NumCPU())
	}
}

func TestPair(t *testing.T) {
	if a, b, ok := Pair([]int{3}); ok {
		t.Errorf("one CPU was paired: %d, %d", a, b)
	}
	if _, _, ok := Pair(nil); ok {
		t.Error("no CPU was paired")
	}
	// CPUs that no machine here has, hence no siblings known.
	if a, b, ok := Pair([]int{1000, 1001, 1002}); !ok || a != 1000 || b != 1001 {
		t.Errorf("Pair = %d, %d, %v", a, b, ok)
	}
}

// TestThread binds a thread that ends with its goroutine and looks where it may run.
func TestThread(t *testing.T) {
	cpus := Allowed()
	last := cpus[len(cpus)-1]
	got := make(chan []int)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here
		if err := Thread(last); err != nil {
			if Permitted() == nil {
				t.Errorf("binding is permitted, but: %v", err)
			}
			got <- []int{last}
			return
		}
		got <- Allowed()
	}()
	if diff := cmp.Diff([]int{last}, <-got); diff != "" {
		t.Error(diff)
	}
}

// CPUs that no machine here has, hence no siblings known.
func TestOther(t *testing.T) {
	for _, c := range []struct {
		a    int
		cpus []int
		want int
	}{{1000, []int{1000, 1001}, 1001}, {1001, []int{1000, 1001}, 1000}, {1000, []int{1002}, 1002}, {1000, []int{1000}, 1000}} {
		if got := Other(c.a, c.cpus); got != c.want {
			t.Errorf("Other(%d, %v) = %d, want %d", c.a, c.cpus, got, c.want)
		}
	}
}
