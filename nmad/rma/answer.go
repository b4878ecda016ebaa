package rma

import (
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// maxUnderway is how many operations of a process may be under way at another one by messages.
const maxUnderway = 64

// desk is the pool of answers for the requests of one other process: as many as that process may have under way, each
// made at its first use. So no process can make this one use more memory.
type desk struct {
	taken   atomic.Uint64 // bit i: answer i is in use; the callback of the gate's requests sets it, any thread clears it
	answers [maxUnderway]atomic.Pointer[pendingAnswer]
}

// take returns an answer that is not in use; nil: the other process has more requests under way than it may. The
// callback of the gate calls it, for one request at a time.
func (dk *desk) take(w *World, rank int) *pendingAnswer {
	for {
		taken := dk.taken.Load()
		if taken == 1<<maxUnderway-1 {
			return nil
		}
		i := bits.TrailingZeros64(^taken)
		if !dk.taken.CompareAndSwap(taken, taken|1<<i) {
			continue
		}
		a := dk.answers[i].Load()
		if a == nil {
			a = &pendingAnswer{w: w, rank: rank, bit: 1 << i}
			a.sendOp = nmad.Operation{Kind: nmad.KindSend, Done: a.sendDone}
			a.dataOp = nmad.Operation{Kind: nmad.KindRecv, Done: a.arrived}
			dk.answers[i].Store(a)
		}
		return a
	}
}

// pendingAnswer is one request of another process, from its arrival until the answer has left.
//
//	handle: borrows the memory ---> do ---> send ---> over: release
//	        '--- a long put: receive ---> goOn ---> send
//
// One callback at a time works on it, but for the atomic fields.
type pendingAnswer struct {
	w                    *World
	rank                 int    // of the process that asks
	bit                  uint64 // its bit in desk.taken
	number               uint64 // of the request: the tag of the answer
	reply                wireReply
	memory, signalMemory *region  // borrowed: the memory, and that of the signal; nil: none
	signalAt             Ref      // of a put with a signal: the word
	op                   SignalOp // and how it changes
	operand              uint64   // the operand of op
	announced            uint64   // of a long put: how many bytes were announced

	sending      nmad.Request // of the answer
	sendOp       nmad.Operation
	receiving    nmad.Request // of the bytes of a long put
	dataOp       nmad.Operation
	posting      posting                // of receiving
	receivesInto atomic.Pointer[region] // the memory that receiving goes to, nil: none; World.retire reads it, and cancels the receive
	head         [replyBytes]byte
	parts        [2][]byte // of the answer: head, and the bytes of a get
	previous     []byte    // the previous values of words (askCombine); made at the first request for them
}

// do carries out a request whose memory was borrowed; a long put is receive's.
func (a *pendingAnswer) do(q *wireRequest, body []byte) {
	rg := a.memory
	switch q.ask {
	case askPut:
		copyIn(rg, q.at.offset, body)
		a.signalAt, a.op, a.operand = q.signalAt, SignalOp(q.op), q.operand
		a.signal()
	case askGet:
		a.parts[1] = bytesAt(rg.base, q.at.offset, q.bytes)
	case askAtomic:
		a.reply.old = rg.apply(q.kind, q.op, q.at.offset, q.operand, q.compared)
	case askCombine:
		a.combine(q, body)
	case askLearn:
		a.w.teach(a.rank, q.at.index, rg, &a.reply)
	}
}

// signal changes the word of a put with signal, whose data is there.
func (a *pendingAnswer) signal() {
	if a.signalMemory == nil {
		return
	}
	if word := a.signalMemory.word64(a.signalAt.offset); a.op == SignalSet {
		word.Store(a.operand)
	} else {
		word.Add(a.operand)
	}
	if a.w.peers[a.w.rank].page.sleeping().Load() != 0 {
		a.w.signaled.ring()
	}
}

// receive receives the bytes of a long put straight into the memory, or drops them if the put was refused.
func (a *pendingAnswer) receive(q *wireRequest) {
	a.signalAt, a.op, a.operand, a.announced = q.signalAt, SignalOp(q.op), q.operand, q.bytes
	a.dataOp.Match, a.dataOp.Buf = a.w.tagged(contextData, a.number), nil
	if a.reply.status == statusDone {
		a.dataOp.Buf = bytesAt(a.memory.base, q.at.offset, q.bytes)
		a.receivesInto.Store(a.memory)
	}
	a.listen()
}

// listen posts the receive of a long put. World.retire may close the memory at the same time: either retire finds the
// receive posted, and cancels it, or listen finds that the memory is being closed, and makes retire look again.
func (a *pendingAnswer) listen() {
	rg, posting, number := a.memory, &a.posting, a.posting.begin()
	if err := a.w.s.Gate(a.rank).Post(&a.receiving, &a.dataOp); err != nil {
		a.release() // the gate has ended, and so has the other process
		return
	}
	if posting.posted(number); rg != nil && rg.closed.Load() { // a may be another request's by now
		rg.lookAgain.Store(true)
		a.w.closers.ring()
	}
}

// arrived is called when the receive of a long put has ended.
func (a *pendingAnswer) arrived(*nmad.Request) {
	if a.posting.ended() {
		a.goOn()
	}
}

// goOn answers a long put whose bytes have come. If retire has canceled the receive, goOn posts another one, which
// drops the bytes.
func (a *pendingAnswer) goOn() {
	r := &a.receiving
	a.receivesInto.Store(nil)
	_, err := r.Test()
	switch {
	case errors.Is(err, nmad.ErrCanceled): // by retire
		a.refuse(statusKey)
		a.listen()
		return
	case err != nil && !errors.Is(err, nmad.ErrTruncated):
		a.release()
		return
	}
	switch {
	case a.reply.status != statusDone:
	case err != nil || r.Size() != a.announced:
		a.refuse(statusRange)
	default:
		a.signal()
	}
	a.send()
}

// refuse turns the answer into a refusal with that status, and gives the memory back.
func (a *pendingAnswer) refuse(status uint8) {
	a.giveBack()
	a.reply.status, a.dataOp.Buf = status, nil
}

// giveBack gives back the memory that was borrowed.
func (a *pendingAnswer) giveBack() {
	rg, s := a.memory, a.signalMemory
	a.memory, a.signalMemory, a.parts[1], a.dataOp.Buf = nil, nil, nil, nil
	if rg != nil {
		a.w.giveBack(rg)
	}
	if s != nil {
		a.w.giveBack(s)
	}
}

// send sends the answer.
func (a *pendingAnswer) send() {
	a.w.raceOrder.pass()
	if a.parts[1] == nil { // a get keeps its memory until the answer has left
		a.giveBack()
	}
	a.reply.encode(&a.head)
	a.parts[0] = a.head[:]
	a.sendOp.Match, a.sendOp.Parts = a.w.tagged(contextReplies, a.number), a.parts[:1]
	if a.parts[1] != nil {
		a.sendOp.Parts = a.parts[:]
	}
	if err := a.w.s.Gate(a.rank).Post(&a.sending, &a.sendOp); err != nil {
		a.release()
	}
}

// sendDone is called when the answer has left, or cannot.
func (a *pendingAnswer) sendDone(*nmad.Request) { a.release() }

// release makes the answer free for another request.
func (a *pendingAnswer) release() {
	a.giveBack()
	a.w.peers[a.rank].desk.taken.And(^a.bit)
}

// teach fills in the answer to askLearn: how the process of that rank reaches memory of this one.
func (w *World) teach(rank int, index uint32, rg *region, r *wireReply) {
	if w.peers[rank].page == nil || index&1 == 0 || w.peers[w.rank].page.live(index) == nil {
		return
	}
	switch {
	case rg.locator.PID != 0:
		r.way, r.locator = wayMapped, rg.locator
	case rg.address != 0 && w.peers[rank].custody():
		r.way, r.at, r.page = wayKernel, rg.address, w.peers[w.rank].page.address()
	}
}

// retire waits until no other process uses memory of this one, which its caller has closed. It cancels receives into
// the memory, and waits for copies of the kernel until they end, or the process that makes them has ended. The error
// names a process for which neither is possible. Several threads may retire the same memory; each returns once that
// is done.
func (w *World) retire(index uint32, rg *region) error {
	rg.retiring.Lock()
	defer rg.retiring.Unlock()
	if rg.retired || rg.retireErr != nil && w.vacated.Load() { // without the pages retire cannot look for copies again
		return rg.retireErr
	}
	w.signaled.ring() // waiters for words of it leave
	if live := w.peers[w.rank].page.live(index); live != nil && index&1 == 1 {
		live.Store(0) // before the look at the hazards: doc.go
		if rg.retireErr = w.awaitHazards(index); rg.retireErr != nil {
			return rg.retireErr
		}
	}
	met := func() bool { return rg.uses.Load() == 0 || rg.lookAgain.Swap(false) }
	for rg.uses.Load() != 0 {
		for rank := range w.peers {
			w.peers[rank].desk.cancel(rg)
		}
		if rg.uses.Load() != 0 && w.await(&w.closers, met) != nil {
			break // the engine is closed: nothing moves any more
		}
	}
	w.takeBack(index, rg)
	rg.pinner.Unpin()
	_ = rg.mem.Vacate() // on an error it stays mapped
	rg.retired = true
	return nil
}

// cancel cancels the receives into a memory.
func (dk *desk) cancel(rg *region) {
	for i := range dk.answers {
		if a := dk.answers[i].Load(); a != nil && a.posting.cancel(&a.receiving, func() bool { return a.receivesInto.Load() == rg }) {
			a.goOn()
		}
	}
}
