package pingpong

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// What Options.Engine can be: what exchanges messages, and what polls besides.
const (
	Hooks    = "hooks"    // marcel threads; the hooks of their scheduler poll
	Explicit = "explicit" // marcel threads; no other thread polls
	Threads  = "threads"  // plain goroutines; poller threads poll
	None     = "none"     // plain goroutines; no other thread polls
)

// goroutines tells whether plain goroutines exchange the messages; then marcel's scheduler is
// not started.
func (o *Options) goroutines() bool { return o.Engine == Threads || o.Engine == None }

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

// run runs f as what exchanges messages runs, and waits for its end.
func (o *Options) run(f func()) {
	if o.goroutines() {
		f()
	} else {
		marcel.Run(f)
	}
}

// each runs play for each pair in a thread, or goroutine, of its own, waits for all, and
// returns the first error. For threads, or goroutines.
func (o *Options) each(play func(pair int) error) error {
	if !o.goroutines() {
		return inThreads(o.Threads, play)
	}
	errs := make([]error, o.Threads)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = play(i) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
