package hooks

import (
	"sync"
	"testing"
	"unsafe"
)

func TestPerVPHandsEachVPItsState(t *testing.T) {
	var s Set
	states := NewPerVP[int](3)
	f := states.Hook(func(vp int, n *int) Verdict { *n += vp + 1; return Busy })
	mustRegister(t, &s, Idle, 0, "idle", f)
	mustRegister(t, &s, Timer, 0, "timer", f) // two points, one state
	for range 2 {
		for vp := range 3 {
			if got := s.Fire(Idle, vp); got != Busy {
				t.Errorf("VP %d: %v", vp, got)
			}
			s.Fire(Timer, vp)
		}
	}
	for vp := range 3 {
		if got := *states.At(vp); got != 4*(vp+1) {
			t.Errorf("state of %d: %d", vp, got)
		}
	}
	for _, vp := range []int{-1, 3, 1 << 40} {
		if s.Fire(Idle, vp) != Quiet || states.At(vp) != nil {
			t.Errorf("VP %d has a state", vp)
		}
	}
}

func TestPerVPOfNothing(t *testing.T) {
	var none *PerVP[int]
	if none.Len() != 0 || none.At(0) != nil || none.Hook(func(int, *int) Verdict { return Busy }) != nil {
		t.Error("nil has states")
	}
	var zero PerVP[int]
	if zero.Len() != 0 || zero.At(0) != nil {
		t.Error("the zero value has states")
	}
	if n := NewPerVP[int](-5); n.Len() != 0 || n.At(0) != nil {
		t.Error("less than none")
	}
	if NewPerVP[int](1).Hook(nil) != nil {
		t.Error("no function is no hook")
	}
	if v := zero.Hook(func(int, *int) Verdict { return Busy })(0); v != Quiet {
		t.Errorf("the zero value's hook: %v", v)
	}
}

func TestPerVPKeepsCacheLinesApart(t *testing.T) {
	p := NewPerVP[byte](4)
	begin, end := uintptr(unsafe.Pointer(&p.slots[0])), uintptr(unsafe.Pointer(&p.slots[4]))+unsafe.Sizeof(p.slots[4])
	for vp := range 4 {
		at := uintptr(unsafe.Pointer(p.At(vp)))
		if at-begin < 128 || end-at < 128 {
			t.Errorf("state %d is at the edge of the allocation", vp)
		}
		if vp > 0 {
			if gap := at - uintptr(unsafe.Pointer(p.At(vp-1))); gap < 128 {
				t.Errorf("%d bytes from state %d to the next one", gap, vp-1)
			}
		}
	}
}

// Plain states, one goroutine for each VP, come and go of the hook: the race
// detector sees whether one VP is ever handed another one's.
func TestPerVPUnderChange(t *testing.T) {
	const vps, rounds = 4, 2000
	var s Set
	states := NewPerVP[struct{ calls, other int }](vps)
	var all sync.WaitGroup
	for vp := range vps {
		all.Go(func() {
			for range rounds {
				s.Fire(Switch, vp)
			}
		})
	}
	all.Go(func() {
		for range rounds / 4 {
			h := mustRegister(t, &s, Switch, 0, "count", states.Hook(func(vp int, st *struct{ calls, other int }) Verdict {
				st.calls++
				return Quiet
			}))
			h.Unregister()
		}
	})
	all.Wait()
	for vp := range vps {
		if n := states.At(vp).calls; n < 0 || n > rounds {
			t.Errorf("VP %d: %d calls", vp, n)
		}
	}
}

func TestPerVPAllocatesNothing(t *testing.T) {
	var s Set
	states := NewPerVP[int](2)
	mustRegister(t, &s, Idle, 0, "x", states.Hook(func(_ int, n *int) Verdict { *n++; return Quiet }))
	if n := testing.AllocsPerRun(100, func() { s.Fire(Idle, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
