package kernel

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLargeMasks: whatever the number of CPUs that the kernel counts with, the mask comes whole, from as few calls as doubling takes;
// a kernel that refuses every size, and one that refuses for another reason, are errors.
func TestLargeMasks(t *testing.T) {
	for _, c := range []struct{ cpus, calls int }{{1, 1}, {64, 1}, {1024, 1}, {1025, 2}, {1100, 2}, {2048, 2}, {5000, 4}, {8192, 4}, {1 << 19, 10}} {
		t.Run(fmt.Sprint(c.cpus), func(t *testing.T) {
			calls := 0
			words, err := affinity(7, func(tid int, to []uint64) (int, error) {
				calls++
				if tid != 7 || 64*len(to) < c.cpus {
					return 0, unix.EINVAL
				}
				to[0] |= 1
				to[(c.cpus-1)/64] |= 1 << ((c.cpus - 1) % 64)
				return (c.cpus + 63) / 64 * 8, nil
			})
			if err != nil || calls != c.calls {
				t.Fatalf("%d calls, %v; %d do", calls, err, c.calls)
			}
			if len(words) != (c.cpus+63)/64 || words[0]&1 == 0 || words[(c.cpus-1)/64]>>((c.cpus-1)%64)&1 == 0 {
				t.Errorf("%d words, CPU 0 or %d missing", len(words), c.cpus-1)
			}
		})
	}
	for _, errno := range []unix.Errno{unix.EINVAL, unix.ESRCH, unix.EPERM} {
		calls := 0
		words, err := affinity(0, func(int, []uint64) (int, error) { calls++; return 0, errno })
		if words != nil || !errors.Is(err, errno) || (calls == 1) != (errno != unix.EINVAL) {
			t.Errorf("%v: %d words, %v after %d calls", errno, len(words), err, calls)
		}
	}
}

// TestAffinity: a thread's mask is what was set, a longer one than the kernel's too, and an empty one is refused.
func TestAffinity(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and ends locked
		all, err := Affinity(0)
		if err != nil {
			t.Error(err)
			return
		}
		var know unix.CPUSet
		if err := unix.SchedGetaffinity(0, &know); err == nil {
			for i, w := range know {
				if i < len(all) && all[i] != uint64(w) {
					t.Errorf("word %d is %x, and %x in x/sys's set", i, all[i], w)
				}
			}
		}
		one := make([]uint64, mostWords)
		i := slices.IndexFunc(all, func(w uint64) bool { return w != 0 })
		one[i] = all[i] & -all[i]
		if err := SetAffinity(0, one); err != nil {
			t.Log("binding is forbidden: ", err)
			return
		}
		if got, err := Affinity(unix.Gettid()); err != nil || !slices.Equal(got, one[:len(got)]) {
			t.Errorf("bound to %x, mask %x, %v", one[:len(all)], got, err)
		}
		if err := SetAffinity(0, make([]uint64, 1)); !errors.Is(err, unix.EINVAL) {
			t.Errorf("no CPU at all: %v", err)
		}
		if err := SetAffinity(0, nil); !errors.Is(err, unix.EINVAL) {
			t.Errorf("no words: %v", err)
		}
	}()
	<-done
	if _, err := Affinity(1 << 30); !errors.Is(err, unix.ESRCH) {
		t.Errorf("of no thread: %v", err)
	}
}
