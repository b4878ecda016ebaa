package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pm2-go/pm2/internal/test/orphans"
	"github.com/pm2-go/pm2/marcel"
)

// left is what a process has beyond its own memory, and what must be gone when its session is closed.
type left struct {
	descriptors map[string]bool // number and what it leads to
	mappings    int             // of memory that has no name
	goroutines  []string        // in nmad and below
}

// remains looks what this process has.
func remains() (l left) {
	l.descriptors = map[string]bool{}
	all, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range all {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && to != "/dev/null" && !strings.HasPrefix(to, "/proc/") {
			l.descriptors[fd.Name()+" "+to] = true
		}
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	l.mappings = bytes.Count(maps, []byte("memfd:")) + bytes.Count(maps, []byte("/dev/shm/"))
	for _, g := range strings.Split(stacks(), "\n\n") {
		if strings.Contains(g, "pm2/nmad.") || strings.Contains(g, "pm2/nmad/") {
			l.goroutines = append(l.goroutines, g)
		}
	}
	return l
}

func stacks() string {
	b := make([]byte, 1<<20)
	for {
		if n := runtime.Stack(b, true); n < len(b) {
			return string(b[:n])
		}
		b = make([]byte, 2*len(b))
	}
}

// nothingMore waits until there is no more than before, and notes what there is else.
func (b *book) nothingMore(before left, after string) {
	var now left
	var more []string
	for try := range 400 {
		if try%40 == 1 {
			runtime.GC() // what was mapped goes with what knew of it
		}
		now, more = remains(), nil
		for d := range now.descriptors {
			// The engine and Go's runtime keep one of their own to wait for others.
			if !before.descriptors[d] && !strings.Contains(d, "[eventpoll]") && !strings.Contains(d, "[eventfd]") && !strings.Contains(d, "[timerfd]") {
				more = append(more, d)
			}
		}
		if len(more) == 0 && now.mappings <= before.mappings && len(now.goroutines) == 0 {
			return
		}
		marcel.Sleep(5 * time.Millisecond)
	}
	slices.Sort(more)
	if len(more) > 0 {
		b.bad("descriptors are left after %s: %s", after, strings.Join(more, ", "))
	}
	if now.mappings > before.mappings {
		b.bad("%d mappings of shared memory are left after %s, there were %d", now.mappings, after, before.mappings)
	}
	for _, g := range now.goroutines {
		b.bad("a goroutine is left after %s: %s", after, g)
	}
}

// leftovers lists what a job has left: processes that bear its mark, and files.
func leftovers(mark, dir string, before []string) (all []string) {
	word := []byte(markVariable + "=" + mark)
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range processes {
		env, err := os.ReadFile(path + "/environ")
		if err != nil || !bytes.Contains(env, word) {
			continue
		}
		stat, _ := os.ReadFile(path + "/stat")
		all = append(all, fmt.Sprintf("process %s (%.60s)", filepath.Base(path), stat))
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && path != dir {
			all = append(all, "file "+path)
		}
		return nil
	})
	for _, f := range orphans.Files() {
		if !slices.Contains(before, f) {
			all = append(all, "file "+f)
		}
	}
	return all
}
