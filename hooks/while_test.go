package hooks

import (
	"sync/atomic"
	"testing"
)

// TestSilent: silent is a point at which Fire would call nobody, whoever comes and
// goes there.
func TestSilent(t *testing.T) {
	var s Set
	var work, other atomic.Uint64
	calls := 0
	f := func(int) Verdict { calls++; return Quiet }
	while := func(word *atomic.Uint64, mask uint64) *Hook {
		t.Helper()
		h, err := s.RegisterWhile(Switch, 0, "h", word, mask, f)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	check := func(silent bool) {
		t.Helper()
		calls = 0
		if s.Fire(Switch, 0); s.Silent(Switch) != silent || silent != (calls == 0) {
			t.Errorf("silent: %v, calls: %d", s.Silent(Switch), calls)
		}
	}
	check(true)
	a := while(&work, 1)
	b := while(&work, 6)
	check(true)
	work.Store(8)
	check(true)
	work.Store(4)
	check(false)
	work.Store(0)
	c := while(&other, 1)
	if s.Fire(Switch, 0); calls != 1 {
		t.Errorf("%d calls with nothing to do", calls-1)
	}
	other.Store(1)
	check(false)
	c.Unregister()
	check(true)
	d := while(nil, 0)
	check(false)
	d.Unregister()
	a.Unregister()
	check(true)
	work.Store(2)
	check(false)
	b.Unregister()
	check(true)
}
