package orphans

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	folder = "/dev/shm"
	looks  = 20                    // how often Files looks at a file before it is an orphan
	pause  = 10 * time.Millisecond // between two looks: a process creates a file before it maps it, and removes it after
)

// Files returns the paths of the files in /dev/shm that have pm2 in their names, belong to this user, and are in the
// memory and among the open files of no process. It takes a fifth of a second if there are such, since they must be
// there all the time; else no longer than a look at the folder.
func Files() []string {
	all := ours()
	for range looks {
		if len(all) == 0 {
			return nil
		}
		used := inUse()
		still := ours()
		all = slices.DeleteFunc(all, func(path string) bool { return used[path] || !slices.Contains(still, path) })
		time.Sleep(pause)
	}
	return all
}

// ours lists the files of this user that have our name.
func ours() (paths []string) {
	all, _ := filepath.Glob(folder + "/*pm2*")
	for _, path := range all {
		if info, err := os.Lstat(path); err == nil && info.Sys().(*syscall.Stat_t).Uid == uint32(os.Geteuid()) {
			paths = append(paths, path)
		}
	}
	return paths
}

// inUse is the set of the files in the folder that processes map or have open.
func inUse() map[string]bool {
	used := map[string]bool{}
	maps, _ := filepath.Glob("/proc/[0-9]*/maps")
	for _, m := range maps {
		text, _ := os.ReadFile(m) // fails for a process that has ended, and for those of others
		for line := range strings.Lines(string(text)) {
			if i := strings.Index(line, folder+"/"); i >= 0 {
				used[strings.TrimSpace(line[i:])] = true
			}
		}
	}
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range open {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, folder+"/") {
			used[to] = true
		}
	}
	return used
}
