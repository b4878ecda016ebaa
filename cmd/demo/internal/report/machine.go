package report

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
)

const modulePath = "github.com/pm2-go/pm2"

// Machine says where an experiment ran.
type Machine struct {
	CPU     string   `json:"cpu"`
	Cores   int      `json:"cores"` // CPUs that the experiment might use
	Kernel  string   `json:"kernel"`
	Go      string   `json:"go"`
	ProbeNS *float64 `json:"probe_ns"` // one cache line from core to core, one way; null with one CPU
	Commit  string   `json:"commit"`   // "unknown" outside of a repository
}

// Detect describes this machine. cores is the number of usable CPUs, which the caller knows from before it bound
// itself.
func Detect(cores int, probeNS float64) Machine {
	return Machine{
		CPU:     cpuName(),
		Cores:   cores,
		Kernel:  kernelRelease(),
		Go:      runtime.Version(),
		ProbeNS: Optional(probeNS),
		Commit:  Commit(),
	}
}

func cpuName() string {
	if name := asm.Brand(); name != "" {
		return name
	}
	// Other architectures have no instruction for it; the kernel may know.
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return runtime.GOOS
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// Commit is the revision that this binary was built from. `go run` and -buildvcs=false leave it out; then, and only if
// the working directory lies in a checkout of this module, git is asked, and the answer says so by its suffix.
func Commit() string {
	revision, modified := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				modified = s.Value
			}
		}
	}
	if revision == "" {
		return checkoutCommit()
	}
	if len(revision) > 12 {
		revision = revision[:12]
	}
	if modified == "true" {
		revision += "+modified"
	}
	return revision
}

func checkoutCommit() string {
	dir, err := os.Getwd()
	if err != nil {
		return "unknown"
	}
	for ; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			if !strings.HasPrefix(string(text), "module "+modulePath+"\n") {
				return "unknown"
			}
			break
		}
		if dir == filepath.Dir(dir) {
			return "unknown"
		}
	}
	out, err := exec.Command("git", "-C", dir, "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	revision := strings.TrimSpace(string(out))
	if changes, err := exec.Command("git", "-C", dir, "status", "--porcelain", "--untracked-files=no").Output(); err != nil || len(changes) > 0 {
		revision += "+modified"
	}
	return revision + " (checkout)"
}

// String is the machine on one line, for the heading of a table.
func (m Machine) String() string {
	s := fmt.Sprintf("%s, %d usable CPUs, %s, %s, commit %s", m.CPU, m.Cores, m.Kernel, m.Go, m.Commit)
	if m.Cores == 1 {
		s = strings.Replace(s, "1 usable CPUs", "1 usable CPU", 1)
	}
	if m.ProbeNS != nil {
		s += fmt.Sprintf(", core to core %.1f ns", *m.ProbeNS)
	}
	return s
}
