package pingpong

import (
	"fmt"

	"github.com/pm2-go/pm2/pioman"
)

// What Options.Engine can be: what exchanges messages, and what polls besides.
const (
	Hooks    = "hooks"    // marcel threads; the hooks of their scheduler poll
	Explicit = "explicit" // marcel threads; no other thread polls
	Threads  = "threads"  // plain goroutines; poller threads poll
	None     = "none"     // plain goroutines; no other thread polls
)

// enable starts the default progress engine in the flavour that was asked for.
func (o *Options) enable(where *place, rank int) (stop func(), err error) {
	switch o.Engine {
	case Hooks, Threads:
		stop, err = pioman.Enable()
	default:
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("start the progress engine: %w", err)
	}
	return stop, nil
}
