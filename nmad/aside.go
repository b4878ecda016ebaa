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
func (a *asides) Go(f func(context.Context)) {
	if a.ctx == nil {
		a.ctx, a.cancel = context.WithCancel(context.Background())
	}
	a.all.Go(func() { f(a.ctx) })
}

func (a *asides) stop() {
	if a.ctx != nil {
		a.cancel()
		a.all.Wait()
	}
}
