package rma

import (
	"errors"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// numRequestPosts is how many receives of requests are posted, for all other processes together. More requests wait
// in nmad, as unexpected messages do.
const numRequestPosts = 16

// requestPost is one receive of a request from any process. It is posted again after each request, until the World
// is closed.
type requestPost struct {
	w         *World
	request   nmad.Request
	op        nmad.Operation
	idle      atomic.Bool // it is not posted any more; its callback sets it, end reads it
	lookAgain atomic.Bool // end is to look again; the callback sets it, end clears it
	posting   posting
	buf       [headBytes + inlineBytes]byte
}

// context is a match for any message of a context.
func (w *World) context(number int) nmad.Match {
	return nmad.Match{Context: w.contexts[number-FirstContext]}
}

// tagged is a match for the messages of one tag in a context.
func (w *World) tagged(number int, tag uint64) nmad.Match {
	m := nmad.Tag(tag)
	m.Context = w.contexts[number-FirstContext]
	return m
}

// serve posts the receives of requests. From then on the engine answers them.
func (w *World) serve() error {
	w.requestPosts = make([]requestPost, numRequestPosts)
	var err error
	for i := range w.requestPosts {
		s := &w.requestPosts[i]
		s.w = w
		s.op = nmad.Operation{Kind: nmad.KindRecv, Match: w.context(contextRequests), Buf: s.buf[:], Done: s.came}
		if err == nil {
			err = s.post()
		}
		if err != nil {
			s.idle.Store(true)
		}
	}
	return err
}

// post posts the receive.
func (p *requestPost) post() error {
	number := p.posting.begin()
	err := p.w.s.Post(nmad.AnySource, &p.request, &p.op)
	p.posting.posted(number)
	return err
}

// came is called when the receive has ended. nmad calls it for one request of a process at a time; requests of several
// processes are handled at once. It must not wait.
func (p *requestPost) came(*nmad.Request) {
	if p.posting.ended() {
		p.goOn()
	}
}

// goOn handles a request, and posts the receive for the next one.
func (p *requestPost) goOn() {
	r := &p.request
	_, err := r.Test()
	if err == nil {
		p.w.handle(r.Source(), p.buf[:r.Len()])
	}
	// A message that is too long is no request. On other errors the receive was canceled, or no other process is left.
	if err != nil && !errors.Is(err, nmad.ErrTruncated) || p.w.closed.Load() || p.post() != nil {
		p.idle.Store(true)
	}
	if p.w.closed.Load() { // end may have looked while the receive was neither posted nor idle
		p.lookAgain.Store(true)
		p.w.closers.ring()
	}
}

// end cancels the receives of requests, and waits until all have ended. closed is set before.
func (w *World) end() error {
	for i := range w.requestPosts {
		s := &w.requestPosts[i]
		met := func() bool { return s.idle.Load() || s.lookAgain.Swap(false) }
		for !s.idle.Load() {
			if s.posting.cancel(&s.request, func() bool { return true }) {
				s.goOn()
			}
			if err := w.await(&w.closers, met); err != nil {
				return err
			}
		}
	}
	return nil
}

// handle carries out a request of a process. It ignores messages that are no request, and requests beyond those that a
// process may have under way.
func (w *World) handle(rank int, b []byte) {
	var q wireRequest
	body, ok := q.decode(w.rank, b)
	if !ok || rank < 0 || rank >= w.size {
		return
	}
	if q.ask == askWake {
		w.signaled.ring()
		return
	}
	if q.ask == askBreak {
		w.hearBreak(rank, &q)
		return
	}
	if q.ask == askReturned {
		w.peers[rank].ways.returned.Store(true)
		w.starters.ring()
		return
	}
	a := w.peers[rank].desk.take(w, rank)
	if a == nil {
		return
	}
	w.raceOrder.pass()
	a.number, a.reply = q.number, wireReply{}
	if q.ask == askReturn {
		if w.peers[rank].ways.giveUp(q.at, a) {
			a.send()
		}
		return
	}
	if a.reply.status = a.borrow(&q); a.reply.status != statusDone {
		a.giveBack() // at once: the data of a long put that is refused may never come
	}
	if a.reply.status == statusDone && (q.ask == askPut || q.ask == askLong || q.ask == askGet || q.ask == askLearn) {
		w.teachKey(rank, q.at.index, a.memory, &a.reply)
	}
	if q.ask == askLong {
		a.receive(&q)
		return
	}
	if a.reply.status == statusDone {
		a.do(&q, body)
	}
	a.send()
}

// borrow borrows the memory that a request is for, and that of its signal. The status says why it has not.
func (a *pendingAnswer) borrow(q *wireRequest) uint8 {
	rg, status := a.w.borrow(q.at, q.bytes)
	if rg != nil {
		a.reply.size = rg.size
	}
	if status != statusDone {
		return status
	}
	a.memory = rg
	if (q.ask == askAtomic || q.ask == askCombine) && !rg.aligned(q.at.offset, q.kind.bytes()) {
		return statusAlign
	}
	if q.signals {
		s, status := a.w.borrow(q.signalAt, 8)
		if status != statusDone {
			return status
		}
		if a.signalMemory = s; !s.aligned(q.signalAt.offset, 8) {
			return statusAlign
		}
	}
	return statusDone
}

// borrow begins a use of memory of this process, which giveBack ends. With a status other than statusDone no use has
// begun, and the region, if it is not nil, only tells its size.
func (w *World) borrow(at Ref, n uint64) (*region, uint8) {
	rg := w.peers[w.rank].find(at.index)
	if rg == nil || rg.key != at.key {
		if w.closed.Load() {
			return nil, statusClosed
		}
		return nil, statusKey
	}
	if !rg.reaches(at.offset, n) {
		return rg, statusRange
	}
	rg.uses.Add(1) // before the look at closed: the owner sets closed before it looks at uses
	if rg.closed.Load() {
		w.giveBack(rg)
		return nil, statusKey
	}
	return rg, statusDone
}

// giveBack ends a use of memory of this process. The last one wakes the thread that closes the memory.
func (w *World) giveBack(rg *region) {
	if rg.uses.Add(-1) == 0 && rg.closed.Load() {
		w.closers.ring()
	}
}
