package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// osuJobs are the sizes of the jobs of a benchmark of OSU's.
var osuJobs = []int{2, 4}

// pairwise are the benchmarks that take two processes and no more.
var pairwise = []string{"pt2pt/persistent/", "pt2pt/standard/osu_bibw", "pt2pt/standard/osu_bw", "pt2pt/standard/osu_latency", "one-sided/"}

// many are those of their folders that take more.
var many = []string{"osu_get_mbw", "osu_get_multi_lat"}

// osuTests are the benchmarks below a folder, each with few repetitions and, where it can, validation.
func osuTests(in string, folders []string) (all []*test, err error) {
	err = filepath.WalkDir(in, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "osu_") || filepath.Ext(path) != "" || !isProgram(d) {
			return err
		}
		folder, err := filepath.Rel(in, filepath.Dir(path))
		if err != nil || len(folders) > 0 && !under(folder, folders) || filepath.Base(filepath.Dir(path)) == ".libs" {
			return err
		}
		for _, np := range osuJobs {
			if np > 2 && isPairwise(folder, d.Name()) {
				continue
			}
			t := &test{folder: folder, name: d.Name(), np: np, args: osuArguments(folder, d.Name())}
			if strings.Contains(folder, "congestion") {
				t.hosts = 2
			}
			all = append(all, t)
		}
		return nil
	})
	return all, err
}

// under reports whether a folder is one of some, or below one.
func under(folder string, some []string) bool {
	for _, f := range some {
		if folder == f || strings.HasPrefix(folder, f+"/") || strings.HasSuffix(folder, "/"+f) || strings.Contains(folder, "/"+f+"/") {
			return true
		}
	}
	return false
}

func isProgram(d fs.DirEntry) bool {
	info, err := d.Info()
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func isPairwise(folder, name string) bool {
	for _, m := range many {
		if name == m {
			return false
		}
	}
	for _, p := range pairwise {
		if strings.Contains(folder+"/"+name, p) {
			return true
		}
	}
	return false
}

// osuArguments are few repetitions, of sizes on both sides of every change of protocol, and validation, where the
// benchmark has it.
func osuArguments(folder, name string) []string {
	few, sizes, valid := []string{"-i", "10", "-x", "2"}, []string{"-m", "1:262144"}, []string{"-c"}
	switch {
	case strings.Contains(folder, "startup"):
		return nil
	case strings.Contains(name, "barrier"), strings.Contains(name, "cas_latency"), strings.Contains(name, "fop_latency"), strings.HasSuffix(name, "_mp"):
		return few
	case strings.Contains(folder, "one-sided"), strings.Contains(folder, "congestion"),
		name == "osu_allreduce_persistent": // it reduces into another buffer than the one that it looks at
		return slices.Concat(few, sizes)
	case strings.HasSuffix(name, "_mt"): // as many threads on both sides, or it has none
		return slices.Concat(valid, few, sizes, []string{"-t", "2:2"})
	}
	return slices.Concat(valid, few, sizes)
}

// list are the tests of a run.
func list(suite, in string, from []string, folders []string) (all []*test, err error) {
	if suite == suiteOSU {
		return osuTests(in, folders)
	}
	if len(folders) == 0 {
		folders = standardFolders
	}
	roots := append([]string{in}, from...)
	for _, folder := range folders {
		some, err := readLists(roots, filepath.Clean(folder), 2)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// exists reports whether there is such a file.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
