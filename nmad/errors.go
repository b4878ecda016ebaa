package nmad

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Errors of this package, for errors.Is.
var (
	// ErrTruncated: the message is longer than the buffer, which holds its beginning, Request.Len bytes. Other messages
	// are not affected.
	ErrTruncated = flow.ErrTruncated
	// ErrPeerLost: the other process has died or left, or the link to it has broken. errors.As with a *PeerError tells
	// which process.
	ErrPeerLost = driver.ErrPeerLost
	// ErrProtocol: the other process has sent something that it must not send. Its gate has ended.
	ErrProtocol = driver.ErrProtocol
	// ErrClosed: this session was closed.
	ErrClosed = errors.New("session closed")
	// ErrRevoked: the context was revoked, here or by another process of its group.
	ErrRevoked = errors.New("context revoked")
	// ErrActive: the request is still under way and cannot be started again.
	ErrActive = errors.New("request still under way")
	// ErrNotStarted: the request was never started.
	ErrNotStarted = errors.New("request never started")
	// ErrCanceled: the receive was canceled. Its buffer is not touched any more.
	ErrCanceled = errors.New("receive canceled")
	// ErrExcluded: the other processes have agreed that this one is lost, and go on without it.
	ErrExcluded = errors.New("excluded by the other processes")
	// ErrBuffer: no memory is attached for buffered sends, or it has no room for the message.
	ErrBuffer = errors.New("no room in the attached buffer")
	// ErrOwner: a Private domain was used by another thread than the one that opened it.
	ErrOwner = errors.New("domain of another thread")
	// ErrRank: no such rank in this job.
	ErrRank = errors.New("no such rank")
	// ErrJoined: this process has, or had, a session of the job that its environment tells of.
	ErrJoined = errors.New("the job was joined already")
	// ErrConfig: the configuration, or an argument, cannot work; the text says what would.
	ErrConfig = flow.ErrConfig
)

// PeerError says why a gate has ended: its requests fail with it. It wraps ErrPeerLost or ErrProtocol.
type PeerError struct {
	Rank   int    // rank of the peer
	Host   string // name of the peer's host; "" if it is not known
	Reason string // what this process has seen, for people
	Err    error  // ErrPeerLost or ErrProtocol
}

// Error returns a text that names the rank first.
func (e *PeerError) Error() string {
	text := fmt.Sprintf("nmad: rank %d: %v: %s", e.Rank, e.Err, e.Reason)
	if e.Host != "" {
		text += " (host " + e.Host + ")"
	}
	return text
}

// Unwrap returns Err.
func (e *PeerError) Unwrap() error { return e.Err }

// operationError is an error that has happened during an operation. Its text names the package once, although that of
// err may name it, too.
type operationError struct {
	operation string
	err       error
}

// during returns an error that has happened during an operation, which the text names.
func during(operation string, err error) error { return &operationError{operation, err} }

// Error returns the text.
func (e *operationError) Error() string {
	return "nmad: " + e.operation + ": " + strings.TrimPrefix(e.err.Error(), "nmad: ")
}

// Unwrap returns the error that has happened.
func (e *operationError) Unwrap() error { return e.err }

// violation makes the error of a gate whose peer has broken the protocol, as the text says.
func violation(rank int, format string, args ...any) *PeerError {
	return &PeerError{Rank: rank, Reason: fmt.Sprintf(format, args...), Err: ErrProtocol}
}

// failure makes the error of a gate one of whose rails has failed with err.
func (l *rail) failure(err error) *PeerError {
	if len(l.gate.rails) > 1 {
		err = fmt.Errorf("rail %s: %w", l.name, err)
	}
	return peerFailure(l.gate.rank, err)
}

// peerFailure makes the error of the gate to a rank that ends because of err.
func peerFailure(rank int, err error) *PeerError {
	if errors.Is(err, driver.ErrProtocol) {
		return violation(rank, "%v", err)
	}
	return &PeerError{Rank: rank, Reason: err.Error(), Err: ErrPeerLost}
}

// Exported functions accept nil and zero values. A nil gate leads nowhere, a nil session is closed, a zero request was
// never started, a nil context.Context never ends. Such a call takes no lock and starts nothing.

// valid reports whether Open has made this session.
func (s *Session) valid() bool { return s != nil && s.job.valid() }

// loopbackHost is the address of this host for a process that was given no other one.
const loopbackHost = "127.0.0.1"

var (
	errNoGate      = fmt.Errorf("nmad: %w: a gate that no session has made", ErrRank)
	errNoSession   = fmt.Errorf("nmad: %w: it was never opened", ErrClosed)
	errNoRequest   = fmt.Errorf("nmad: %w: no request to start", ErrConfig)
	errNoOperation = fmt.Errorf("nmad: %w: no operation to start", ErrConfig)
)

// failed returns a request that has ended with err without having been started.
func failed(err error) *Request {
	r := &Request{}
	r.core.SetErr(err)
	r.core.Stage = flow.Finished
	r.core.State.Store(flow.StateDone)
	return r
}

// checkStart returns the error that keeps the caller from starting a request: access, the accessError of the gate or
// domain; or that r is nil; or that there is no Operation (op is false).
func checkStart(access error, r *Request, op bool) error {
	switch {
	case access != nil:
		return access
	case r == nil:
		return errNoRequest
	case !op:
		return errNoOperation
	}
	return nil
}

// orBackground returns ctx, or, if it is nil, a context that never ends.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
