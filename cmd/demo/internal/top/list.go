package top

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel/monitor"
)

// A Process can be attached to.
type Process struct {
	PID     int
	Path    string // of its socket
	Command string // its program, without the folder, and the arguments
}

// Processes lists the processes of the caller that serve their counters where the environment of some process says, by
// pid. Those that serve them at a path of their own choice are not found.
func Processes() (all []Process) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	asked := map[string]bool{}
	for _, name := range environments {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // another user's, or gone
		}
		for variable := range bytes.SplitSeq(text, []byte{0}) {
			path, ok := strings.CutPrefix(string(variable), monitor.Environment+"=")
			if !ok || path == "" {
				continue
			}
			if !filepath.IsAbs(path) {
				folder, err := os.Readlink(filepath.Join(filepath.Dir(name), "cwd"))
				if err != nil {
					continue
				}
				path = filepath.Join(folder, path)
			}
			if asked[path] {
				continue
			}
			asked[path] = true
			if p, err := serving(path); err == nil {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	return all
}

// serving asks the kernel which process listens at path.
func serving(path string) (p Process, err error) {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return p, err
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return p, err
	}
	var peer *unix.Ucred
	if e := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		return p, e
	}
	if err != nil {
		return p, err
	}
	words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", peer.Pid))
	program, arguments, _ := strings.Cut(string(words), "\x00")
	return Process{int(peer.Pid), path, strings.TrimSpace(filepath.Base(program) + " " + strings.ReplaceAll(arguments, "\x00", " "))}, err
}

// WriteProcesses writes a line for each.
func WriteProcesses(w io.Writer, all []Process) error {
	if len(all) == 0 {
		_, err := fmt.Fprintf(w, "no process serves its counters: start one with %s=/some/path\n", monitor.Environment)
		return err
	}
	if _, err := fmt.Fprintf(w, "%8s  %-40s  %s\n", "PID", "attach to", "command"); err != nil {
		return err
	}
	for _, p := range all {
		room := max(46-max(utf8.RuneCountInString(p.Path)-40, 0), 10) // of a line of 98 letters, if the path leaves it
		if _, err := fmt.Fprintf(w, "%8d  %-40s  %.*s\n", p.PID, p.Path, room, p.Command); err != nil {
			return err
		}
	}
	return nil
}
