package topo

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"
	"testing/fstest"
)

func FuzzSynthetic(f *testing.F) {
	for _, s := range []string{"numa:4 l3:1 core:4 pu:1", "package:2 numa:2 pu:2", "pu:4096", "core:64 pu:65", "pu:-1", "core:1 core:1 pu:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := Synthetic(s)
		if err != nil {
			if strings.ContainsAny(clip(err.Error()), "\n") || len(err.Error()) > 500 {
				t.Fatalf("the error is no single line: %q", err)
			}
			return
		}
		if len(m.PUs()) > MaxSynthetic {
			t.Fatalf("%d PUs", len(m.PUs()))
		}
		checkTree(t, m)
	})
}

func FuzzParseCPUList(f *testing.F) {
	for _, s := range []string{"0-3,8", "0-31:2/8", "4-1", "16383", "0-99999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		set, err := ParseCPUList(s)
		if err != nil {
			if !set.Empty() {
				t.Fatalf("%q: %v beside %v", s, set, err)
			}
			return
		}
		again, err := ParseCPUList(set.String())
		if err != nil || !again.Equal(set) {
			t.Fatalf("%q is %v, which is read as %v, %v", s, set, again, err)
		}
	})
}

// FuzzRecorded gives the reader trees with hostile contents. The input is a list
// of files, one for each line: PATH=CONTENTS, where PATH may be one of a few
// abbreviations, and \n in CONTENTS stands for a new line.
func FuzzRecorded(f *testing.F) {
	f.Add("0/topology/core_cpus=1\n1/topology/core_cpus=2\n0/topology/package_cpus=3")
	f.Add("0/online=1\n1/online=0\n16383/x=\n99999999/x=\n-1/x=\n007/x=")
	f.Add("O=0-3\n0/topology/core_siblings=5\n1/topology/core_siblings=6\n2/topology/thread_siblings=ffffffff,ffffffff")
	f.Add("O=0-16383\nN0/cpumap=ff\nN1/cpumap=f0\nN0/distance=10 -20\nN1/distance=99999999999999999999 1\nNO=0-16383")
	f.Add("O=0-7\n0/cache/index0/level=1\n0/cache/index0/type=Data\n0/cache/index0/shared_cpu_map=ffff\n0/cache/index0/size=9223372036854775807G")
	f.Add("I=processor : 0\\nphysical id : 99999999999\\ncore id : -1\\nprocessor 16383: x\\nprocessor: 16384")
	f.Add("O=0-3\nproc/mounts=cgroup2 / cgroup2 rw 0 0\nproc/self/cgroup=0::/../../a\na/cpuset.cpus.effective=9")
	f.Add("O=0-3\n0/cpu_capacity=5\n1/cpu_capacity=-5\n2/cpu_capacity=x\nsys/devices/cpu_core/cpus=0-9999999")
	f.Add("N0/cpumap=0\nN0/access1/initiators/node0/x=\nN0/access1/initiators/node99999/x=\n0/x=")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := Recorded(hostileTree(s))
		if err != nil {
			return
		}
		checkTree(t, m)
		checkTree(t, m.Pruned())
		if len(m.Remarks) > maxRemarks {
			t.Fatalf("%d remarks", len(m.Remarks))
		}
	})
}

// hostileTree makes the files that FuzzRecorded describes.
func hostileTree(s string) fstest.MapFS {
	tree := fstest.MapFS{}
	for line := range strings.Lines(s) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		switch {
		case name == "O":
			name = cpuDir + "/online"
		case name == "NO":
			name = nodeDir + "/online"
		case name == "I":
			name = "proc/cpuinfo"
		case strings.HasPrefix(name, "N"):
			name = nodeDir + "/node" + name[1:]
		case name != "" && name[0] <= '9':
			name = cpuDir + "/cpu" + name
		}
		tree[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, `\n`, "\n"))}
	}
	return tree
}

func FuzzArchive(f *testing.F) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "m/" + cpuDir + "/online", Typeflag: tar.TypeReg, Size: 3},
		{Name: "m/" + cpuDir + "/cpu1/a", Typeflag: tar.TypeSymlink, Linkname: "../cpu1/a"},
		{Name: "m/" + cpuDir + "/cpu0", Typeflag: tar.TypeSymlink, Linkname: "../../../.."},
		{Name: "m/" + cpuDir + "/present", Typeflag: tar.TypeLink, Linkname: "m/" + cpuDir + "/online"},
		{Name: "../../etc/passwd", Typeflag: tar.TypeReg},
	} {
		if err := w.WriteHeader(&h); err != nil {
			f.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte("0-3")); err != nil {
				f.Fatal(err)
			}
		}
	}
	w.Close()
	f.Add(b.Bytes())
	f.Add([]byte("BZh9"))
	f.Add([]byte{0x1f, 0x8b, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		fsys, err := archive(bytes.NewReader(raw))
		if err != nil {
			return
		}
		if m := fsys.(memory); m.plain() {
			var names []string
			for _, f := range m.files.File {
				names = append(names, f.Name)
			}
			if err := fstest.TestFS(fsys, names...); err != nil {
				t.Fatal(err)
			}
		}
		if root, err := findRoot(fsys); err == nil {
			if m, err := Recorded(root); err == nil {
				checkTree(t, m)
			}
		}
	})
}

// plain says whether it is small and without what fstest.TestFS would complain of: links that lead nowhere, names that no
// file can have, and files that are folders as well.
func (m memory) plain() bool {
	size := uint64(0)
	for _, f := range m.files.File {
		size += f.UncompressedSize64
		if _, err := m.Open(f.Name); err != nil {
			return false
		}
	}
	return len(m.links) == 0 && size < 1<<16
}
