package am

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// What can go wrong, for errors.Is. A peer that has died, or has left, is a *nmad.PeerError.
var (
	// ErrHandler: the target has no handler of that id.
	ErrHandler = errors.New("no such handler")
	// ErrReply: a reply that is not allowed: a second one, one after the handler has returned, one to a reply, or one
	// to a request that awaits none.
	ErrReply = errors.New("no reply is due")
	// ErrNoReply: the handler has returned without the reply that the requester awaits.
	ErrNoReply = errors.New("the handler has not replied")
	// ErrInHandler: a handler has called what would have to wait. It is that of package pioman.
	ErrInHandler = pioman.ErrInHandler
	// ErrConfig: an argument cannot work; the text says what would. It is that of package nmad.
	ErrConfig = nmad.ErrConfig
	// ErrActive: the reply, or the message, is still under way. It is that of package nmad.
	ErrActive = nmad.ErrActive
	// ErrMessage: a peer has sent a malformed message. Its later messages are dropped.
	ErrMessage = errors.New("malformed active message")
	// ErrClosed: the world, or the domain, was closed here.
	ErrClosed = nmad.ErrClosed

	// ErrUnknown: the target serves no function of that name.
	ErrUnknown = errors.New("no such function")
	// ErrPanicked: the function has panicked, or has ended its thread.
	ErrPanicked = errors.New("the function panicked")
	// ErrBusy: the target runs as many functions as it may (Config.Calls).
	ErrBusy = errors.New("too many calls at once")
)

// RemoteError has the text of an error that a served function has returned at the target.
type RemoteError struct {
	Rank int    // where the function ran
	Name string // of the function
	Text string // of the error there
}

// Error names the function and the rank.
func (e *RemoteError) Error() string {
	return fmt.Sprintf("am: call %q at rank %d: %s", e.Name, e.Rank, e.Text)
}
