package launch

import (
	"fmt"
	"net"
	"os"
	"syscall"

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
	if j.first == nil {
		j.first = &AbortError{rank, status}
	}
	j.failing = true
	j.after(0, j.Kill)
}

// connectPMI opens the connection of a rank to the server. Its end is for the rank, ours for converse.
func connectPMI() (theirs *os.File, ours net.Conn, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("serve PMI: %w", os.NewSyscallError("socketpair", err))
	}
	file := os.NewFile(uintptr(fds[0]), "pmi")
	defer file.Close()
	theirs = os.NewFile(uintptr(fds[1]), "pmi of the rank")
	if ours, err = net.FileConn(file); err != nil { // a copy
		theirs.Close()
		return nil, nil, fmt.Errorf("serve PMI: %w", err)
	}
	return theirs, ours, nil
}

// converse serves a rank until it leaves, or the job is over: a process that the rank has left running may hold its end open.
func (j *Job) converse(rank int, conn net.Conn) {
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := j.pmi.Serve(rank, conn); err != nil {
			j.spec.Warn("launch: " + err.Error())
		}
	}()
	go func() {
		select {
		case <-served:
		case <-j.over:
			conn.Close()
		}
	}()
}
