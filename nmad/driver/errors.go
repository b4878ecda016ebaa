package driver

import "errors"

// What can go wrong on any network, for errors.Is. Drivers wrap these with what was being done and to which peer.
var (
	// ErrPeerLost: the process at the other end has ended, was killed, or closed the link.
	ErrPeerLost = errors.New("peer lost")
	// ErrClosed: this side closed the link or endpoint.
	ErrClosed = errors.New("already closed here")
	// ErrProtocol: the peer sent, or wrote into shared memory, what it must not. The link is unusable.
	ErrProtocol = errors.New("protocol violation")
	// ErrRefused: one of two processes turned the other away: another job, secret, version, driver or rank.
	ErrRefused = errors.New("refused")
	// ErrLack: this process, or the peer, cannot get what a link of this network needs: a sandbox refuses a system
	// call, or memory or descriptors are short. Neither side has turned the other away, and another network may work.
	ErrLack = errors.New("cannot make its side of the link")
	// ErrBusy: the peer did not answer in time, or has given a new connection up because it has too many others; another
	// attempt may succeed.
	ErrBusy = errors.New("peer busy")
	// ErrBody: the body given to Send is longer than MaxBody, or its header says another length.
	ErrBody = errors.New("wrong body length")
	// ErrConfig: a Config that no driver can work with.
	ErrConfig = errors.New("wrong configuration")
	// ErrUnknown: this program has no driver of that name.
	ErrUnknown = errors.New("unknown driver")
	// ErrUnsupported: this system does not have what is asked for.
	ErrUnsupported = errors.New("not supported on this system")
)
