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

// grace is how long a process that is taken for lost may stay inside a copy.
const grace = time.Second

// custody opens the means to end a process. The process asks for memory just now, so its number cannot be another
// one's yet. false: the process may not have the kernel copy here.
func (pr *peer) custody() bool {
	if pr.held.Load() == 0 { // one thread at a time answers a process
		held := int32(-1)
		if fd, err := unix.PidfdOpen(int(pr.pid), 0); err == nil {
			if held = int32(fd) + 1; unix.PidfdSendSignal(fd, 0, nil, 0) != nil { // one of another user, perhaps
				_ = unix.Close(fd)
				held = -1
			}
		}
		pr.held.Store(held)
	}
	return pr.held.Load() > 0
}

// relinquish gives up what custody has got.
func (pr *peer) relinquish() {
	if held := pr.held.Swap(0); held > 0 {
		_ = unix.Close(int(held) - 1)
	}
}

// evict waits until a process that was taken for lost is not inside of a copy any more. A process that is stopped
// inside of one would write when it is continued. Only its end prevents that, so evict ends it.
func (pr *peer) evict(rank int, out func() bool) error {
	fd := int(pr.held.Load()) - 1
	if fd < 0 || out() {
		return nil
	}
	for began := time.Now(); !out(); marcel.Sleep(time.Millisecond) {
		if over, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0); over == 1 && err == nil { // all its threads have ended
			return nil
		}
		if time.Since(began) < grace || int(pr.pid) == os.Getpid() { // a session in this process: its thread runs, or this one does not
			continue
		}
		if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return &nmad.PeerError{Rank: rank, Reason: fmt.Sprintf("process %d was taken for lost inside of a copy into memory of this one, and cannot be ended: %v", pr.pid, err), Err: nmad.ErrPeerLost}
		}
	}
	return nil
}
