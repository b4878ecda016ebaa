package topo

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxCaches is how many caches of one CPU are looked at.
const maxCaches = 16

// readCaches adds the data and unified caches that sysfs lists, once the cores are known.
func (b *treeBuilder) readCaches(fsys fs.FS) {
	var seen [kinds]CPUSet
	cores := b.cores()
	for c := range b.online.All() {
		indices := numbered(fsys, cpuFile(c, "cache"), "index")
		for _, i := range indices[:min(len(indices), maxCaches)] {
			dir := cpuFile(c, "cache", "index"+strconv.Itoa(i))
			level, ok := readInt(fsys, path.Join(dir, "level"))
			if !ok || level < 1 || level > 3 {
				continue
			}
			kind := [...]Kind{1: L1, 2: L2, 3: L3}[level]
			if seen[kind].Has(c) {
				continue
			}
			switch text, _ := readText(fsys, path.Join(dir, "type")); strings.TrimSpace(text) {
			case "Data", "Unified":
			default:
				continue
			}
			shared, ok := readMask(fsys, path.Join(dir, "shared_cpu_map"))
			if !ok {
				continue
			}
			if shared.Empty() { // so some kernels list the cache of a single core
				shared = cores[c]
			}
			shared.Add(c)
			shared = shared.And(b.online)
			seen[kind] = seen[kind].Or(shared)
			size, _ := readText(fsys, path.Join(dir, "size"))
			b.add(machinePart{kind: kind, os: readID(fsys, path.Join(dir, "id")), cpus: shared, size: parseSize(size)})
		}
	}
}

// cores maps each CPU to the CPUs of its core, as far as cores are known.
func (b *treeBuilder) cores() map[int]CPUSet {
	of := map[int]CPUSet{}
	for _, p := range b.parts {
		if p.kind == Core {
			for c := range p.cpus.All() {
				of[c] = p.cpus
			}
		}
	}
	return of
}

// drop takes out the items of a kind that have the same CPUs as an item of one of the others.
func (b *treeBuilder) drop(k Kind, others ...Kind) {
	said := map[CPUSet]bool{}
	for _, p := range b.parts {
		if slices.Contains(others, p.kind) {
			said[p.cpus] = true
		}
	}
	b.parts = slices.DeleteFunc(b.parts, func(p machinePart) bool { return p.kind == k && said[p.cpus] })
}
