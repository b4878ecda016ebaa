package launch

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/manager"
)

// AbortError is the error of a job that a process has ended, by PMI.
type AbortError struct {
	Rank   int
	Status int // the exit status that it asked for
}

// Error names the rank.
func (e *AbortError) Error() string {
	return fmt.Sprintf("rank %d has ended the job with status %d", e.Rank, e.Status)
}

// LeaveError is the error of a job that a process has left without finalize, after it had joined it by PMI: its
// connection ended, or brought what is no PMI. Others may wait for that process.
type LeaveError struct {
	Rank int
	Err  error // what came, or did not
}

// Error names the rank, and why.
func (e *LeaveError) Error() string { return "launch: " + e.Err.Error() }

// Unwrap returns Err.
func (e *LeaveError) Unwrap() error { return e.Err }

// servePMI makes the server of PMI 1.1 that the ranks find in their environment.
func (j *Job) servePMI() {
	app := func(rank int) int { _, number := j.spec.program(rank); return number }
	j.pmi = manager.NewServer(j.spec.N, app, j.abort)
}

// abort ends the job because a rank has asked for it by PMI.
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

// leftPMI ends the job after the grace period, because a rank has left for which others may wait. If the rank
// itself has failed, that becomes the error of Wait.
func (j *Job) leftPMI(rank int, why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.blame(&LeaveError{rank, why}, cause)
	j.fail()
}

// connectPMI returns the two ends of a connection between a rank and the server.
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

// conversation is the connection of a rank with the server, and the goroutine that serves it.
type conversation struct {
	conn *net.UnixConn
	done chan struct{} // closed when the rank has left, and the job knows
}

// converse serves a rank, in a goroutine, until it leaves.
func (j *Job) converse(rank int, conn *net.UnixConn) *conversation {
	c := &conversation{conn, make(chan struct{})}
	go func() {
		defer close(c.done)
		joined, err := j.pmi.Serve(rank, conn)
		switch {
		case err == nil:
		case joined:
			j.leftPMI(rank, err)
		default:
			j.spec.Warn("launch: " + err.Error())
		}
	}()
	return c
}

// finish ends the conversation with a process that has died, after the server has read what that has sent. A
// process that the rank has left running may hold the rank's end open.
func (cv *conversation) finish() {
	if cv == nil {
		return
	}
	_ = cv.conn.CloseRead()                  // what has come is read before the end
	_ = cv.conn.SetWriteDeadline(time.Now()) // nothing reads the answers
	<-cv.done
}
