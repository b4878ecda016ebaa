package machine

import (
	"runtime"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// fakeProcs is a Go runtime whose GOMAXPROCS is a number.
type fakeProcs struct {
	procCount
	now, usual int         // GOMAXPROCS, and the runtime's own choice
	custom     bool        // it was set
	meanwhile  map[int]int // what the program sets just before GOMAXPROCS becomes the key
}

func newFakeProcs(now, usual int) *fakeProcs {
	f := &fakeProcs{now: now, usual: usual, meanwhile: map[int]int{}}
	f.setProcs = f.set1
	f.useDefault = func() { f.now, f.custom = f.usual, false }
	return f
}

// set1 is runtime.GOMAXPROCS.
func (f *fakeProcs) set1(n int) int {
	if v, ok := f.meanwhile[n]; ok {
		delete(f.meanwhile, n)
		f.now = v
	}
	before := f.now
	if n > 0 {
		f.now, f.custom = n, true
	}
	return before
}

// TestProcs: GOMAXPROCS after each step. A step is an addition (raise, lower), or 0 with what
// the program sets.
func TestProcs(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	type step struct{ add, program, want int }
	for _, c := range []struct {
		name   string
		now    int // of a runtime whose own choice is 2
		steps  []step
		custom bool // GOMAXPROCS is at the end a value that was set
	}{
		{"the runtime's own choice", 2, []step{{3, 0, 5}, {4, 0, 9}, {-4, 0, 5}, {-3, 0, 2}}, false},
		{"set before", 7, []step{{3, 0, 10}, {-3, 0, 7}}, true},
		{"set while raised", 2, []step{{3, 0, 5}, {0, 6, 6}, {1, 0, 10}, {-1, 0, 9}, {-3, 0, 6}}, true},
		{"set while raised, then lowered", 2, []step{{3, 0, 5}, {0, 6, 6}, {-3, 0, 6}}, true},
		{"set to less", 8, []step{{3, 0, 11}, {0, 1, 1}, {1, 0, 5}, {-4, 0, 1}}, true},
		{"set twice", 2, []step{{3, 0, 5}, {0, 6, 6}, {0, 4, 4}, {1, 0, 8}, {0, 9, 9}, {-1, 0, 12}, {-3, 0, 9}}, true},
		{"set and put back", 2, []step{{3, 0, 5}, {0, 1, 1}, {0, 5, 5}, {1, 0, 6}, {-4, 0, 2}}, false},
		{"set, raised, and put back", 2, []step{{3, 0, 5}, {0, 1, 1}, {4, 0, 8}, {0, 5, 5}, {1, 0, 10}, {-8, 0, 2}}, false},
		{"set, raised by as much as it fell, and put back", 2, []step{{3, 0, 5}, {0, 1, 1}, {1, 0, 6}, {0, 5, 5}, {1, 0, 7}, {-5, 0, 2}}, false},
		{"put back when nothing is raised any more", 2, []step{{3, 0, 5}, {0, 1, 1}, {-3, 0, 1}, {0, 5, 5}, {3, 0, 8}, {-3, 0, 5}}, true},
		{"the next one starts from what it finds", 2, []step{{3, 0, 5}, {-3, 0, 2}, {0, 3, 3}, {3, 0, 6}, {-3, 0, 3}}, true},
		{"raised by nothing", 2, []step{{0, 0, 2}, {1, 0, 3}, {-1, 0, 2}}, false},
	} {
		f := newFakeProcs(c.now, 2)
		f.custom = c.now != 2
		for i, s := range c.steps {
			if s.program > 0 {
				f.set1(s.program)
			} else {
				f.add(s.add)
			}
			if f.now != s.want {
				t.Errorf("%s: GOMAXPROCS is %d after step %d, want %d", c.name, f.now, i, s.want)
			}
		}
		if f.extra != 0 || f.custom != c.custom {
			t.Errorf("%s: at the end %d are raised, custom %v, want %v", c.name, f.extra, f.custom, c.custom)
		}
	}
}

// TestProcsMeanwhile: the program sets GOMAXPROCS between the look at it and the change.
func TestProcsMeanwhile(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	f := newFakeProcs(2, 2)
	f.meanwhile[5] = 9
	if f.add(3); f.now != 12 {
		t.Errorf("GOMAXPROCS is %d, want the program's 9 and 3", f.now)
	}
	if f.add(-3); f.now != 9 || !f.custom {
		t.Errorf("GOMAXPROCS is %d, want 9", f.now)
	}
}

// TestProcsEnvironment: a GOMAXPROCS from the environment stays, and the runtime is not asked.
func TestProcsEnvironment(t *testing.T) {
	t.Setenv("GOMAXPROCS", "2")
	f := newFakeProcs(2, 2)
	f.useDefault = func() { t.Error("the runtime was asked") }
	f.add(3)
	if f.add(-3); f.now != 2 || !f.custom {
		t.Errorf("GOMAXPROCS is %d, custom %v", f.now, f.custom)
	}
}

// TestProcsModel compares with a model: a value that the program set holds until the next
// change, which adds what is raised; at the end it is GOMAXPROCS. The program sets values
// that nothing else does, so that it puts none back.
func TestProcsModel(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	rapid.Check(t, func(t *rapid.T) {
		base, extra := rapid.IntRange(1, 4).Draw(t, "GOMAXPROCS"), 0
		f := newFakeProcs(base, 2)
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				n := rapid.IntRange(1, 9).Draw(t, "raise")
				extra += n
				f.add(n)
			case 1:
				if extra == 0 {
					continue
				}
				n := rapid.IntRange(1, extra).Draw(t, "lower")
				extra -= n
				f.add(-n)
			case 2:
				base = 1000 * (i + 1)
				f.set1(base)
				continue
			}
			if f.now != base+extra {
				t.Fatalf("GOMAXPROCS is %d, want %d and %d", f.now, base, extra)
			}
		}
		if f.add(-extra); f.now != base {
			t.Fatalf("GOMAXPROCS is %d at the end, want %d", f.now, base)
		}
	})
}

