package topo

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what an [Item] of a machine is. The order is from the outermost to the innermost, and decides which contains
// the other where two items have the same CPUs. Where they have not, the larger set is outside: a NUMA node with four
// packages contains them, a package with two NUMA nodes contains those.
type Kind uint8

// The kinds of items.
const (
	Machine Kind = iota // everything
	Package             // what sits in one socket
	NUMA                // memory with the CPUs nearest to it
	Die                 // one of several chips in a package
	L3                  // a level-3 cache
	Cluster             // cores that share more than the cache above them, such as its tags
	L2                  // a level-2 cache, for data or for both
	L1                  // a level-1 data cache
	Core                // a processor core
	PU                  // a processing unit: a hardware thread, what the system calls a CPU
	kinds   = iota
)

var kindNames = [kinds]string{"Machine", "Package", "NUMA", "Die", "L3", "Cluster", "L2", "L1", "Core", "PU"}

// String is the kind's name, such as "NUMA".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Kinds lists all kinds, from the outermost to the innermost.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// kindAliases are the other names that people use in descriptions.
var kindAliases = map[string]Kind{
	"socket": Package, "node": NUMA, "numanode": NUMA, "thread": PU,
	"l3cache": L3, "l2cache": L2, "l1cache": L1, "l1d": L1, "l1dcache": L1,
}

// ParseKind returns the kind of that name, in capitals or not. "socket", "node" and "thread" stand for Package, NUMA
// and PU.
func ParseKind(name string) (Kind, error) {
	if k := slices.IndexFunc(kindNames[:], func(n string) bool { return strings.EqualFold(n, name) }); k >= 0 {
		return Kind(k), nil
	}
	if k, ok := kindAliases[strings.ToLower(name)]; ok {
		return k, nil
	}
	return 0, fmt.Errorf("topo: no kind of item is called %q: choose from %s", clip(name), strings.ToLower(strings.Join(kindNames[1:], ", ")))
}

// clip shortens foreign text, for an error message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
