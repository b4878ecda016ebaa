package hooks

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustRegister(t testing.TB, s *Set, p Point, priority int, name string, f Func) *Hook {
	t.Helper()
	h, err := s.Register(p, priority, name, f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func quiet(int) Verdict { return Quiet }

func TestZeroSetIsEmptyAndQuiet(t *testing.T) {
	var s Set
	for p := range NumPoints {
		if !s.Empty(p) {
			t.Errorf("%v is not empty", p)
		}
		if v := s.Fire(p, 0); v != Quiet {
			t.Errorf("%v says %v", p, v)
		}
		if names := s.Registered(p); len(names) != 0 {
			t.Errorf("%v holds %v", p, names)
		}
	}
}

func TestInvalidArgumentsGiveErrors(t *testing.T) {
	var s Set
	for _, c := range []struct {
		name string
		set  *Set
		at   Point
		as   string
		f    Func
		want error
	}{
		{"first point that does not exist", &s, NumPoints, "x", quiet, ErrPoint},
		{"last point that does not exist", &s, 255, "x", quiet, ErrPoint},
		{"no function", &s, Idle, "x", nil, ErrFunc},
		{"no name", &s, Idle, "", quiet, ErrName},
		{"no set", nil, Idle, "x", quiet, ErrSet},
	} {
		h, err := c.set.Register(c.at, 0, c.as, c.f)
		if !errors.Is(err, c.want) || h != nil {
			t.Errorf("%s: %v, %v; want %v", c.name, h, err, c.want)
		}
	}
	for p := range 256 {
		if !s.Empty(Point(p)) || s.Fire(Point(p), -7) != Quiet || s.Registered(Point(p)) != nil {
			t.Errorf("a refused registration left something at %v", Point(p))
		}
	}
	var none *Hook
	none.Unregister()
	(&Hook{}).Unregister()
	if none.Name() != "" || (*Set)(nil).Registered(Idle) != nil {
		t.Error("nil receivers answer")
	}
}

func TestOrderIsByPriorityThenByArrival(t *testing.T) {
	var s Set
	var calls []string
	add := func(priority int, name string) *Hook {
		return mustRegister(t, &s, Switch, priority, name, func(vp int) Verdict {
			if vp != 42 {
				t.Errorf("%s got vp %d", name, vp)
			}
			calls = append(calls, name)
			return Quiet
		})
	}
	expect := func(want ...string) {
		t.Helper()
		calls = nil
		s.Fire(Switch, 42)
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("called (-want +got):\n%s", diff)
		}
		if names := s.Registered(Switch); !cmp.Equal(want, names) && len(want)+len(names) > 0 {
			t.Errorf("registered %v, want %v", names, want)
		}
	}
	b := add(10, "b")
	add(10, "c")
	a := add(-5, "a")
	e := add(1000, "e")
	add(10, "d")
	expect("a", "b", "c", "d", "e")
	if b.Name() != "b" {
		t.Errorf("b is called %q", b.Name())
	}
	b.Unregister()
	expect("a", "c", "d", "e")
	e.Unregister()
	e.Unregister()
	a.Unregister()
	expect("c", "d")
	add(11, "f")
	expect("c", "d", "f")
	if !s.Empty(Idle) || !s.Empty(Timer) || s.Empty(Switch) {
		t.Error("the points are mixed up")
	}
}

func TestSameNameTwiceAreTwoHooks(t *testing.T) {
	var s Set
	n := 0
	count := func(int) Verdict { n++; return Quiet }
	first := mustRegister(t, &s, Idle, 0, "same", count)
	mustRegister(t, &s, Idle, 0, "same", count)
	s.Fire(Idle, 0)
	first.Unregister()
	s.Fire(Idle, 0)
	if n != 3 {
		t.Errorf("%d calls, want 2 and then 1", n)
	}
}

func TestGreatestVerdictCounts(t *testing.T) {
	for _, c := range []struct {
		given []Verdict
		want  Verdict
	}{
		{[]Verdict{Quiet}, Quiet},
		{[]Verdict{Quiet, Waiting, Quiet}, Waiting},
		{[]Verdict{Busy, Waiting, Quiet}, Busy},
		{[]Verdict{Waiting, Busy}, Busy},
		{[]Verdict{Quiet, 200}, Busy},
	} {
		var s Set
		for _, v := range c.given {
			mustRegister(t, &s, Timer, 0, "v", func(int) Verdict { return v })
		}
		if got := s.Fire(Timer, 0); got != c.want {
			t.Errorf("%v together say %v, want %v", c.given, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	got := []string{Idle.String(), Switch.String(), Timer.String(), Yield.String(), Library.String(), NumPoints.String(),
		Quiet.String(), Waiting.String(), Busy.String(), Verdict(9).String()}
	want := []string{"idle", "switch", "timer", "yield", "library", "point 5", "quiet", "waiting", "busy", "verdict 9"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFireAllocatesNothing(t *testing.T) {
	var s Set
	if n := testing.AllocsPerRun(100, func() { s.Fire(Idle, 0) }); n != 0 {
		t.Errorf("empty: %v allocations", n)
	}
	for range 3 {
		mustRegister(t, &s, Idle, 0, "x", quiet)
	}
	if n := testing.AllocsPerRun(100, func() { s.Fire(Idle, 0) }); n != 0 {
		t.Errorf("three hooks: %v allocations", n)
	}
}

// The promise that an empty point costs one inlined load is the compiler's to
// keep; ask it.
func TestFireAndEmptyAreInlined(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command here")
	}
	out, err := exec.Command(tool, "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("cannot build here: %v\n%s", err, out)
	}
	for _, method := range []string{"(*Set).Fire", "(*Set).Empty"} {
		if !strings.Contains(string(out), "can inline "+method+"\n") {
			t.Errorf("%s is not inlined", method)
		}
	}
}

func BenchmarkFire(b *testing.B) {
	for _, c := range []struct {
		name  string
		hooks int
	}{{"none", 0}, {"one", 1}, {"three", 3}} {
		b.Run(c.name, func(b *testing.B) {
			var s Set
			for range c.hooks {
				mustRegister(b, &s, Switch, 0, "x", quiet)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Fire(Switch, 0)
			}
		})
	}
	// The peer: calling the function without a set between.
	b.Run("peer-direct-call", func(b *testing.B) {
		f := Func(quiet)
		for b.Loop() {
			f(0)
		}
	})
}
