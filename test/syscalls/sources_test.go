//go:build linux && amd64 && !race

package syscalls

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rooms are the folders whose system calls the table lists, aids are those in them that only tests use.
var (
	rooms = []string{"asm", "hooks", "internal", "marcel", "nmad", "pioman", "sched", "tasklet"}
	aids  = []string{"internal/test", "nmad/driver/drivertest", "nmad/internal/test"}
)

// calls are the functions of x/sys and package syscall that are not named as the call that they make, and those that
// make none: "".
var calls = map[string]string{
	"Auxv": "", "ByteSliceToString": "", "CmsgSpace": "", "NsecToTimespec": "", "ParseSocketControlMessage": "", "ParseUnixRights": "",
	"SignalName": "", "UnixRights": "", "Errno": "", "Signal": "",
	"Syscall": "", "Syscall6": "", "RawSyscall": "", "RawSyscall6": "", // their first argument tells
	"EpollCreate1": "epoll_create1", "EpollCtl": "epoll_ctl", "EpollWait": "epoll_pwait", "Eventfd": "eventfd2",
	"ClockGettime": "clock_gettime", "CloseOnExec": "fcntl", "FcntlInt": "fcntl", "SetNonblock": "fcntl",
	"GetsockoptInt": "getsockopt", "GetsockoptTCPInfo": "getsockopt", "GetsockoptUcred": "getsockopt", "SetsockoptInt": "setsockopt", "SetsockoptString": "setsockopt", "SetsockoptLinger": "setsockopt",
	"MemfdCreate": "memfd_create", "MmapPtr": "mmap", "MunmapPtr": "munmap", "PidfdOpen": "pidfd_open", "PidfdSendSignal": "pidfd_send_signal",
	"Poll": "ppoll", "PrctlRetInt": "prctl", "Readlink": "readlinkat", "Unlink": "unlinkat", "Open": "openat",
	"SchedGetaffinity": "sched_getaffinity", "SchedSetaffinity": "sched_setaffinity", "SchedSetAttr": "sched_setattr",
	"SendmsgBuffers": "sendmsg",
}

// TestSources: each call that a source of ours makes is in the table, or among those that Go's runtime makes as well.
func TestSources(t *testing.T) {
	x := readTable(t)
	known := x.all()
	found := map[string]string{} // by call: where
	for _, room := range rooms {
		err := filepath.WalkDir("../../"+room, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(path, "../../")
			if d.IsDir() && (slices.Contains(aids, name) || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			if d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			if match, err := build.Default.MatchFile(filepath.Split(path)); err != nil || !match {
				return err
			}
			for _, call := range callsOf(t, path) {
				found[call] = name
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range x.rows {
		if found[r.call] == "" && !strings.Contains(r.room, "package") {
			t.Errorf("docs/platforms.md says that %s makes %s, and no source does", r.room, r.call)
		}
	}
	for call, where := range found {
		if !slices.Contains(known, call) {
			t.Errorf("%s makes the system call %s, of which docs/platforms.md says nothing; or it makes another one, or none, and this test should know", where, call)
		}
	}
}

// callsOf are the calls that a file makes.
func callsOf(t *testing.T, path string) (found []string) {
	switch filepath.Ext(path) {
	case ".s":
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\tSYSCALL") {
			t.Errorf("%s: which system call is this?", path)
		}
		return nil
	case ".go":
	default:
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	system := map[string]bool{} // names of the packages that make calls
	for _, i := range file.Imports {
		switch i.Path.Value {
		case `"golang.org/x/sys/unix"`:
			system["unix"] = true
		case `"syscall"`:
			system["syscall"] = true
		}
	}
	of := func(e ast.Expr) (name string) {
		if s, ok := e.(*ast.SelectorExpr); ok {
			if p, ok := s.X.(*ast.Ident); ok && system[p.Name] {
				return s.Sel.Name
			}
		}
		return ""
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := of(n.Fun)
			call, known := calls[name]
			if !known {
				call = strings.ToLower(name)
			}
			if call != "" {
				found = append(found, call)
			}
		case *ast.SelectorExpr:
			if call, ok := strings.CutPrefix(of(n), "SYS_"); ok {
				found = append(found, strings.ToLower(call))
			}
		}
		return true
	})
	return found
}

// TestOfRuntime: what docs/platforms.md calls the runtime's, that makes.
func TestOfRuntime(t *testing.T) {
	var text strings.Builder
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip(err)
	}
	for _, file := range []string{"runtime/sys_linux_amd64.s", "internal/runtime/syscall/linux/defs_linux_amd64.go", "internal/runtime/syscall/linux/defs_linux.go"} {
		part, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src", file))
		if err != nil {
			continue
		}
		text.Write(part)
	}
	if text.Len() == 0 {
		t.Skip("the sources of Go's runtime are not there")
	}
	for _, call := range readTable(t).runtime {
		if !regexp.MustCompile(`(?i)sys_` + call + `\b`).MatchString(text.String()) {
			t.Errorf("Go's runtime does not make %s", call)
		}
	}
}
