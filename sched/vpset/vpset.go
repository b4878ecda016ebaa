package vpset

import (
	"cmp"
	"fmt"
	"iter"
	"sync"

	"github.com/pm2-go/pm2/sched/topo"
)

// Max is how many VPs a scheduler can have.
const Max = 4096

// Set is a set of virtual processors, by index: a value, which may be copied, compared with == and kept. The zero Set
// is empty. The methods that change it must not be called at the same time as others; none blocks. For the first 64 VPs
// nothing allocates.
//
// It is Marcel's marcel_vpset_t; in sched.Attr and sched.Thread.SetVPs it says where a thread may run.
type Set struct{ in topo.CPUSet } // numbers are numbers

// One returns the set of VP i alone. It panics if no scheduler can have a VP i.
func One(i int) Set {
	var s Set
	s.Set(i)
	return s
}

// All returns the set of all VPs that any scheduler can have: as an attribute, a thread may run anywhere.
func All() Set { return all() }

var all = sync.OnceValue(func() (s Set) {
	s.in, _ = topo.ParseCPUList(fmt.Sprintf("0-%d", Max-1)) // cannot fail
	return s
})

func check(i int) {
	if uint(i) >= Max {
		panic(fmt.Sprintf("marcel: VP %d does not exist: 0 to %d can", i, Max-1))
	}
}

// Zero makes s empty.
func (s *Set) Zero() { *s = Set{} }

// Fill puts all VPs into s.
func (s *Set) Fill() { *s = All() }

// Set puts VP i into s. It panics if no scheduler can have a VP i.
func (s *Set) Set(i int) {
	check(i)
	s.in.Add(i)
}

// Clear takes VP i out of s. It panics if no scheduler can have a VP i.
func (s *Set) Clear(i int) {
	check(i)
	s.in.Remove(i)
}

// Has reports whether VP i is in s; one that cannot exist is in no set.
func (s Set) Has(i int) bool { return s.in.Has(i) }

// Count returns the number of VPs in s.
func (s Set) Count() int { return s.in.Count() }

// Empty reports whether no VP is in s.
func (s Set) Empty() bool { return s == Set{} }

// And returns the VPs that are in both sets.
func (s Set) And(o Set) Set { return Set{s.in.And(o.in)} }

// Or returns the VPs that are in either set.
func (s Set) Or(o Set) Set { return Set{s.in.Or(o.in)} }

// AndNot returns the VPs of s that are not in o.
func (s Set) AndNot(o Set) Set { return Set{s.in.Minus(o.in)} }

// Intersects reports whether a VP is in both sets.
func (s Set) Intersects(o Set) bool { return s.in.Intersects(o.in) }

// Each yields the VPs in s, in order.
func (s Set) Each() iter.Seq[int] { return s.in.All() }

// String lists the VPs, as in "0,4-7"; "none" if there are none.
func (s Set) String() string { return cmp.Or(s.in.String(), "none") }
