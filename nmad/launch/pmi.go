package launch

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/manager"
)

// AbortError is how a job ended of which a process has asked, by PMI, that it ends.
type AbortError struct {
	Rank   int
	Status int // the exit status that it asked for
}

// Error names the rank.
func (e *AbortError) Error() string {
	return fmt.Sprintf("rank %d has ended the job with status %d", e.Rank, e.Status)
}

// LeaveError is how a job ended of which a process has left that had joined it by PMI: its connection ended without
// finalize, or brought what is no PMI. Others may wait for it.
type LeaveError struct {
	Rank int
	Err  error // what came, or did not
}

// Error names the rank, and why.
func (e *LeaveError) Error() string { return "launch: " + e.Err.Error() }

// Unwrap returns Err.
func (e *LeaveError) Unwrap() error { return e.Err }

// servePMI has each rank find a server of PMI 1.1 in its environment.
func (j *Job) servePMI() {
	app := func(rank int) int { _, number := j.spec.program(rank); return number }
	j.pmi = manager.NewServer(j.spec.N, app, j.abort)
}

// abort ends the job for a rank that has asked for it.
func (j *Job) abort(rank, status int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running == 0 {
		return
	}
	j.blame(&AbortError{rank, status}, cause)
	j.failing = true
	j.kill() // before the rank sees that its connection ends, and complains
}

// left ends the job after the grace period, for a rank that others may wait for. How the rank itself has ended goes first,
// if it has failed.
func (j *Job) left(rank int, why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.blame(&LeaveError{rank, why}, cause)
	j.fail()
}

// connectPMI opens the connection of a rank to the server. Its end is for the rank, ours for converse.
func connectPMI() (theirs *os.File, ours *net.UnixConn, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("serve PMI: %w", os.NewSyscallError("socketpair", err))
	}
	file := os.NewFile(uintptr(fds[0]), "pmi")
	defer file.Close()
	theirs = os.NewFile(uintptr(fds[1]), "pmi of the rank")
	conn, err := net.FileConn(file) // a copy
	if err != nil {
		theirs.Close()
		return nil, nil, fmt.Errorf("serve PMI: %w", err)
	}
	return theirs, conn.(*net.UnixConn), nil
}

// conversation is that of a rank with the server.
type conversation struct {
	conn *net.UnixConn
	over chan struct{} // closed when it is, and the job knows
}

// converse serves a rank until it leaves.
func (j *Job) converse(rank int, conn *net.UnixConn) *conversation {
	c := &conversation{conn, make(chan struct{})}
	go func() {
		defer close(c.over)
		joined, err := j.pmi.Serve(rank, conn)
		switch {
		case err == nil:
		case joined:
			j.left(rank, err)
		default:
			j.spec.Warn("launch: " + err.Error())
		}
	}()
	return c
}

// end ends the conversation of a process that is dead, after what it has sent: one that it has left running may hold its
// end open.
func (cv *conversation) end() {
	if cv == nil {
		return
	}
	_ = cv.conn.CloseRead()                  // what has come is read before the end
	_ = cv.conn.SetWriteDeadline(time.Now()) // nothing reads the answers
	<-cv.over
}
