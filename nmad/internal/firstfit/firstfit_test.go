package firstfit

import (
	"math/rand/v2"
	"testing"
)

// TestList takes and gives units at random: those that are taken never overlap, what is free and what is taken make up all
// of them at any time, a refusal means that there is no run as long as asked for, and in the end all of them are one run
// again.
func TestList(t *testing.T) {
	for _, all := range []int{1, 2, 3, 7, 64, 1000} {
		rng := rand.New(rand.NewPCG(7, uint64(all)))
		p := New(all)
		owned := make([]bool, all)
		taken := map[int]int{} // pages, by where they begin
		used := 0
		for step := range 10_000 {
			if rng.IntN(2) == 0 || len(taken) == 0 {
				n := 1 + rng.IntN(1+rng.IntN(all))
				at, ok := p.Take(n)
				run, longest := 0, 0
				for _, o := range owned {
					if run++; o {
						run = 0
					}
					longest = max(longest, run)
				}
				if ok != (n <= longest) {
					t.Fatalf("%d units, step %d: %d units: %v, the longest run that is free has %d", all, step, n, ok, longest)
				}
				if !ok {
					continue
				}
				for i := at; i < at+n; i++ {
					if owned[i] {
						t.Fatalf("%d units, step %d: unit %d is given twice", all, step, i)
					}
					owned[i] = true
				}
				taken[at] = n
				used += n
			} else {
				for at, n := range taken {
					p.Give(at, n)
					clear(owned[at : at+n])
					delete(taken, at)
					used -= n
					break
				}
			}
			if p.Free() != all-used {
				t.Fatalf("%d units, step %d: %d are free, should be %d", all, step, p.Free(), all-used)
			}
		}
		for at, n := range taken {
			p.Give(at, n)
		}
		if len(p) != 1 || p[0] != (run{0, all}) {
			t.Errorf("%d units, all of them free again: %v", all, p)
		}
	}
}
