package topo

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// MaxCPUs bounds the CPU numbers that a [CPUSet] can hold: from 0 to MaxCPUs-1. Linux itself stops at 8192.
const MaxCPUs = 1 << 14

// CPUSet is a set of CPUs, by the numbers that the operating system gives them. The zero value is empty. It is a value,
// which may be copied and compared with ==; only [CPUSet.Add] and [CPUSet.Remove] change it. For CPUs below 64 nothing
// allocates.
type CPUSet struct {
	lo uint64 // CPUs 0 to 63
	hi string // the others, eight a byte; no zero byte at its end, so that == compares sets
}

// cpuWords is a set under construction: CPU c is bit c%64 of word c/64.
type cpuWords []uint64

func (w *cpuWords) add(cpu int) {
	for len(*w) <= cpu/64 {
		*w = append(*w, 0)
	}
	(*w)[cpu/64] |= 1 << (cpu % 64)
}

// set is the set of the CPUs in w.
func (w cpuWords) set() (s CPUSet) {
	var hi []byte
	for i, x := range w {
		if i == 0 {
			s.lo = x
		} else {
			hi = binary.LittleEndian.AppendUint64(hi, x)
		}
	}
	s.hi = trimmed(hi)
	return s
}

// CPUs makes a set. Numbers outside 0 to MaxCPUs-1 are left out.
func CPUs(cpus ...int) (s CPUSet) {
	for _, c := range cpus {
		s.Add(c)
	}
	return s
}

// Add puts a CPU in. Numbers outside 0 to MaxCPUs-1 are left out.
func (s *CPUSet) Add(cpu int) {
	switch {
	case uint(cpu) < 64:
		s.lo |= 1 << cpu
	case uint(cpu) < MaxCPUs && !s.Has(cpu):
		b := make([]byte, max(len(s.hi), (cpu-64)/8+1))
		copy(b, s.hi)
		b[(cpu-64)/8] |= 1 << (cpu % 8)
		s.hi = string(b)
	}
}

// Remove takes a CPU out.
func (s *CPUSet) Remove(cpu int) {
	switch {
	case uint(cpu) < 64:
		s.lo &^= 1 << cpu
	case s.Has(cpu):
		b := []byte(s.hi)
		b[(cpu-64)/8] &^= 1 << (cpu % 8)
		s.hi = trimmed(b)
	}
}

// trimmed returns b as CPUSet.hi has it.
func trimmed(b []byte) string { return strings.TrimRight(string(b), "\x00") }

// Has reports whether the CPU is in the set.
func (s CPUSet) Has(cpu int) bool {
	if uint(cpu) < 64 {
		return s.lo>>uint(cpu)&1 != 0
	}
	j := uint(cpu-64) / 8
	return j < uint(len(s.hi)) && s.hi[j]>>(uint(cpu)%8)&1 != 0
}

// Count is the number of CPUs in the set.
func (s CPUSet) Count() int {
	n := bits.OnesCount64(s.lo)
	for i := range len(s.hi) {
		n += bits.OnesCount8(s.hi[i])
	}
	return n
}

// Empty reports whether there are none.
func (s CPUSet) Empty() bool { return s == CPUSet{} }

// First is the lowest CPU of the set, -1 if it is empty.
func (s CPUSet) First() int {
	for c := range s.All() {
		return c
	}
	return -1
}

// All runs over the CPUs in ascending order.
func (s CPUSet) All() iter.Seq[int] {
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

// Or is the union.
func (s CPUSet) Or(t CPUSet) CPUSet {
	return s.combined(t, max(len(s.hi), len(t.hi)), func(x, y uint64) uint64 { return x | y })
}

// And is the intersection.
func (s CPUSet) And(t CPUSet) CPUSet {
	return s.combined(t, min(len(s.hi), len(t.hi)), func(x, y uint64) uint64 { return x & y })
}

// Minus is what is in s and not in t.
func (s CPUSet) Minus(t CPUSet) CPUSet {
	return s.combined(t, len(s.hi), func(x, y uint64) uint64 { return x &^ y })
}

// combined returns op of both sets, of which n bytes of hi matter.
func (s CPUSet) combined(t CPUSet, n int, op func(x, y uint64) uint64) CPUSet {
	r := CPUSet{lo: op(s.lo, t.lo)}
	if n > 0 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(op(uint64(s.hiByte(i)), uint64(t.hiByte(i))))
		}
		r.hi = trimmed(b)
	}
	return r
}

func (s CPUSet) hiByte(i int) byte {
	if i < len(s.hi) {
		return s.hi[i]
	}
	return 0
}

// Equal reports whether both hold the same CPUs.
func (s CPUSet) Equal(t CPUSet) bool { return s == t }

// Contains reports whether all of t is in s.
func (s CPUSet) Contains(t CPUSet) bool { return t.Minus(s).Empty() }

// Intersects reports whether the two have a CPU in common.
func (s CPUSet) Intersects(t CPUSet) bool {
	for i := range min(len(s.hi), len(t.hi)) {
		if s.hi[i]&t.hi[i] != 0 {
			return true
		}
	}
	return s.lo&t.lo != 0
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

// ParseCPUList reads the kernel's lists of CPUs, such as "0-3,8,10-20:2/4" (of each four from 10 on, the first two);
// white space around it does not matter. An error says what is wrong; the set is empty then.
func ParseCPUList(list string) (CPUSet, error) {
	var w cpuWords
	list = strings.TrimSpace(list)
	if list == "" {
		return CPUSet{}, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		if err := w.addItem(strings.TrimSpace(item)); err != nil {
			return CPUSet{}, fmt.Errorf("topo: CPU list %q: %w", clip(list), err)
		}
	}
	return w.set(), nil
}

// addItem adds "4", "4-7" or "4-7:1/2".
func (w *cpuWords) addItem(item string) error {
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
	for c := a; c <= b; c++ {
		if (c-a)%size < used {
			w.add(c)
		}
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

// ParseCPUMask reads the kernel's hexadecimal masks, such as "ff,ffffffff": words of 32 bits with commas between them,
// the last one for CPUs 0 to 31. An error says what is wrong; the set is empty then.
func ParseCPUMask(mask string) (CPUSet, error) {
	mask = strings.TrimPrefix(strings.TrimSpace(mask), "0x")
	if mask == "" {
		return CPUSet{}, fmt.Errorf("topo: an empty CPU mask")
	}
	var all cpuWords
	texts := strings.Split(mask, ",")
	slices.Reverse(texts)
	for i, text := range texts {
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
		for ; w != 0; w &= w - 1 {
			all.add(32*i + bits.TrailingZeros64(w))
		}
	}
	return all.set(), nil
}
