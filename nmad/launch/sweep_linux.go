package launch

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ownProgram returns a path of this program that stays valid if its file is replaced or removed.
func ownProgram() (string, error) { return "/proc/self/exe", nil }

// nameProcess sets the name that ps and pkill see. Without it a guard would be called "exe".
func nameProcess(name string) { _ = os.WriteFile("/proc/self/comm", []byte(name), 0) }

// sweep kills the processes that were started with a variable, "NAME=value", in their environment, except this
// one, until there are none or the time is over.
func sweep(variable string, patience time.Duration) {
	for end := time.Now().Add(patience); sweepOnce([]byte(variable)) > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // they are dying, or had forked before they were killed
	}
}

// sweepOnce kills those that it finds and returns how many these were.
func sweepOnce(variable []byte) (found int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // as far as it comes
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		// What the descriptor stands for stays the process whose environment is read, even if that ends and its number
		// becomes another process's.
		fd, err := unix.PidfdOpen(pid, 0)
		switch {
		case err == nil:
			if hasVariable(pid, variable) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
				found++
			}
			unix.Close(fd)
		case err != unix.ESRCH: // older than Linux 5.3, or forbidden
			if hasVariable(pid, variable) && unix.Kill(pid, unix.SIGKILL) == nil {
				found++
			}
		}
	}
	return found
}

// hasVariable reports whether a process was started with that variable. Zombies and the processes of other users
// show no environment.
func hasVariable(pid int, variable []byte) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for v := range bytes.SplitSeq(text, []byte{0}) {
		if bytes.Equal(v, variable) {
			return true
		}
	}
	return false
}
