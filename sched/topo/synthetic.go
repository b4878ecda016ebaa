package topo

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxSynthetic is the largest number of PUs that a synthetic machine may have.
const MaxSynthetic = 4096

// Synthetic makes a machine from a description such as "numa:4 l3:1 core:4 pu:1": for every level its kind and how many
// of it are in each item of the level before. Levels go from the outermost to the innermost, each kind at most once,
// the last is pu; the order is that of [Kinds], except that package may follow numa. CPUs are numbered in the order of
// the tree. Sizes and distances are unknown.
//
// The errors say which part of the description is wrong, and what would be right.
func Synthetic(description string) (*Topology, error) {
	levels, err := parseSynthetic(description)
	if err != nil {
		return nil, err
	}
	t := &Topology{Name: description}
	next := [kinds]int{}
	t.Root = synthesize(levels, Machine, &next)
	t.index()
	return t, nil
}

type syntheticLevel struct {
	kind  Kind
	count int
}

func parseSynthetic(description string) ([]syntheticLevel, error) {
	const example = `such as "numa:4 l3:1 core:4 pu:1"`
	bad := func(format string, args ...any) ([]syntheticLevel, error) {
		return nil, fmt.Errorf("topo: synthetic machine %q: %s", clip(description), fmt.Sprintf(format, args...))
	}
	// At most that many fields are looked at: the kinds, and one that is too many.
	fields := strings.Fields(description)
	if len(fields) == 0 {
		return bad("it is empty: write levels, %s", example)
	}
	var levels []syntheticLevel
	pus := 1
	for _, field := range fields {
		name, number, ok := strings.Cut(field, ":")
		if !ok {
			return bad("%q has no number: write KIND:NUMBER, %s", clip(field), example)
		}
		kind, err := ParseKind(name)
		if err != nil || kind == Machine {
			return bad("no level is called %q: choose from %s", clip(name), strings.ToLower(strings.Join(kindNames[1:], ", ")))
		}
		count, err := strconv.Atoi(number)
		if err != nil || count < 1 {
			return bad("%q: the number must be at least 1", clip(field))
		}
		if count > MaxSynthetic/pus {
			return bad("at %q it has more than %d PUs: make it smaller", clip(field), MaxSynthetic)
		}
		pus *= count
		if n := len(levels); n > 0 {
			last := levels[n-1].kind
			swapped := kind == Package && last == NUMA && (n == 1 || levels[n-2].kind != Package)
			if kind == last || n > 1 && kind == levels[n-2].kind {
				return bad("%s stands there twice", strings.ToLower(kind.String()))
			}
			if kind < last && !swapped {
				return bad("%s cannot be inside %s: the order is %s", strings.ToLower(kind.String()), strings.ToLower(last.String()),
					strings.ToLower(strings.Join(kindNames[1:], ", ")))
			}
		}
		levels = append(levels, syntheticLevel{kind, count})
	}
	if levels[len(levels)-1].kind != PU {
		return bad("its last level is not pu: add pu:1 for one hardware thread in each %s", strings.ToLower(levels[len(levels)-1].kind.String()))
	}
	return levels, nil
}

// synthesize makes one item of kind k with the levels below it.
func synthesize(levels []syntheticLevel, k Kind, next *[kinds]int) *Item {
	it := &Item{Kind: k, OS: next[k], Efficiency: -1}
	next[k]++
	if k == PU {
		it.CPUs = CPUs(it.OS)
		it.Efficiency = 0
		return it
	}
	for range levels[0].count {
		child := synthesize(levels[1:], levels[0].kind, next)
		it.Children = append(it.Children, child)
		it.CPUs = it.CPUs.Or(child.CPUs)
	}
	if k == Core {
		it.Efficiency = 0
	}
	return it
}
