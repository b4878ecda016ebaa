package presence

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/pm2-go/pm2/internal/setting"
)

// Stage is the stage of the job that a process has reached: the byte that it writes.
type Stage byte

// The stages. Absent is never written.
const (
	Absent  Stage = 0   // the process has told nothing
	Present Stage = 'p' // its session is open, and so is that of another process
	Alone   Stage = 'a' // its session is open, and no other one is
	Left    Stage = 'l' // it has closed its session, or could not open it
)

// Lost is no stage: a process tells it once, in any stage, when it has lost another process, or when another process
// has broken the protocol. Its own later failure may be the consequence.
const Lost Stage = 'o'

// Teller is the process's end of the pipe. A nil Teller tells nothing. Safe for concurrent use.
type Teller struct {
	mu    sync.Mutex // guards all fields
	file  *os.File   // nil once the process has told Left
	stage Stage      // what was told last, apart from Lost
	lost  bool       // Lost was told
}

// Inherit takes over the descriptor that the launcher has opened, whose number is the text. Children of this process do
// not inherit it. It fails if the descriptor is no pipe.
func Inherit(descriptor string) (*Teller, error) {
	fd, err := setting.Descriptor(descriptor)
	if err != nil {
		return nil, err
	}
	var s syscall.Stat_t
	// In a sandbox that forbids fstat, Inherit trusts the launcher.
	if err := syscall.Fstat(fd, &s); err == syscall.EBADF || err == nil && s.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil, errors.New("it is no pipe: was it closed by a program between the launcher and this one?")
	}
	syscall.CloseOnExec(fd)
	return &Teller{file: os.NewFile(uintptr(fd), "presence")}, nil
}

// Tell tells a stage that this process has reached, or Lost. It ignores Present after Alone, what was told already, and
// all that comes after Left. A launcher that has gone does not matter. Tell does not block: the few bytes fit into the
// pipe.
func (t *Teller) Tell(s Stage) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil || s == Present && t.stage == Alone || s == Lost && t.lost {
		return
	}
	if s == Lost {
		t.lost = true
	} else {
		t.stage = s
	}
	_, _ = t.file.Write([]byte{byte(s)})
	if s == Left {
		_ = t.file.Close()
		t.file = nil
	}
}

// Watch is the launcher's end of the pipe. Not safe for concurrent use.
type Watch struct{ file *os.File }

// New makes a pipe. It returns the launcher's end, and the file that the process is to inherit.
func New() (*Watch, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return &Watch{r}, w, nil
}

// Close closes the pipe of a process that has ended. It returns the last stage that the process has told, and whether
// the process has told Lost. It ignores bytes that name no stage, and does not block. Close of a nil Watch returns
// Absent.
func (w *Watch) Close() (last Stage, lost bool) {
	if w == nil {
		return Absent, false
	}
	defer w.file.Close()
	raw, err := w.file.SyscallConn()
	if err != nil {
		return Absent, false
	}
	var told [64]byte
	_ = raw.Read(func(fd uintptr) bool {
		for {
			n, err := syscall.Read(int(fd), told[:]) // an empty pipe is the end, even if a child of the process still has it open
			if n <= 0 {
				return err != syscall.EINTR
			}
			for _, b := range told[:n] {
				switch s := Stage(b); s {
				case Present, Alone, Left:
					last = s
				case Lost:
					lost = true
				}
			}
		}
	})
	return last, lost
}
