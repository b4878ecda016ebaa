package nmad

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// takeFinished takes what the flow has for the gate: requests that have finished, receives for which the program must
// choose the buffer, news for monitors, and searches that are due. Waiters are woken later, by unlock: to wake a thread
// may be a scheduling point, and the holder must not be descheduled with the lock.
func (h *lockedGate) takeFinished() {
	for c := h.flow.Finished(); c != nil; c = h.flow.Finished() {
		switch c.Stage {
		case flow.Noticed:
			h.note(MessageArrived, Envelope{h.gate.rank, c.Entry.Tag, c.Size}, nil, nil)
		case flow.Choosing:
			h.gate.upcalls.push(upcall{request: requestOf(c)})
			h.upcallsAdded = true
		default:
			h.tellDone(requestOf(c))
		}
	}
	if h.flow.SearchDue() {
		h.gate.lookAgain()
	}
}

// tellDone makes sure that a waiter learns that a request is done, at once or in unlock. The caller must not access r
// afterwards.
func (h *lockedGate) tellDone(r *Request) {
	c, extras := &r.core, r.extras()
	h.traceEnd(r)
	if h.gate.monitors.kinds.Load() != 0 {
		h.noteEnd(r)
	}
	if x := extras.buffer; x != nil {
		extras.buffer, extras.LoanPlace = nil, nil
		x.sendDone()
	}
	if extras.Anywhere {
		h.gate.pollEngine.RemovePending() // of startAny
	}
	switch {
	case c.Notify == flow.NotifyNone:
	case extras.onDone != nil:
		h.gate.upcalls.push(upcall{request: r})
		h.upcallsAdded = true
	case c.Notify == flow.NotifyGate || extras.queue != nil:
		if c.WakesThread {
			h.wokenThreads++
		}
		h.toSignal.push(r)
	default:
		asm.StoreRelease32(&c.State, flow.StateDone)
	}
}

// publish queues the waiters to wake and the callbacks to call, and tells the engine whether the gate has anything
// pending: as long as it has, the engine's hooks poll.
func (h *lockedGate) publish() {
	h.takeFinished()
	requests, holding := h.flow.Pending()
	h.count(&h.countedRequests, requests != 0)
	h.count(&h.countedUnsent, holding)
}

// count changes whether the engine counts this gate as pending, for one of two reasons.
func (h *lockedGate) count(counted *bool, pending bool) {
	switch {
	case *counted == pending:
		return
	case pending:
		h.gate.pollEngine.AddPending()
	default:
		h.gate.pollEngine.RemovePending()
	}
	*counted = pending
}

// observe sets the monitors of the gate.
func (h *lockedGate) observe(w *monitors) { h.gate.monitors, h.flow.Monitored = w, &w.kinds }

// note queues an event for the monitors, if there are any for its kind.
func (h *lockedGate) note(kind EventKind, e Envelope, r *Request, err error) {
	if h.gate.monitors.kinds.Load()&uint32(kind) != 0 {
		h.gate.upcalls.push(upcall{event: Event{Kind: kind, Gate: h.gate, Envelope: e, Request: r, Err: err}})
		h.upcallsAdded = true
	}
}

// noteEnd queues the event that r is finished.
func (h *lockedGate) noteEnd(r *Request) {
	kind, request := RecvDone, r
	if r.core.Kind == flow.RequestSend {
		kind = SendDone
	}
	if r.core.Notify == flow.NotifyNone {
		request = nil // a blocking call's, which the program does not know
	}
	if r.core.Context != flow.Library && !r.extras().Wild.Probe {
		h.note(kind, r.Envelope(), request, r.core.Err())
	}
}

// traceEnd records a request that is finished, if a trace was being recorded when it began.
func (h *lockedGate) traceEnd(r *Request) {
	g, extras := h.gate, r.extrasOrNil()
	if extras == nil || extras.began == 0 {
		return
	}
	kind, size := marcel.TraceRecv, r.core.N
	if r.core.Kind == flow.RequestSend {
		kind, size = marcel.TraceSend, r.core.Data.Size
	}
	marcel.TraceMessage(kind, g.ownRank, g.rank, 0, r.core.Entry.Tag, uint64(size), extras.began)
	extras.began = 0
}