// TestRaiseProcs: with the Go runtime itself, from several goroutines.
func TestRaiseProcs(t *testing.T) {
	procs.mu.Lock()
	raised := procs.extra
	procs.mu.Unlock()
	if raised != 0 {
		t.Skip("a scheduler runs")
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var wg sync.WaitGroup
	lowers := make(chan func(), 4)
	for range cap(lowers) {
		wg.Go(func() { lowers <- RaiseProcs(2) })
	}
	wg.Wait()
	if n := runtime.GOMAXPROCS(0); n != before+8 {
		t.Errorf("GOMAXPROCS is %d, raised from %d by 8", n, before)
	}
	runtime.GOMAXPROCS(before + 3)
	HeedProcs()
	if n := runtime.GOMAXPROCS(0); n != before+3+8 || baseProcs() != before+3 {
		t.Errorf("GOMAXPROCS is %d, base %d; the program set %d and 8 are raised", n, baseProcs(), before+3)
	}
	HeedProcs()
	(<-lowers)()
	if n := runtime.GOMAXPROCS(0); n != before+3+6 {
		t.Errorf("GOMAXPROCS is %d, the program set %d and 6 are raised", n, before+3)
	}
	for range 3 {
		wg.Go(<-lowers)
	}
	wg.Wait()
	HeedProcs()
	if n := runtime.GOMAXPROCS(0); n != before+3 {
		t.Errorf("GOMAXPROCS is %d at the end, the program set %d", n, before+3)
	}
}

func TestDefaultVPs(t *testing.T) {
	for _, c := range []struct {
		usable int
		quota  float64
		want   int
	}{
		{8, 0, 8}, {8, 0.1, 1}, {8, 1, 1}, {8, 1.01, 2}, {8, 1.5, 2}, {8, 7.5, 8}, {8, 8, 8}, {8, 1e300, 8}, {1, 0.5, 1}, {1, 4, 1},
	} {
		if n := vpsWithin(c.usable, c.quota); n != c.want {
			t.Errorf("%d CPUs with a quota of %v: %d VPs, want %d", c.usable, c.quota, n, c.want)
		}
	}
	if n := DefaultVPs(4); n < 1 || n > 4 {
		t.Errorf("%d VPs on 4 CPUs", n)
	}
}

func BenchmarkDefaultVPs(b *testing.B) {
	for b.Loop() {
		DefaultVPs(2)
	}
}

// BenchmarkRaiseProcs raises and lowers, as the first scheduler of a program does.
func BenchmarkRaiseProcs(b *testing.B) {
	for b.Loop() {
		RaiseProcs(3)()
	}
}
