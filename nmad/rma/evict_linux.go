package rma

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// grace is how long a process that is taken for lost may stay inside a copy before evict ends it.
const grace = time.Second

// custody opens a pidfd of the process, by which evict can end it, and reports whether there is one: without it the
// process may not have the kernel copy here. It is called while the process waits for an answer, so its number is not
// another process's yet; and for one request of it at a time.
func (pr *peer) custody() bool {
	if pr.pidfd.Load() == 0 {
		held := int32(-1)
		if fd, err := unix.PidfdOpen(int(pr.pid), 0); err == nil {
			if held = int32(fd) + 1; unix.PidfdSendSignal(fd, 0, nil, 0) != nil { // it may be another user's
				_ = unix.Close(fd)
				held = -1
			}
		}
		pr.pidfd.Store(held)
	}
	return pr.pidfd.Load() > 0
}

// relinquish closes the pidfd of custody.
func (pr *peer) relinquish() {
	if held := pr.pidfd.Swap(0); held > 0 {
		_ = unix.Close(int(held) - 1)
	}
}

// evict waits until out says that a process which was taken for lost has left its copy. A process that is stopped
// inside a copy would write when it is continued, so evict ends it by SIGKILL after grace. The error, a *PeerError,
// says that this is not allowed.
func (pr *peer) evict(rank int, out func() bool) error {
	fd := int(pr.pidfd.Load()) - 1
	if fd < 0 || out() {
		return nil
	}
	for began := time.Now(); !out(); marcel.Sleep(time.Millisecond) {
		if over, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0); over == 1 && err == nil { // all its threads have ended
			return nil
		}
		if time.Since(began) < grace || int(pr.pid) == os.Getpid() { // another session in this process cannot be stopped alone
			continue
		}
		if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return &nmad.PeerError{Rank: rank, Reason: fmt.Sprintf("process %d was taken for lost inside of a copy into memory of this one, and cannot be ended: %v", pr.pid, err), Err: nmad.ErrPeerLost}
		}
	}
	return nil
}
