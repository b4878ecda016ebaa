package hello

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// lack is the error of an exchange of which no link comes because one of the two processes cannot make its side
// of it. It is a driver.ErrLack, and if the peer's may pass an ErrBusy, as that of a peer that does not answer.
type lack struct {
	cause  error
	byPeer bool // the cause is what the peer said
	passes bool // it has too little of something for now
}

// Lacking makes the error of this process when err keeps it from making its side of a link.
func Lacking(err error) error {
	l := &lack{cause: kernel.Explain(err)}
	for _, short := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS} {
		l.passes = l.passes || errors.Is(err, short)
	}
	return l
}

func (l *lack) Error() string {
	if l.byPeer {
		return fmt.Sprintf("the peer %v and says: %v", driver.ErrLack, l.cause)
	}
	return fmt.Sprintf("this process %v: %v", driver.ErrLack, l.cause)
}

func (l *lack) Unwrap() []error {
	if l.byPeer && l.passes {
		return []error{driver.ErrLack, driver.ErrBusy, l.cause}
	}
	return []error{driver.ErrLack, l.cause}
}

// frame is what tells the peer.
func (l *lack) frame() (kind byte) {
	if l.passes {
		return kindBusy
	}
	return kindLack
}
