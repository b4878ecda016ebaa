// Package crosscheck compares a machine, as package topo read it from sysfs, with what ghw (github.com/jaypipes/ghw)
// says of it. It is there for an experiment: demo topo shows what it finds.
//
// ghw reads the same files in another way, so that agreement shows that neither misread them. It is also the one that
// knows the vendor's name of the machine. Where the two differ, sysfs as topo reads it is right in all cases known so
// far; ghw 0.26
//
//   - gives an L1 data cache the size of the instruction cache (32 KiB for one of 48),
//   - returns no NUMA nodes at all, and no caches then, where one file that it
//     looks for is missing: on all four recordings tried,
//   - ignores affinity masks, cpusets and offline CPUs,
//   - writes warnings to stderr: they are silenced here.
//
// It takes about 10 ms and brings a YAML library with it. So the scheduler, which starts with every program, does not
// use it; the laboratory's demo topo does.
package crosscheck
