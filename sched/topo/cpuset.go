package topo

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// MaxCPUs bounds the CPU numbers that a [CPUSet] can hold: from 0 to MaxCPUs-1.
// Linux itself stops at 8192.
const MaxCPUs = 1 << 14

// CPUSet is a set of CPUs, by the numbers that the operating system gives them.
// The zero value is empty. A CPUSet is a value: no method changes it but [CPUSet.Add],
// and copies do not share anything that Add would change.
type CPUSet struct {
	words []uint64 // never ends with 0, never changed in place
}

// CPUs makes a set. Numbers outside 0 to MaxCPUs-1 are left out.
func CPUs(cpus ...int) (s CPUSet) {
	for _, c := range cpus {
		if c >= 0 && c < MaxCPUs {
			s.grow(c)
			s.words[c/64] |= 1 << (c % 64)
		}
	}
	return s
}

// grow makes room for c in a set that has no other user yet.
func (s *CPUSet) grow(c int) {
	for len(s.words) <= c/64 {
		s.words = append(s.words, 0)
	}
}

// Add puts a CPU in. Numbers outside 0 to MaxCPUs-1 are left out.
func (s *CPUSet) Add(cpu int) {
	if cpu >= 0 && cpu < MaxCPUs && !s.Has(cpu) {
		s.words = slices.Clone(s.words)
		s.grow(cpu)
		s.words[cpu/64] |= 1 << (cpu % 64)
	}
}

// merge adds the CPUs of t, in place: for sets that have no other user.
func (s *CPUSet) merge(t CPUSet) {
	for len(s.words) < len(t.words) {
		s.words = append(s.words, 0)
	}
	for i, w := range t.words {
		s.words[i] |= w
	}
}

// Has says whether the CPU is in the set.
func (s CPUSet) Has(cpu int) bool {
	return cpu >= 0 && cpu/64 < len(s.words) && s.words[cpu/64]&(1<<(cpu%64)) != 0
}

