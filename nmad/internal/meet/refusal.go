package meet

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// Refusal is the error of an exchange in which one process has turned the other away. It is a driver.ErrRefused.
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

// Refused returns the error by which this process turns the peer away. Refuse sends it.
func Refused(format string, args ...any) error {
	return &Refusal{Reason: fmt.Sprintf(format, args...)}
}

// Refuse tells the peer why nothing comes of the connection, if err is of Refused or Lacking. It returns err. The
// caller closes conn.
func Refuse(conn net.Conn, err error) error {
	var r *Refusal
	var l *lack
	// The peer may be gone or stuck; err is what counts.
	switch {
	case errors.As(err, &r) && !r.ByPeer:
		_ = WriteFrame(conn, kindRefusal, frameText(r.Reason))
	case errors.As(err, &l) && !l.byPeer:
		_ = WriteFrame(conn, l.frame(), frameText(l.cause.Error()))
	}
	return err
}

// frameText cuts a text to the length of a frame.
func frameText(reason string) []byte { return []byte(reason[:min(len(reason), MaxFrame)]) }

// printable makes text of a stranger safe to print: ASCII only, and not too long.
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

// lack is the error of an exchange in which one of the processes cannot make its side of the link. It is a
// driver.ErrLack, and also a driver.ErrBusy if the peer's lack is temporary.
type lack struct {
	cause     error
	byPeer    bool // the cause is what the peer has said
	temporary bool // it lacks something only for now
}

// Lacking returns the error of this process when err keeps it from making its side of a link. Refuse sends it.
func Lacking(err error) error {
	l := &lack{cause: kernel.Explain(err)}
	for _, short := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS} {
		l.temporary = l.temporary || errors.Is(err, short)
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
	if l.byPeer && l.temporary {
		return []error{driver.ErrLack, driver.ErrBusy, l.cause}
	}
	return []error{driver.ErrLack, l.cause}
}

// frame returns the kind of the frame that tells the peer.
func (l *lack) frame() (kind byte) {
	if l.temporary {
		return kindBusy
	}
	return kindLack
}
