package topo

import (
	"math/bits"
	"slices"

	"github.com/pm2-go/pm2/asm"
)

// Caches that the processor states itself, by CPUID. Some virtual machines and sandboxes list none in sysfs.
//
// Intel's leaf 4 and AMD's leaf 0x8000001D have one layout: a subleaf for each cache, with its size and with how many
// logical CPUs it serves at most.

const (
	leafCaches    = 4          // Intel, and most others
	leafCachesAMD = 0x8000001D // AMD, Hygon
)

// maxStated bounds the size of a cache in bytes: a processor that states more is not believed.
const maxStated = 1 << 40

// statedCache is a data or unified cache as CPUID states it.
type statedCache struct {
	kind   Kind  // L1, L2 or L3
	size   int64 // bytes
	shared int   // how many logical CPUs it serves, at most; counts numbers that no CPU has
}

// cpuidFunc is asm.CPUID: zeros stand for a leaf that the processor does not have.
type cpuidFunc func(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// processorCaches returns the caches that this machine's processor states.
func processorCaches() []statedCache { return statedCaches(asm.CPUID) }

// statedCaches reads the caches of the processor on which read executes CPUID: at most one of each kind. Where CPUs
// differ in their caches (hybrid processors) it returns none, for read may run on any of them. Older AMD processors
// state sizes only: none, too.
func statedCaches(read cpuidFunc) (caches []statedCache) {
	leaf := uint32(leafCaches)
	if _, _, ecx, _ := read(0x80000001, 0); ecx>>22&1 != 0 { // topology extensions
		leaf = leafCachesAMD
	}
	if hybrid(read) {
		return nil
	}
	for sub := range uint32(maxCaches) { // Xen answers the same for ever
		eax, ebx, ecx, _ := read(leaf, sub)
		if eax&0x1f == 0 {
			break
		}
		c, ok := decodeCache(eax, ebx, ecx)
		if ok && !slices.ContainsFunc(caches, func(d statedCache) bool { return d.kind == c.kind }) {
			caches = append(caches, c)
		}
	}
	return caches
}

// hybrid reports whether the processor's cores are of several kinds.
func hybrid(read cpuidFunc) bool {
	_, _, _, intel := read(7, 0)
	amd, _, _, _ := read(0x80000026, 0)
	return intel>>15&1 != 0 || amd>>30&1 != 0
}

// decodeCache decodes one subleaf of leafCaches or leafCachesAMD. It refuses caches for
// instructions, levels that [Kind] does not have, and sizes that cannot be.
func decodeCache(eax, ebx, ecx uint32) (c statedCache, ok bool) {
	level := eax >> 5 & 7
	if kind := eax & 0x1f; kind != 1 && kind != 3 || level < 1 || level > 3 { // 1: data, 3: unified
		return c, false
	}
	ways, partitions, line := uint64(ebx>>22)+1, uint64(ebx>>12&0x3ff)+1, uint64(ebx&0xfff)+1
	over, size := bits.Mul64(ways*partitions*line, uint64(ecx)+1)
	if over != 0 || size > maxStated {
		return c, false
	}
	return statedCache{
		kind:   [...]Kind{1: L1, 2: L2, 3: L3}[level],
		size:   int64(size),
		shared: int(eax>>14&0xfff) + 1,
	}, true
}

// completeCaches adds the caches that the processor states, of the kinds of which sysfs lists none, and the sizes that
// sysfs does not tell.
func (b *treeBuilder) completeCaches(processor func() []statedCache, info func() cpuInfo) {
	var listed, unsized [kinds]bool
	for _, p := range b.parts {
		listed[p.kind] = true
		unsized[p.kind] = unsized[p.kind] || p.size == 0
	}
	lacks := func(k Kind) bool { return !listed[k] || unsized[k] }
	if !lacks(L1) && !lacks(L2) && !lacks(L3) {
		return
	}
	for _, c := range processor() {
		if !listed[c.kind] {
			for _, cpus := range b.sharers(c.shared, info().apicIDs()) {
				b.add(machinePart{kind: c.kind, os: -1, cpus: cpus, size: c.size})
			}
			continue
		}
		for i := range b.parts {
			if p := &b.parts[i]; p.kind == c.kind && p.size == 0 {
				p.size = c.size
			}
		}
	}
}

// sharers divides the CPUs into groups that share a cache, of n CPUs at most. A group is made of whole cores and ends
// where a package ends.
//
// The processor's rule is that CPUs share a cache if their APIC IDs agree without the lowest bits, as many as n CPUs
// need. Where the IDs of some CPUs are not known, CPUs with consecutive numbers share it.
func (b *treeBuilder) sharers(n int, apicIDs map[int]int) (groups []CPUSet) {
	shift := bits.Len(uint(max(n, 1) - 1))
	for c := range b.online.All() {
		if _, ok := apicIDs[c]; !ok {
			apicIDs = nil
			break
		}
	}
	var packages []CPUSet
	for _, p := range b.parts {
		if p.kind == Package {
			packages = append(packages, p.cpus)
		}
	}
	packages = append(packages, b.online) // for CPUs of no package
	cores := b.cores()
	var done CPUSet
	for _, pack := range packages {
		index := map[int]int{} // into groups, by what the CPUs of a group have in common
		before := 0            // CPUs of this package that are in groups
		for c := range pack.Minus(done).All() {
			if done.Has(c) { // with its core
				continue
			}
			core := cores[c].And(pack).Minus(done)
			core.Add(c)
			done = done.Or(core)
			common := before / max(n, 1)
			if apicIDs != nil {
				common = apicIDs[c] >> shift
			}
			before += core.Count()
			i, ok := index[common]
			if !ok {
				i = len(groups)
				groups = append(groups, CPUSet{})
				index[common] = i
			}
			groups[i] = groups[i].Or(core)
		}
	}
	return groups
}
