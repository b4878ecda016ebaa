package topo

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBind: an OS thread gets the CPUs of a set, without those that the machine has not, beyond the 1,024th too; the process's
// are those of all its threads.
func TestBind(t *testing.T) {
	before, err := ProcessAffinity()
	if err != nil || before.Empty() {
		t.Fatal(before, err)
	}
	first := CPUs(before.First())
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and ends locked
		beyond := first.Or(CPUs(1500, 5000, MaxCPUs-1))
		if err := beyond.Bind(0); err != nil {
			t.Log("binding is forbidden: ", err)
			return
		}
		for _, tid := range []int{0, unix.Gettid()} {
			if got, err := Affinity(tid); err != nil || !got.Equal(beyond.And(before)) {
				t.Errorf("bound to %v, the mask is %v, %v", beyond, got, err)
			}
		}
		if got, err := ProcessAffinity(); err != nil || !got.Equal(before) {
			t.Errorf("the process has %v with one thread bound, %v, and had %v", got, err, before)
		}
		if err := (CPUSet{}).Bind(0); !errors.Is(err, unix.EINVAL) {
			t.Errorf("no CPU: %v", err)
		}
		if err := CPUs(MaxCPUs - 1).Bind(0); !before.Has(MaxCPUs-1) && !errors.Is(err, unix.EINVAL) {
			t.Errorf("a CPU that there is not: %v", err)
		}
	}()
	<-done
	if _, err := Affinity(1 << 30); !errors.Is(err, unix.ESRCH) {
		t.Errorf("of no thread: %v", err)
	}
	if mask := ProcessMask(); mask.Empty() || !mask.Contains(first) {
		t.Errorf("the process began with %v, and has %v", mask, before)
	}
}

// TestBindProcess: all threads of the process are bound, those too that start meanwhile.
func TestBindProcess(t *testing.T) {
	before, err := ProcessAffinity()
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { // threads that begin and end all the time
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				one := make(chan struct{})
				go func() { runtime.LockOSThread(); close(one) }()
				<-one
			}
		}
	}()
	one := CPUs(before.First())
	err = one.BindProcess()
	close(stop)
	<-ended
	if err != nil {
		t.Skip("binding is forbidden: ", err)
	}
	defer func() {
		if err := before.BindProcess(); err != nil {
			t.Error(err)
		}
	}()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil || len(threads) < 2 {
		t.Fatal(len(threads), err)
	}
	if got, err := ProcessAffinity(); err != nil || !got.Equal(one) {
		t.Errorf("the process has %v, %v, want %v", got, err, one)
	}
}
