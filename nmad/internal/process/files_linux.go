package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/internal/kernel"
)

// Folder has the files of memory that has a name. The kernel keeps such a file when its process is killed.
const Folder = "/dev/shm/"

// FileName is what begins the names of the files in Folder of a process, by its number in the name space of processes
// that the caller is in: pm2-SPACE-PID: and whatever else the process chooses.
func FileName(pid int) string { return prefix() + strconv.Itoa(pid) + ":" }

func prefix() string { return "pm2-" + strings.Trim(kernel.Space("pid"), "pid:[]") + "-" }

// FileOwner returns the process to which a file of that name belongs. ok is false if it belongs to none of the caller's
// name space.
func FileOwner(name string) (pid int, ok bool) {
	rest, ours := strings.CutPrefix(name, prefix())
	number, _, whole := strings.Cut(rest, ":")
	pid, err := strconv.Atoi(number)
	return pid, ours && whole && err == nil && pid > 0
}

// RemoveFiles removes the files in Folder of processes that have ended. Several callers may do so at the same time.
func RemoveFiles() {
	files, _ := filepath.Glob(Folder + prefix() + "*")
	for _, file := range files {
		if pid, ok := FileOwner(filepath.Base(file)); ok && ended(pid) {
			_ = os.Remove(file) // another caller may have
		}
	}
}
