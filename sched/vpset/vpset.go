package vpset

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"github.com/pm2-go/pm2/sched/topo"
)

// Max is how many VPs a scheduler can have.
const Max = 4096

// Set is a set of virtual processors, by index: a value, which may be copied,
// compared with == and kept. The zero Set is empty. The methods that change it
// must not be called at the same time as others; none blocks. For the first 64
// VPs nothing allocates.
//
// It is Marcel's marcel_vpset_t; in sched.Attr and sched.Thread.SetVPs it says where a thread
// may run.
type Set struct {
	lo uint64 // VPs 0 to 63
	hi string // the others, eight a byte; no zero byte at its end, so that == compares sets
}

// One returns the set of VP i alone. It panics if no scheduler can have a VP i.
func One(i int) Set {
	var s Set
	s.Set(i)
	return s
}

// All returns the set of all VPs that any scheduler can have: as an attribute,
// a thread may run anywhere.
func All() Set { return Set{^uint64(0), fullHi} }

var fullHi = strings.Repeat("\xff", (Max-64)/8)

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
	if check(i); i < 64 {
		s.lo |= 1 << i
		return
	}
	if !s.Has(i) {
		b := make([]byte, max(len(s.hi), (i-64)/8+1))
		copy(b, s.hi)
		b[(i-64)/8] |= 1 << (i % 8)
		s.hi = string(b)
	}
}

// Clear takes VP i out of s. It panics if no scheduler can have a VP i.
func (s *Set) Clear(i int) {
	if check(i); i < 64 {
		s.lo &^= 1 << i
		return
	}
	if s.Has(i) {
		b := []byte(s.hi)
		b[(i-64)/8] &^= 1 << (i % 8)
		s.hi = trimmed(b)
	}
}

// trimmed is b as a Set keeps it.
func trimmed(b []byte) string { return strings.TrimRight(string(b), "\x00") }

// Has tells whether VP i is in s; one that cannot exist is in no set.
func (s Set) Has(i int) bool {
	if uint(i) < 64 {
		return s.lo>>uint(i)&1 != 0
	}
	j := uint(i-64) / 8
	return j < uint(len(s.hi)) && s.hi[j]>>(uint(i)%8)&1 != 0
}

// Count returns the number of VPs in s.
func (s Set) Count() int {
	n := bits.OnesCount64(s.lo)
	for i := range len(s.hi) {
		n += bits.OnesCount8(s.hi[i])
	}
	return n
}

// Empty tells whether no VP is in s.
func (s Set) Empty() bool { return s == Set{} }

// And returns the VPs that are in both sets.
func (s Set) And(o Set) Set {
	return s.combined(o, min(len(s.hi), len(o.hi)), func(a, b uint64) uint64 { return a & b })
}

// Or returns the VPs that are in either set.
func (s Set) Or(o Set) Set {
	return s.combined(o, max(len(s.hi), len(o.hi)), func(a, b uint64) uint64 { return a | b })
}

// AndNot returns the VPs of s that are not in o.
func (s Set) AndNot(o Set) Set {
	return s.combined(o, len(s.hi), func(a, b uint64) uint64 { return a &^ b })
}

// Intersects tells whether a VP is in both sets.
func (s Set) Intersects(o Set) bool {
	if s.lo&o.lo != 0 {
		return true
	}
	for i := range min(len(s.hi), len(o.hi)) {
		if s.hi[i]&o.hi[i] != 0 {
			return true
		}
	}
	return false
}

// combined applies op to the words of both, n bytes of them beyond the first.
func (s Set) combined(o Set, n int, op func(a, b uint64) uint64) Set {
	r := Set{lo: op(s.lo, o.lo)}
	if n > 0 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(op(uint64(s.hiByte(i)), uint64(o.hiByte(i))))
		}
		r.hi = trimmed(b)
	}
	return r
}

func (s Set) hiByte(i int) byte {
	if i < len(s.hi) {
		return s.hi[i]
	}
	return 0
}

// Each yields the VPs in s, in order.
func (s Set) Each() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w := s.lo; w != 0; w &= w - 1 {
			if !yield(bits.TrailingZeros64(w)) {
				return
			}
		}
		for i := range len(s.hi) {
			for w := s.hi[i]; w != 0; w &= w - 1 {
				if !yield(64 + 8*i + bits.TrailingZeros8(w)) {
					return
				}
			}
		}
	}
}

// String lists the VPs, as in "0,4-7"; "none" if there are none.
func (s Set) String() string { return cmp.Or(topo.CPUs(slices.Collect(s.Each())...).String(), "none") }
