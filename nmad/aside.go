package nmad

import (
	"context"
	"sync"
)

// asides are goroutines beside a session, which end before it closes.
type asides struct {
	ctx    context.Context // nil: there was none
	cancel context.CancelFunc
	all    sync.WaitGroup
}

// Go starts one, before the session is given to the program.
func (as *asides) Go(f func(context.Context)) {
	if as.ctx == nil {
		as.ctx, as.cancel = context.WithCancel(context.Background())
	}
	as.all.Go(func() { f(as.ctx) })
}

func (as *asides) stop() {
	if as.ctx != nil {
		as.cancel()
		as.all.Wait()
	}
}
