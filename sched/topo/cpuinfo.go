package topo

import (
	"io/fs"
	"strconv"
	"strings"
)

// cpuInfo is what /proc/cpuinfo tells. Kernels from before 2.6.16, and those of some architectures, tell it nowhere
// else.
type cpuInfo struct {
	model string
	lines []infoCPU
}

// infoCPU is one processor of /proc/cpuinfo; -1 stands for what that does not state.
type infoCPU struct{ cpu, pack, core, apic int }

// cpus returns the processors as a set.
func (i cpuInfo) cpus() (s CPUSet) {
	for _, l := range i.lines {
		s.Add(l.cpu)
	}
	return s
}

// apicIDs maps the CPUs to the numbers by which x86 processors know them, as far as those are stated.
func (i cpuInfo) apicIDs() map[int]int {
	ids := map[int]int{}
	for _, l := range i.lines {
		if l.apic >= 0 {
			ids[l.cpu] = l.apic
		}
	}
	return ids
}

// readCPUInfo reads proc/cpuinfo.
func readCPUInfo(fsys fs.FS) (info cpuInfo) {
	text, err := readText(fsys, "proc/cpuinfo")
	if err != nil {
		return info
	}
	number := func(s string) int {
		n, err := strconv.ParseInt(s, 0, 32) // some write 0x
		if err != nil || n < 0 {
			return -1
		}
		return int(n)
	}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		current := &infoCPU{}
		if n := len(info.lines); n > 0 {
			current = &info.lines[n-1]
		}
		switch {
		case key == "processor":
			info.begin(number(value))
		case strings.HasPrefix(key, "processor "): // s390: "processor 3: version = ..."
			info.begin(number(strings.TrimSpace(key[len("processor "):])))
		case key == "physical id":
			current.pack = number(value)
		case key == "core id":
			current.core = number(value)
		case key == "apicid":
			current.apic = number(value)
		}
		if info.model == "" {
			switch key {
			case "model name", "cpu model", "cpu", "Processor", "vendor_id":
				if _, err := strconv.Atoi(value); err != nil && (key != "vendor_id" || strings.HasPrefix(value, "IBM")) {
					info.model = strings.Join(strings.Fields(value), " ")
				}
			}
		}
	}
	return info
}

// begin adds a processor, if cpu is a number that a CPU can have.
func (i *cpuInfo) begin(cpu int) {
	if cpu >= 0 && cpu < MaxCPUs && len(i.lines) < MaxCPUs {
		i.lines = append(i.lines, infoCPU{cpu, -1, -1, -1})
	}
}

// addInfo adds the packages and cores of /proc/cpuinfo.
func (b *treeBuilder) addInfo(info cpuInfo) {
	type number struct{ pack, core int } // core -1: of the package
	at := map[number]int{}               // its index in parts
	var parts []machinePart
	note := func(n number, kind Kind, os, cpu int) {
		if os < 0 {
			return
		}
		i, known := at[n]
		if !known {
			i = len(parts)
			at[n] = i
			parts = append(parts, machinePart{kind: kind, os: os})
		}
		parts[i].cpus.Add(cpu)
	}
	for _, l := range info.lines {
		note(number{l.pack, -1}, Package, l.pack, l.cpu)
		note(number{l.pack, l.core}, Core, l.core, l.cpu)
	}
	for _, p := range parts {
		b.add(p)
	}
}
