package sched

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pm2-go/pm2/sched/direct"
)

// keeps has a thread compute on the only VP while another one is ready, and checks whether that
// has its turn before the first yields: at some time if it is to be preempted, else not for 50 slices.
func keeps(t *testing.T, want bool, no bool) {
	s := running(t, Config{VPs: 1, Slice: time.Millisecond, Period: 250 * time.Microsecond, NoPreemption: no})
	if s.preempts == want {
		t.Errorf("threads are asked to stop: %v", s.preempts)
	}
	var began, end, ran atomic.Bool
	cpuBound := s.Spawn(Attr{}, func() {
		began.Store(true)
		for !end.Load() {
		}
	})
	awaited(t, "the thread computes", began.Load)
	other := s.Spawn(Attr{}, func() { ran.Store(true) })
	if want {
		time.Sleep(50 * time.Millisecond)
		if n := s.Stats().Total.Seizures; ran.Load() || n != 0 {
			t.Errorf("the VP was taken %d times; the other has run: %v", n, ran.Load())
		}
	} else {
		awaited(t, "it is preempted", ran.Load)
	}
	end.Store(true)
	_, _ = cpuBound.Join(), other.Join()
}

// TestSaysAsyncPreemptOff: the setting is read as the runtime reads it.
func TestSaysAsyncPreemptOff(t *testing.T) {
	for godebug, want := range map[string]bool{
		"": false, "asyncpreemptoff=1": true, "asyncpreemptoff=0": false, "gctrace=1,asyncpreemptoff=1": true,
		"asyncpreemptoff=1,asyncpreemptoff=0": false, "xasyncpreemptoff=1": false, "asyncpreemptoff=yes": false,
	} {
		if saysAsyncPreemptOff(godebug) != want {
			t.Errorf("%q: want %v", godebug, want)
		}
	}
}

func needsPreemption(t *testing.T) {
	if !isDirect {
		t.Skip("in the portable mode a thread that computes loses its VP, and is not stopped")
	}
}

// TestNoPreemption: with Config.NoPreemption a thread that computes keeps its VP.
func TestNoPreemption(t *testing.T) {
	needsPreemption(t)
	keeps(t, true, true)
}

// TestAsyncPreemptOff: the same in a program that was started with GODEBUG=asyncpreemptoff=1, and in no other.
func TestAsyncPreemptOff(t *testing.T) {
	needsPreemption(t)
	const child = "PM2_TEST_KEEPS"
	if want := os.Getenv(child); want != "" {
		keeps(t, want == "true", false)
		return
	}
	for setting, want := range map[string]bool{"": false, "asyncpreemptoff=1": true, "asyncpreemptoff=1,asyncpreemptoff=0": false} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAsyncPreemptOff$", "-test.v")
		cmd.Env = append(os.Environ(), "GODEBUG="+setting, fmt.Sprintf("%s=%v", child, want))
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("GODEBUG=%s, to be kept: %v: %v\n%s", setting, want, err, out)
		}
	}
}

// TestMode: the two packages agree on where there is a direct switch, and there a scheduler is
// refused in a bubble of testing/synctest, and only there.
func TestMode(t *testing.T) {
	if direct.Supported() != isDirect {
		t.Errorf("package direct: %v, this one: %v", direct.Supported(), isDirect)
	}
	if isDirect {
		synctest.Test(t, func(t *testing.T) {
			if _, err := New(Config{VPs: 1}); err != errInSynctest {
				t.Errorf("in a bubble: %v", err)
			}
		})
	}
	_ = running(t, Config{VPs: 1}).Spawn(Attr{}, func() {}).Join()
}

// TestStopsInAssembly: the signal that is to stop a thread has no effect where it meets assembly. So a thread that hashes is sent more
// of them, and is preempted about as often as one that counts.
func TestStopsInAssembly(t *testing.T) {
	needsPreemption(t)
	preempted := func(compute func()) uint64 {
		s := running(t, Config{VPs: 1, Slice: time.Millisecond, Period: 250 * time.Microsecond})
		var end atomic.Bool
		var computing []Thread
		for range 2 {
			computing = append(computing, s.Spawn(Attr{}, func() {
				for !end.Load() {
					compute()
				}
			}))
		}
		time.Sleep(200 * time.Millisecond)
		n := s.Stats().Total.Seizures
		end.Store(true)
		for _, h := range computing {
			_ = h.Join()
		}
		return n
	}
	block := make([]byte, 64)
	var plain, hashing uint64
	for range 5 {
		plain = preempted(func() {})
		hashing = preempted(func() { sha256.Sum256(block) })
		if hashing > 0 && hashing >= plain/2 {
			return
		}
	}
	t.Errorf("a thread that counts was preempted %d times, one that hashes %d times", plain, hashing)
}
