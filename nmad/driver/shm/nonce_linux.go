package shm

import (
	"crypto/rand"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// nonce is random bytes in our memory. Who can read them there can read our memory, and has
// the right process: a number may mean another process there than here, and a kernel may
// forbid it, by Yama, seccomp, or because we belong to somebody else.
type nonce [nonceSize]byte

const (
	nonceSize    = 16
	evidenceSize = 8 + nonceSize // encoded
)

// evidence is what a peer says about its nonce.
type evidence struct {
	address uint64
	nonce   nonce
}

func newNonce() *nonce {
	n := new(nonce)
	_, _ = rand.Read(n[:]) // never fails
	return n
}

// evidence encodes where n is, and what.
func (n *nonce) evidence() []byte {
	b := binary.LittleEndian.AppendUint64(nil, addressOf(n[:]))
	return append(b, n[:]...)
}

// decode reads evidenceSize bytes.
func (e *evidence) decode(b []byte) {
	e.address = binary.LittleEndian.Uint64(b)
	copy(e.nonce[:], b[8:])
}

// holder gives the number of the process at the other end of a Unix socket, if its memory can be
// read and has the nonce; else 0.
func (e *evidence) holder(sock int) (pid int) {
	peer, err := unix.GetsockoptUcred(sock, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0
	}
	return e.heldBy(int(peer.Pid))
}

// heldBy is holder for a process of which the number is known; 0 is nobody.
func (e *evidence) heldBy(pid int) int {
	if pid <= 0 {
		return 0
	}
	p := process{pid: pid}
	got := new(nonce)
	if _, errno := p.read(got[:], e.address); errno != 0 || *got != e.nonce {
		return 0
	}
	return pid
}
