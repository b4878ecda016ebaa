package meet

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// Refusal is the error of a peer that was turned away, or turned us away. It
// is an ErrRefused.
type Refusal struct {
	Reason string
	ByPeer bool // the reason is what the peer said
}

func (r *Refusal) Error() string {
	if r.ByPeer {
		return fmt.Sprintf("%v by the peer, which says: %s", driver.ErrRefused, r.Reason)
	}
	return fmt.Sprintf("%v the peer: %s", driver.ErrRefused, r.Reason)
}

func (r *Refusal) Unwrap() error { return driver.ErrRefused }

// Refused makes a reason to turn the peer away.
func Refused(format string, args ...any) error {
	return &Refusal{Reason: fmt.Sprintf(format, args...)}
}

// Refuse tells the peer why nothing comes of the connection, if err is for it to know: this process turns it away, or
// lacks something. It gives err back. The caller closes conn.
func Refuse(conn net.Conn, err error) error {
	var r *Refusal
	var l *lack
	// The peer may be gone or stuck; err is what counts.
	switch {
	case errors.As(err, &r) && !r.ByPeer:
		_ = WriteFrame(conn, kindRefusal, cut(r.Reason))
	case errors.As(err, &l) && !l.byPeer:
		_ = WriteFrame(conn, l.frame(), cut(l.cause.Error()))
	}
	return err
}

// cut makes a reason fit a frame.
func cut(reason string) []byte { return []byte(reason[:min(len(reason), MaxFrame)]) }

// printable makes text of a stranger safe to print.
func printable(b []byte) string {
	const most = 300
	if len(b) > most {
		b = b[:most]
	}
	out := make([]byte, len(b))
	for i, c := range b {
		if c < ' ' || c > '~' {
			c = '?'
		}
		out[i] = c
	}
	return string(out)
}

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
