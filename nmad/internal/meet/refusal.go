package meet

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// Refusal is the error of an exchange that one process has ended: because it has turned the other one away, which is a
// driver.ErrRefused, or because it cannot make its side of the link. The latter is a driver.ErrLack, and, if the
// process that lacks something is the peer and lacks it only for now, also a driver.ErrBusy.
type Refusal struct {
	Reason string
	ByPeer bool // the reason is what the peer said
	kind   byte // of the frame that tells the reason
	cause  error
}

func (r *Refusal) Error() string {
	switch {
	case r.kind == kindRefusal && r.ByPeer:
		return fmt.Sprintf("%v by the peer, which says: %s", driver.ErrRefused, r.Reason)
	case r.kind == kindRefusal:
		return fmt.Sprintf("%v the peer: %s", driver.ErrRefused, r.Reason)
	case r.ByPeer:
		return fmt.Sprintf("the peer %v and says: %s", driver.ErrLack, r.Reason)
	}
	return fmt.Sprintf("this process %v: %s", driver.ErrLack, r.Reason)
}

func (r *Refusal) Unwrap() []error {
	switch {
	case r.kind == kindRefusal:
		return []error{driver.ErrRefused}
	case r.kind == kindBusy && r.ByPeer:
		return []error{driver.ErrLack, driver.ErrBusy}
	case r.ByPeer:
		return []error{driver.ErrLack}
	}
	return []error{driver.ErrLack, r.cause}
}

// Refused returns the error by which this process turns the peer away. Refuse sends it.
func Refused(format string, args ...any) error {
	return &Refusal{Reason: fmt.Sprintf(format, args...), kind: kindRefusal}
}

// Lacking returns the error of this process when err keeps it from making its side of a link. Refuse sends it.
func Lacking(err error) error {
	r := &Refusal{kind: kindLack, cause: kernel.Explain(err)}
	r.Reason = r.cause.Error()
	for _, short := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS} {
		if errors.Is(err, short) {
			r.kind = kindBusy
		}
	}
	return r
}

// Refuse tells the peer err if it is of Refused or Lacking, and returns err. The caller closes conn.
func Refuse(conn net.Conn, err error) error {
	if r, ok := errors.AsType[*Refusal](err); ok && !r.ByPeer {
		_ = WriteFrame(conn, r.kind, []byte(r.Reason[:min(len(r.Reason), MaxFrame)])) // the peer may be gone; err counts
	}
	return err
}

// printable makes text of a stranger safe to print: ASCII only, and not too long.
func printable(b []byte) string {
	out := append([]byte(nil), b[:min(len(b), 300)]...)
	for i, c := range out {
		if c < ' ' || c > '~' {
			out[i] = '?'
		}
	}
	return string(out)
}
