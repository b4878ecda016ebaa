package rma

import (
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// mostUnderway is how many operations of a process may be under way at another one by messages.
const mostUnderway = 64

// desk is what a process answers another one with: as many answers as the other one may have requests under way, made
// when they are first needed. So the other process cannot make this one use more memory.
type desk struct {
	taken   atomic.Uint64 // bit i: answer i is in use; the handler of the gate's requests takes, any thread gives back
	answers [mostUnderway]atomic.Pointer[pendingAnswer]
}

// take returns an answer that is not in use; nil: the other process has more requests under way than it may. The
// requests of one process come one at a time.
func (dk *desk) take(w *World, rank int) *pendingAnswer {
	for {
		taken := dk.taken.Load()
		if taken == 1<<mostUnderway-1 {
			return nil
		}
		i := bits.TrailingZeros64(^taken)
		if !dk.taken.CompareAndSwap(taken, taken|1<<i) {
			continue
		}
		a := dk.answers[i].Load()
		if a == nil {
			a = &pendingAnswer{w: w, rank: rank, bit: 1 << i}
			a.sent = nmad.Op{Kind: nmad.OpSend, Done: a.over}
			a.data = nmad.Op{Kind: nmad.OpRecv, Done: a.arrived}
			dk.answers[i].Store(a)
		}
		return a
	}
}

// pendingAnswer is one request of another process in progress.
type pendingAnswer struct {
	w      *World
	rank   int
	bit    uint64
	number uint64
	reply  wireReply
	x, s   *region // the memory and the signal's, lent; nil: none
	sig    Ref
	op     SignalOp
	v      uint64
	n      uint64

	sending   nmad.Request
	sent      nmad.Op
	receiving nmad.Request
	data      nmad.Op
	posting   posting
	waits     atomic.Pointer[region] // where what comes goes: World.retire cancels it
	head      [replyBytes]byte
	parts     [2][]byte
	olds      []byte // what was in words; nil: none was asked for so far
}

// do does a request that was found right, all but a long put.
func (a *pendingAnswer) do(q *wireRequest, body []byte) {
	x := a.x
	switch q.ask {
	case askPut:
		copyIn(x, q.at.offset, body)
		a.sig, a.op, a.v = q.sig, SignalOp(q.op), q.v
		a.signal()
	case askGet:
		a.parts[1] = bytesAt(x.base, q.at.offset, q.n)
	case askAtomic:
		a.reply.old = x.apply(q.kind, q.op, q.at.offset, q.v, q.other)
	case askCombine:
		a.combine(q, body)
	case askLearn:
		a.w.teach(a.rank, q.at.index, x, &a.reply)
	}
}

// signal changes the word of a put with signal, whose data is there.
func (a *pendingAnswer) signal() {
	if a.s == nil {
		return
	}
	if word := a.s.word64(a.sig.offset); a.op == SignalSet {
		word.Store(a.v)
	} else {
		word.Add(a.v)
	}
	if a.w.peers[a.w.rank].page.sleeping().Load() != 0 {
		a.w.signalled.ring()
	}
}

// receive receives a long put straight to its place, or drops it if it was refused.
func (a *pendingAnswer) receive(q *wireRequest) {
	a.sig, a.op, a.v, a.n = q.sig, SignalOp(q.op), q.v, q.n
	a.data.Match, a.data.Buf = a.w.tagged(contextData, a.number), nil
	if a.reply.status == statusDone {
		a.data.Buf = bytesAt(a.x.base, q.at.offset, q.n)
		a.waits.Store(a.x)
	}
	a.listen()
}

// listen posts the receive of a long put. It meets retire, which closes the memory: either retire finds the receive
// posted, and cancels it, or listen finds that the memory is being closed, and has retire look again.
func (a *pendingAnswer) listen() {
	x, posting, number := a.x, &a.posting, a.posting.begin()
	if err := a.w.s.Gate(a.rank).Post(&a.receiving, &a.data); err != nil {
		a.release() // the gate has ended, and so has the other process
		return
	}
	if posting.posted(number); x != nil && x.closed.Load() { // a may be another request's by now
		x.again.Store(true)
		a.w.served.ring()
	}
}

// arrived is called when a long put is in.
func (a *pendingAnswer) arrived(*nmad.Request) {
	if a.posting.ended() {
		a.goOn()
	}
}

// goOn ends a long put, or drops what comes of one that was cancelled.
func (a *pendingAnswer) goOn() {
	r := &a.receiving
	a.waits.Store(nil)
	_, err := r.Test()
	switch {
	case errors.Is(err, nmad.ErrCanceled): // by retire; what comes is dropped
		a.refuse(statusKey)
		a.listen()
		return
	case err != nil && !errors.Is(err, nmad.ErrTruncated):
		a.release()
		return
	}
	switch {
	case a.reply.status != statusDone:
	case err != nil || r.Size() != a.n:
		a.refuse(statusRange)
	default:
		a.signal()
	}
	a.send()
}

// refuse makes the answer one that says no, and gives back what was lent.
func (a *pendingAnswer) refuse(status uint8) {
	a.giveBack()
	a.reply.status, a.data.Buf = status, nil
}

// giveBack ends the uses of memory.
func (a *pendingAnswer) giveBack() {
	x, s := a.x, a.s
	a.x, a.s, a.parts[1], a.data.Buf = nil, nil, nil, nil
	if x != nil {
		a.w.giveBack(x)
	}
	if s != nil {
		a.w.giveBack(s)
	}
}

// send sends the answer.
func (a *pendingAnswer) send() {
	a.w.answered.meet()
	if a.parts[1] == nil { // that of a get is lent until it has left
		a.giveBack()
	}
	a.reply.encode(&a.head)
	a.parts[0] = a.head[:]
	a.sent.Match, a.sent.Parts = a.w.tagged(contextReplies, a.number), a.parts[:1]
	if a.parts[1] != nil {
		a.sent.Parts = a.parts[:]
	}
	if err := a.w.s.Gate(a.rank).Post(&a.sending, &a.sent); err != nil {
		a.release()
	}
}

// over is called when the answer has left.
func (a *pendingAnswer) over(*nmad.Request) { a.release() }

// release makes the answer free for another request.
func (a *pendingAnswer) release() {
	a.giveBack()
	a.w.peers[a.rank].desk.taken.And(^a.bit)
}

// teach tells a process how it reaches memory of this one.
func (w *World) teach(rank int, index uint32, x *region, r *wireReply) {
	if w.peers[rank].page == nil || index&1 == 0 || w.peers[w.rank].page.live(index) == nil {
		return
	}
	switch {
	case x.card.PID != 0:
		r.way, r.card = wayMapped, x.card
	case x.at != 0 && w.peers[rank].custody():
		r.way, r.at, r.page = wayKernel, x.at, w.peers[w.rank].page.address()
	}
}

// retire ends what others have under way in memory of this process that is closed. It cancels what has not begun, and
// waits for copies under way until they end, or their process does. The error says that it could have neither.
// Several threads may end the same memory; all wait until it is ended.
func (w *World) retire(index uint32, x *region) error {
	x.ending.Lock()
	defer x.ending.Unlock()
	if x.retired || x.unsafe != nil && w.vacated.Load() { // without the pages it cannot be found out any more
		return x.unsafe
	}
	w.signalled.ring() // none waits for a word of it any more
	if live := w.peers[w.rank].page.live(index); live != nil && index&1 == 1 {
		live.Store(0) // and now the hazards
		if x.unsafe = w.awaitHazards(index); x.unsafe != nil {
			return x.unsafe
		}
	}
	met := func() bool { return x.uses.Load() == 0 || x.again.Swap(false) }
	for x.uses.Load() != 0 {
		for rank := range w.peers {
			w.peers[rank].desk.cancel(x)
		}
		if x.uses.Load() != 0 && w.await(&w.served, met) != nil {
			break // the engine is closed: nothing moves any more
		}
	}
	x.pinner.Unpin()
	_ = x.mem.Vacate() // else it stays mapped
	x.retired = true
	return nil
}

// cancel takes the receives back that are to go into a memory.
func (dk *desk) cancel(x *region) {
	for i := range dk.answers {
		if a := dk.answers[i].Load(); a != nil && a.posting.cancel(&a.receiving, func() bool { return a.waits.Load() == x }) {
			a.goOn()
		}
	}
}
