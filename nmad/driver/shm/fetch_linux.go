package shm

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver/internal/life"
)

// Fetch implements driver.Link, by process_vm_readv.
func (l *link) Fetch(buf []byte, address uint64) (int, error) {
	if s := l.State.Load(); s&(life.Closed|life.Broken|life.Lost) != 0 {
		return 0, l.Why(s)
	}
	if !l.fetches {
		return 0, errors.ErrUnsupported
	}
	switch _, errno := l.reader.Read(buf, address); errno {
	case 0:
		// Both are looked at after the bytes were read: they are what was exposed, and of the peer, not of a process
		// that has its number now. testdata/spin/exposed.pml is the model.
		if l.largeRx.slotCredit.hidden.Add(0) == 0 && l.present(life.Pull, &l.pullDir) {
			runtime.KeepAlive(l)
			return len(buf), nil
		}
	case unix.ESRCH:
		l.State.Or(lookAtOnce) // its socket is closed in a moment
	default:
		return 0, errors.ErrUnsupported
	}
	if l.idleCheck(life.Pull, &l.pullDir) {
		return 0, l.Why(life.Lost)
	}
	runtime.KeepAlive(l)
	return 0, nil
}

// Withdraw implements driver.Link.
func (l *link) Withdraw() {
	if l.State.Load()&life.Closed == 0 {
		l.largeTx.slotCredit.hidden.Store(1)
	}
	runtime.KeepAlive(l)
}
