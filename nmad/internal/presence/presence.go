package presence

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/pm2-go/pm2/internal/setting"
)

// Stage is where a process stands.
type Stage byte

const (
	Absent  Stage = 0
	Present Stage = 'p' // its session is open, and so is that of another process
	Alone   Stage = 'a' // its session is open, and no other one
	Left    Stage = 'l' // it has closed its session, or could not open it
)

// Lost is told besides, in any stage: another process is lost, or has broken the protocol. What this one fails with later
// may follow from that.
const Lost Stage = 'o'

// Teller is the end of the process. A nil one tells nothing. Safe for concurrent use.
type Teller struct {
	mu    sync.Mutex
	file  *os.File // nil: it has left
	stage Stage
	lost  bool // it has told Lost
}

// Inherit takes over the descriptor that the launcher has opened; children of this process do not have it.
func Inherit(descriptor string) (*Teller, error) {
	fd, err := setting.Descriptor(descriptor)
	if err != nil {
		return nil, err
	}
	var s syscall.Stat_t
	// Where a sandbox lets no process ask, the launcher is trusted.
	if err := syscall.Fstat(fd, &s); err == syscall.EBADF || err == nil && s.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil, errors.New("it is no pipe: was it closed by a program between the launcher and this one?")
	}
	syscall.CloseOnExec(fd)
	return &Teller{file: os.NewFile(uintptr(fd), "presence")}, nil
}

// Tell says that this process has gone on to a stage; a stage is never taken back. It does not matter that the launcher
// does not hear it any more.
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

// Watch is the end of the launcher.
type Watch struct{ file *os.File }

// New makes both ends; the second one is for the process to inherit.
func New() (*Watch, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return &Watch{r}, w, nil
}

// Close gives the pipe up, and says in which stage the process was that has just ended, and whether it had lost another
// one. It ignores bytes that name no stage. A nil Watch says Absent.
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
			n, err := syscall.Read(int(fd), told[:]) // the pipe may be open for writing elsewhere: at its end there is nothing to wait for
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
