package lab

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// scratch is a folder for files of this process. It vanishes with it, however it ends: programs are built in the folder
// and run from it, so it needs a name, and a name outlives a process that is killed. So a shell waits, in a process
// group of its own, until the pipe to it is closed, which the kernel does for a process that cannot any more, and then
// removes the folder.
type scratch struct {
	path   string
	broom  *exec.Cmd      // nil: there is no shell
	handle io.WriteCloser // of the broom
}

// sweep removes $0 at the end of the input. Jobs that die with us may still write for a moment.
const sweep = `read _; for i in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$0" && exit; sleep 1; done`

func newScratch() (*scratch, error) {
	path, err := os.MkdirTemp("", "pm2-lab-")
	if err != nil {
		return nil, err
	}
	s := &scratch{path: path}
	broom := exec.Command("/bin/sh", "-c", sweep, path)
	broom.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal to our group is not for it
	if s.handle, err = broom.StdinPipe(); err == nil {
		if broom.Start() == nil {
			s.broom = broom
		}
	}
	return s, nil
}

// remove removes the folder.
func (s *scratch) remove() {
	if s.broom != nil {
		_ = s.handle.Close()
		_ = s.broom.Wait()
	}
	_ = os.RemoveAll(s.path)
}
