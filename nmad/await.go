package nmad

import (
	"context"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// How a program, or a library over this package, waits for what is no request: a completion that callbacks of requests
// signal, memory that another process writes. It polls, or waits in, the engine that Domain.Engine names at that moment,
// so that all that the caller has to move is moved: the domain, and the caller's private domains. These methods may be
// called on a nil Domain, for what belongs to none.

// Engine returns the engine in which the calling thread or goroutine waits or polls, this once, for what messages of the
// domain lead to.
func (d *Domain) Engine() *pioman.Engine {
	if !d.made() {
		return waitsIn(pioman.Default())
	}
	if x := &d.access; x.own != nil && x.owner == asm.GoID() {
		x.own.withSession(d.s)
		return x.engine
	}
	return waitsIn(d.waited())
}

// waited is the engine that waiters poll.
func (d *Domain) waited() *pioman.Engine {
	if d.access.worker != nil {
		return d.s.cfg.Engine
	}
	return d.engine()
}

// Await waits until any of bits of c is set, as pioman.Completion.WaitFor does, or ctx is done: then it returns its cause.
// why is what nmad.WriteWaits says that the caller waits for.
func (d *Domain) Await(ctx context.Context, c *pioman.Completion, bits uint32, why pioman.Reason) error {
	if ctx.Done() != nil {
		if _, err := choose(ctx, completionCase{d, c, bits, why}); err != nil {
			return err
		}
	}
	for {
		e := d.Engine()
		err := c.WaitFor(e, bits, why)
		if c.Test(bits) || d.Engine() == e { // else e was closed with the last private domain of the caller
			return err
		}
	}
}

// Case returns a case of marcel.Select that can be taken once any of bits of c is set.
func (d *Domain) Case(c *pioman.Completion, bits uint32) marcel.Case {
	return completionCase{d: d, c: c, bits: bits}
}

type completionCase struct {
	d    *Domain
	c    *pioman.Completion
	bits uint32
	why  pioman.Reason
}

var _ marcel.Poller = completionCase{}

func (cc completionCase) it() pioman.CompletionCase    { return cc.c.Case(cc.d.Engine(), cc.bits) }
func (cc completionCase) Try() bool                    { return cc.it().Try() }
func (cc completionCase) Poll() bool                   { return cc.it().Poll() }
func (cc completionCase) Enlist(w *marcel.Waiter) bool { return cc.it().EnlistFor(w, cc.why) }
func (cc completionCase) Withdraw(w *marcel.Waiter)    { cc.it().Withdraw(w) }
func (cc completionCase) Taken(w *marcel.Waiter) bool  { return cc.it().Taken(w) }
