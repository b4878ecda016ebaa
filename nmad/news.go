package nmad

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/region"
)

// news is what a gate has to tell. It tells owners that their requests are done, monitors and callbacks what has happened, and the engine
// whether requests are pending. All is under the lock of the gate, except calls, and watch, which is set once.
type news struct {
	g       *Gate
	watch   *monitors    // of the session
	calls   upcalls      // that are owed
	called  bool         // something was added to calls since the lock was taken
	over    requestQueue // done, and to be told when the lock is let go
	holding bool         // the engine counts bytes in the driver's buffer, or messages that were gathered, as pending
	needing bool         // the engine counts the requests that the flow counts
}

// takeFinished takes what the flow has finished: requests that are done, receives whose owner must choose a buffer, news for monitors,
// and searches that are due. The owner of a request without a waiter may start it again at once. A waiter is woken when the lock is let
// go: to wake a thread may be a scheduling point, and no holder must be descheduled with the lock. Under mu.
func (x *news) takeFinished() {
	g := x.g
	for c := g.flow.Finished(); c != nil; c = g.flow.Finished() {
		switch c.Stage {
		case flow.Noticed:
			x.note(MessageArrived, Envelope{g.rank, c.Entry.Tag, c.Size}, nil, nil)
		case flow.Choosing:
			x.calls.push(upcall{r: requestOf(c)})
			x.called = true
		default:
			x.tellEnd(requestOf(c))
		}
	}
	if g.flow.SearchDue() {
		g.inbox.lookAgain()
	}
}

// tellEnd tells the owner of a request that it is done. r must not be touched afterwards. Under mu.
func (x *news) tellEnd(r *Request) {
	g := x.g
	c, rare := &r.core, r.rare()
	x.traceEnd(r)
	if x.watch.kinds.Load() != 0 {
		x.noteEnd(r)
	}
	if rare.Lends {
		rare.Lends = false
		g.memory.buffers.Load().sendDone(rare.Place / region.PageSize)
	}
	if rare.Anywhere {
		g.mover.Done() // it counted for itself
	}
	switch {
	case c.Heard == flow.ByStage:
	case rare.notify != nil:
		x.calls.push(upcall{r: r})
		x.called = true
	case c.Heard == flow.Told || rare.queue != nil:
		if c.Rouses {
			g.waits.awake++
		}
		x.over.push(r)
	default:
		asm.StoreRelease32(&c.State, flow.Over)
	}
}

// publish passes on what the flow has done. It queues the waiters to wake and the callbacks to call, and it tells the engine whether the
// gate has anything under way: as long as it has, the engine's hooks poll. Under mu.
func (x *news) publish() {
	g := x.g
	x.takeFinished()
	x.count(&x.needing, g.flow.Pending() != 0)
	x.count(&x.holding, g.flow.Holding())
}

func (x *news) count(is *bool, should bool) {
	g := x.g
	switch {
	case *is == should:
		return
	case should:
		g.mover.Need()
	default:
		g.mover.Done()
	}
	*is = should
}

// observe has the gate tell these monitors.
func (x *news) observe(w *monitors) { x.watch, x.g.flow.Watched = w, &w.kinds }

// note tells the monitors, if there are any for it, once the lock is let go. Under mu.
func (x *news) note(kind EventKind, e Envelope, r *Request, err error) {
	g := x.g
	if x.watch.kinds.Load()&uint32(kind) != 0 {
		x.calls.push(upcall{event: Event{Kind: kind, Gate: g, Envelope: e, Request: r, Err: err}})
		x.called = true
	}
}

// noteEnd tells the monitors that r has ended. Under mu.
func (x *news) noteEnd(r *Request) {
	kind, who := RecvDone, r
	if r.core.Op == flow.OpSend {
		kind = SendDone
	}
	if r.core.Heard == flow.ByStage {
		who = nil
	}
	if r.core.Context != flow.Library && !r.rare().Wild.Probe {
		x.note(kind, r.Envelope(), who, r.core.Err())
	}
}

// traceEnd records a request that is done, if its begin was.
func (x *news) traceEnd(r *Request) {
	g, rest := x.g, r.rest()
	if rest == nil || rest.began == 0 {
		return
	}
	kind, size := marcel.TraceRecv, r.core.N
	if r.core.Op == flow.OpSend {
		kind, size = marcel.TraceSend, r.core.Data.Size
	}
	marcel.TraceMessage(kind, g.own, g.rank, 0, r.core.Entry.Tag, uint64(size), rest.began)
	rest.began = 0
}
