package shm

import (
	"crypto/rand"
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// nonce is random bytes in the memory of a process. Another process that can read them there can read that
// process's memory, and has its right number: a number may mean another process in another name space, and a
// kernel may forbid the reading, by Yama, by seccomp, or because the reader is another user.
type nonce [nonceSize]byte

const (
	nonceSize    = 16
	evidenceSize = 8 + nonceSize // encoded
)

// evidence is what a peer says about its nonce: where it lies, and its value.
type evidence struct {
	address uint64
	nonce   nonce
}

func newNonce() *nonce {
	n := new(nonce)
	_, _ = rand.Read(n[:]) // never fails
	return n
}

// evidence encodes where nc lies, and its value, in evidenceSize bytes.
func (nc *nonce) evidence() []byte {
	b := binary.LittleEndian.AppendUint64(nil, process.AddressOf(nc[:]))
	return append(b, nc[:]...)
}

// decode reads evidenceSize bytes.
func (ev *evidence) decode(b []byte) {
	ev.address = binary.LittleEndian.Uint64(b)
	copy(ev.nonce[:], b[8:])
}

// processOf returns the number of the process at the other end of a Unix socket; 0 if it is not known, as in
// another name space.
func processOf(sock int) int {
	peer, err := unix.GetsockoptUcred(sock, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0
	}
	return max(int(peer.Pid), 0)
}

// heldBy returns pid if the memory of that process can be read and has the nonce; else 0.
func (ev *evidence) heldBy(pid int) int {
	if pid == 0 {
		return 0
	}
	p := &process.Memory{PID: pid}
	got := new(nonce)
	if _, errno := p.Read(got[:], ev.address); errno != 0 || *got != ev.nonce {
		return 0
	}
	return pid
}

// evictable reports whether this process may end process pid. The kernel may let a process write into our memory that
// we may not end, such as one of root.
func evictable(pid int) bool { return unix.Kill(pid, 0) == nil }

// evict ends the peer's process by SIGKILL, and reports whether it is gone. The kernel offers no other way to take back
// a write that another process has begun, or is about to begin: a stopped process goes on where it was when it is
// continued.
//
// A descriptor of the process names it, so the signal never meets another process that has been given its number.
func (l *link) evict() bool {
	if l.reader.PID == os.Getpid() {
		return l.State.Load()&life.Broken != 0 // two ends in one process: its writer cannot be stopped alone
	}
	if !l.Enter(life.Pull) {
		return false
	}
	defer l.Leave(life.Pull)
	fd, err := l.handle()
	if err != nil {
		return err == unix.ESRCH
	}
	defer unix.Close(fd)
	_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it may have ended
	over := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(over, 0) // readable: all threads of the process have ended
	return n == 1 && err == nil
}

// handle opens a descriptor of the peer's process. ESRCH: there is no such process any more.
func (l *link) handle() (fd int, err error) {
	if fd, err = unix.GetsockoptInt(l.sock, unix.SOL_SOCKET, unix.SO_PEERPIDFD); err == nil || err == unix.ESRCH {
		return fd, err
	}
	// Before Linux 6.5: by its number, which may be another process's by now: that one does not hold the nonce.
	if fd, err = unix.PidfdOpen(l.reader.PID, 0); err != nil {
		return -1, err
	}
	if l.evidence.heldBy(l.reader.PID) == 0 {
		_ = unix.Close(fd)
		return -1, unix.EPERM
	}
	return fd, nil
}