// Count is the number of CPUs in the set.
func (s CPUSet) Count() (n int) {
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty says whether there are none.
func (s CPUSet) Empty() bool { return len(s.words) == 0 }

// First is the lowest CPU of the set, -1 if it is empty.
func (s CPUSet) First() int {
	for i, w := range s.words {
		if w != 0 {
			return i*64 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// All runs over the CPUs in ascending order.
func (s CPUSet) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// combine makes the set of op applied to the words of both.
func combine(a, b CPUSet, op func(x, y uint64) uint64) (r CPUSet) {
	n := max(len(a.words), len(b.words))
	r.words = make([]uint64, n)
	for i := range n {
		r.words[i] = op(a.word(i), b.word(i))
	}
	for n > 0 && r.words[n-1] == 0 {
		n--
	}
	r.words = r.words[:n]
	return r
}

func (s CPUSet) word(i int) uint64 {
	if i < len(s.words) {
		return s.words[i]
	}
	return 0
}

// Or is the union.
func (s CPUSet) Or(t CPUSet) CPUSet {
	return combine(s, t, func(x, y uint64) uint64 { return x | y })
}

// And is the intersection.
func (s CPUSet) And(t CPUSet) CPUSet {
	return combine(s, t, func(x, y uint64) uint64 { return x & y })
}

// Minus is what is in s and not in t.
func (s CPUSet) Minus(t CPUSet) CPUSet {
	return combine(s, t, func(x, y uint64) uint64 { return x &^ y })
}

// Equal says whether both hold the same CPUs.
func (s CPUSet) Equal(t CPUSet) bool { return slices.Equal(s.words, t.words) }

// Contains says whether all of t is in s.
func (s CPUSet) Contains(t CPUSet) bool {
	for i, w := range t.words {
		if w&^s.word(i) != 0 {
			return false
		}
	}
	return true
}

// Intersects says whether the two have a CPU in common.
func (s CPUSet) Intersects(t CPUSet) bool {
	for i, w := range t.words {
		if w&s.word(i) != 0 {
			return true
		}
	}
	return false
}

// String writes the set as the kernel does: "0-3,8", and "" for the empty one.
func (s CPUSet) String() string {
	var b strings.Builder
	first, last := -1, -2
	flush := func() {
		if first < 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(first))
		if last > first {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(last))
		}
	}
	for c := range s.All() {
		if c != last+1 {
			flush()
			first = c
		}
		last = c
	}
	flush()
	return b.String()
}

// MarshalText writes the set as String does, for JSON.
func (s CPUSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseCPUList reads the kernel's lists of CPUs, such as "0-3,8,10-20:2/4" (of
// each four from 10 on, the first two); white space around it does not matter.
// An error says what is wrong; the set is empty then.
func ParseCPUList(list string) (CPUSet, error) {
	var s CPUSet
	list = strings.TrimSpace(list)
	if list == "" {
		return s, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		if err := s.addItem(strings.TrimSpace(item)); err != nil {
			return CPUSet{}, fmt.Errorf("topo: CPU list %q: %w", clip(list), err)
		}
	}
	return s, nil
}

// addItem adds "4", "4-7" or "4-7:1/2" to a set that has no other user yet.
func (s *CPUSet) addItem(item string) error {
	span, group, grouped := strings.Cut(item, ":")
	from, to, ranged := strings.Cut(span, "-")
	a, err := parseCPU(from)
	if err != nil {
		return err
	}
	b := a
	if ranged {
		if b, err = parseCPU(to); err != nil {
			return err
		}
	}
	if b < a {
		return fmt.Errorf("%q runs backwards: write it as %d-%d", clip(item), b, a)
	}
	used, size := 1, 1
	if grouped {
		u, n, _ := strings.Cut(group, "/")
		used, err = strconv.Atoi(u)
		if err == nil {
			size, err = strconv.Atoi(n)
		}
		if err != nil || used < 1 || size < used || !ranged {
			return fmt.Errorf("%q is no list with groups: write FIRST-LAST:USED/SIZE, such as 0-31:2/4", clip(item))
		}
	}
	s.grow(b)
	for c := a; c <= b; c++ {
		if (c-a)%size < used {
			s.words[c/64] |= 1 << (c % 64)
		}
	}
	for n := len(s.words); n > 0 && s.words[n-1] == 0; n-- { // the last group may end before b
		s.words = s.words[:n-1]
	}
	return nil
}

func parseCPU(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%q is no CPU number: write numbers and ranges, such as 0-3,8", clip(text))
	}
	if n >= MaxCPUs {
		return 0, fmt.Errorf("CPU %d is too large: the largest is %d", n, MaxCPUs-1)
	}
	return int(n), nil
}

// ParseCPUMask reads the kernel's hexadecimal masks, such as "ff,ffffffff": words
// of 32 bits with commas between them, the last one for CPUs 0 to 31. An error
// says what is wrong; the set is empty then.
func ParseCPUMask(mask string) (CPUSet, error) {
	mask = strings.TrimPrefix(strings.TrimSpace(mask), "0x")
	if mask == "" {
		return CPUSet{}, fmt.Errorf("topo: an empty CPU mask")
	}
	var s CPUSet
	words := strings.Split(mask, ",")
	slices.Reverse(words)
	for i, text := range words {
		w, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 32)
		if err != nil {
			return CPUSet{}, fmt.Errorf("topo: CPU mask %q: %q is no hexadecimal number of 32 bits", clip(mask), clip(text))
		}
		if w == 0 {
			continue
		}
		if c := 32*i + bits.Len64(w) - 1; c >= MaxCPUs {
			return CPUSet{}, fmt.Errorf("topo: CPU mask %q: CPU %d is too large: the largest is %d", clip(mask), c, MaxCPUs-1)
		}
		s.grow(32*i + bits.Len64(w) - 1)
		s.words[i/2] |= w << (32 * (i % 2))
	}
	return s, nil
}
