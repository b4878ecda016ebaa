package pingpong

import (
	"fmt"

	"github.com/pm2-go/pm2/pioman"
)

// What Options.Engine can be: what exchanges messages, and what polls besides.
const (
	Hooks    = "hooks"    // marcel threads; the hooks of their scheduler poll
	Explicit = "explicit" // marcel threads; no other thread polls
	Threads  = "threads"  // plain goroutines; the engine polls, too
	None     = "none"     // plain goroutines; no other thread polls
)

// enable starts the default progress engine if it was asked for, and what computes beside.
func (o *Options) enable() (stop func(), err error) {
	stop = func() {}
	if o.Engine == Hooks || o.Engine == Threads {
		if stop, err = pioman.Enable(); err != nil {
			return nil, fmt.Errorf("start the progress engine: %w", err)
		}
	}
	if o.varies(Busy) {
		idle, off := compute(), stop
		stop = func() { idle(); off() }
	}
	return stop, nil
}
