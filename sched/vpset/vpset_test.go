package vpset

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestVPSet: a Set does what a map from index to truth does, whatever is done
// to it, and equal sets are ==.
func TestVPSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(56, 80), rapid.IntRange(0, Max-1))
		type pair struct {
			s Set
			m map[int]bool
		}
		sets := []pair{{m: map[int]bool{}}, {m: map[int]bool{}}}
		merge := func(s Set, keep func(a, b bool) bool) pair {
			m := map[int]bool{}
			for i := range Max {
				if keep(sets[0].m[i], sets[1].m[i]) {
					m[i] = true
				}
			}
			return pair{s, m}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			k := rapid.IntRange(0, 1).Draw(t, "which")
			p := &sets[k]
			i := index.Draw(t, "VP")
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2, 3:
				p.s.Set(i)
				p.m[i] = true
			case 4, 5:
				p.s.Clear(i)
				delete(p.m, i)
			case 6:
				sets[k] = merge(sets[0].s.And(sets[1].s), func(a, b bool) bool { return a && b })
			case 7:
				sets[k] = merge(sets[0].s.Or(sets[1].s), func(a, b bool) bool { return a || b })
			case 8:
				sets[k] = merge(sets[0].s.AndNot(sets[1].s), func(a, b bool) bool { return a && !b })
			case 9:
				p.s.Fill()
				p.m = map[int]bool{}
				for i := range Max {
					p.m[i] = true
				}
			}
		}
		for _, p := range sets {
			var want []int
			for i := range p.m {
				want = append(want, i)
			}
			slices.Sort(want)
			if got := slices.Collect(p.s.Each()); !slices.Equal(got, want) || p.s.Count() != len(want) || p.s.Empty() != (len(want) == 0) {
				t.Fatalf("%v has %d VPs, want %d: %v", p.s, p.s.Count(), len(want), want)
			}
			again := Set{}
			for _, i := range want {
				again.Set(i)
				if !p.s.Has(i) {
					t.Fatalf("%d is not in %v", i, p.s)
				}
			}
			if again != p.s {
				t.Fatalf("the same VPs, but %#v != %#v", again, p.s)
			}
		}
		both := sets[0].s.And(sets[1].s)
		if sets[0].s.Intersects(sets[1].s) == both.Empty() {
			t.Fatalf("%v and %v have in common: %v", sets[0].s, sets[1].s, both)
		}
	})
}

func TestVPSetSays(t *testing.T) {
	for want, vps := range map[string][]int{"none": nil, "0": {0}, "0-2": {0, 1, 2}, "1,3-4,63-65,200": {200, 1, 3, 4, 63, 64, 65}} {
		var s Set
		for _, i := range vps {
			s.Set(i)
		}
		if got := s.String(); got != want {
			t.Errorf("%v is called %q", vps, got)
		}
	}
	if All().String() != fmt.Sprintf("0-%d", Max-1) {
		t.Error(All())
	}
	for _, i := range []int{-1, Max} {
		if All().Has(i) {
			t.Errorf("VP %d exists", i)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("VP %d could be put into a set", i)
				}
			}()
			One(i)
		}()
	}
	s := All()
	for range s.Each() {
		break // leaving early is allowed
	}
	if n := testing.AllocsPerRun(100, func() { s = One(3).Or(One(63)); s.Clear(3) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
