package nmad

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// What can go wrong, for errors.Is.
var (
	// ErrTruncated: the message is longer than the buffer. The buffer holds its
	// beginning, Len says how much; other messages are not touched.
	ErrTruncated = flow.ErrTruncated
	// ErrPeerLost: the other process died, left, or its link broke. errors.As
	// with a *PeerError tells which one.
	ErrPeerLost = driver.ErrPeerLost
	// ErrProtocol: the other process sent what it must not. Its gate is unusable.
	ErrProtocol = driver.ErrProtocol
	// ErrClosed: this session was closed.
	ErrClosed = errors.New("session closed")
	// ErrRevoked: the context was revoked, here or by another process of its group.
	ErrRevoked = errors.New("context revoked")
	// ErrActive: the request is still under way and cannot be started again.
	ErrActive = errors.New("request still under way")
	// ErrIdle: the request was never started.
	ErrIdle = errors.New("request never started")
	// ErrCanceled: the receive was cancelled. Its buffer is not touched any more.
	ErrCanceled = errors.New("receive cancelled")
	// ErrExcluded: the other processes have agreed that this one is lost, and go on without it.
	ErrExcluded = errors.New("excluded by the other processes")
	// ErrBuffer: no memory is attached for buffered sends, or what is has no room.
	ErrBuffer = errors.New("no room in the attached buffer")
	// ErrOwner: a Private domain was used by another thread than the one that opened it.
	ErrOwner = errors.New("domain of another thread")
	// ErrRank: no such rank in this job.
	ErrRank = errors.New("no such rank")
	// ErrJoined: this process has, or had, a session of the job that its environment tells of.
	ErrJoined = errors.New("the job was joined already")
	// ErrConfig: the configuration cannot work; the text says what would.
	ErrConfig = flow.ErrConfig
)

// PeerError is why the requests of one gate fail. It wraps ErrPeerLost or
// ErrProtocol.
type PeerError struct {
	Rank   int    // the peer
	Host   string // the name of its host; empty: it is not known
	Reason string // what was seen, for people
	Err    error  // ErrPeerLost or ErrProtocol
}

// Error names the rank first.
func (e *PeerError) Error() string {
	text := fmt.Sprintf("nmad: rank %d: %v: %s", e.Rank, e.Err, e.Reason)
	if e.Host != "" {
		text += " (host " + e.Host + ")"
	}
	return text
}

// Unwrap makes errors.Is find the sentinel.
func (e *PeerError) Unwrap() error { return e.Err }

// operationError says during what an error came that may name the package already.
type operationError struct {
	operation string
	err       error
}

func during(operation string, err error) error { return &operationError{operation, err} }

// Error names the package once.
func (e *operationError) Error() string {
	return "nmad: " + e.operation + ": " + strings.TrimPrefix(e.err.Error(), "nmad: ")
}

// Unwrap makes errors.Is find the reason.
func (e *operationError) Unwrap() error { return e.err }

// violation builds the failure of a gate whose peer broke the protocol.
func violation(rank int, format string, args ...any) *PeerError {
	return &PeerError{Rank: rank, Reason: fmt.Sprintf(format, args...), Err: ErrProtocol}
}

// failure builds the failure of a gate whose rail gave err.
func (l *rail) failure(err error) *PeerError {
	if len(l.gate.rails) > 1 {
		err = fmt.Errorf("rail %s: %w", l.name, err)
	}
	return peerFailure(l.gate.rank, err)
}

// peerFailure builds the failure of the gate to a rank because of err.
func peerFailure(rank int, err error) *PeerError {
	if errors.Is(err, driver.ErrProtocol) {
		return violation(rank, "%v", err)
	}
	return &PeerError{Rank: rank, Reason: err.Error(), Err: ErrPeerLost}
}

// Exported functions accept nil and zero values. A nil gate leads nowhere, a nil session
// is closed, a zero request was never started, a nil context never ends. Such a call locks and
// starts nothing, so it leaves nothing behind.

// valid says that Open has made this session.
func (s *Session) valid() bool { return s != nil && s.job.valid() }

// loopbackHost is the address of a process that has not been told another one.
const loopbackHost = "127.0.0.1"

var (
	errNoGate    = fmt.Errorf("nmad: %w: a gate that no session has made", ErrRank)
	errNoSession = fmt.Errorf("nmad: %w: it was never opened", ErrClosed)
	errNoRequest = fmt.Errorf("nmad: %w: no request to start", ErrConfig)
	errNoOp      = fmt.Errorf("nmad: %w: no operation to start", ErrConfig)
)

// failed makes a request that has ended with err without having been started.
func failed(err error) *Request {
	r := &Request{}
	r.core.SetErr(err)
	r.core.Stage = flow.Done
	r.core.State.Store(flow.Ended)
	return r
}

// checkStart says what is missing to start a request where barred is what keeps the caller from the gate; nil: nothing is.
func checkStart(barred error, r *Request, op bool) error {
	switch {
	case barred != nil:
		return barred
	case r == nil:
		return errNoRequest
	case !op:
		return errNoOp
	}
	return nil
}

// orBackground is ctx, or one that never ends.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
