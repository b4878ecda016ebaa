package hooks

import (
	"sync/atomic"
	"testing"
)

// TestSilent: silent is a point at which Fire would call no hook, whichever hooks come
// and go there.
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

// TestWithin: a hook with bounds is called from 1 to the upper one, whatever the other bits of the
// word, alone and beside another one.
func TestWithin(t *testing.T) {
	const mask, most = 0xff, 0x0f
	var word atomic.Uint64
	calls := 0
	count := func(int) Verdict { calls++; return Busy }
	var alone, beside Set
	register := func(s *Set, most uint64) {
		t.Helper()
		if _, err := s.RegisterWithin(Switch, 0, "h", &word, mask, most, count); err != nil {
			t.Fatal(err)
		}
	}
	register(&alone, most)
	register(&alone, most)
	register(&beside, most)
	register(&beside, mask)
	for _, x := range []struct {
		word          uint64
		alone, beside int // calls
	}{
		{0, 0, 0}, {1, 2, 2}, {most, 2, 2}, {most + 1, 0, 1}, {mask, 0, 1}, {mask + 1, 0, 0}, {mask + 1 + most, 2, 2}, {1<<63 | 0x10, 0, 1},
	} {
		word.Store(x.word)
		for s, want := range map[*Set]int{&alone: x.alone, &beside: x.beside} {
			calls = 0
			verdict := s.Fire(Switch, 0)
			if calls != want || (verdict == Busy) != (want > 0) {
				t.Errorf("word %#x: %d calls, %v; want %d", x.word, calls, verdict, want)
			}
		}
		if got, want := alone.Silent(Switch), x.alone == 0; got != want {
			t.Errorf("word %#x: silent %v", x.word, got)
		}
	}
}
