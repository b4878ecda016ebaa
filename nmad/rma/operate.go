package rma

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/pioman"
)

// messageOperation is an operation by messages: the send of a request, that of the data of a long put, and the receive
// of the answer. It has ended once all of these have, since the network may touch the caller's memory until then.
//
//	pool --- begin ---> prepared --- start ---> under way --- the last part ends: partDone ---> pool
//	                                                '--- waited: ended is signaled, the waiter gives it back ---> pool
//
// Its starter sets the fields; the callbacks of the parts then count down unfinished, and the last one ends it.
type messageOperation struct {
	d               *Domain
	attempt         attempt
	request         wireRequest
	local           *Event                // done when the source is free; nil: none
	remote          *Event                // done with the operation; nil: none
	waited          bool                  // a thread waits for ended, and gives the operation back
	unfinishedSends atomic.Int32          // of the sends and the starter, those that have not ended
	unfinished      atomic.Int32          // of all parts, those that have not ended
	failed          atomic.Pointer[error] // the first error of a part; nil: none
	done            pioman.Completion     // bit 0: it has ended; signaled if waited
	reply           wireReply

	sending, data, receiving  nmad.Request
	sendOp, dataOp, receiveOp nmad.Operation
	head                      [headBytes]byte  // of the request
	replyHead                 [replyBytes]byte // the head of the answer
	sendParts                 [3][]byte
	receiveParts              [2][]byte
	compared                  []byte            // askCombine: the values to compare with, behind the operands; nil: none
	remoteOp                  driver.RemoteOp   // the operation, if it goes by the network's own put or get
	way                       *remoteWay        // of remoteOp; nil: it goes by messages
	revoked                   uint64            // remoteWays.revoked of the peer, before the request was sent
	next                      *messageOperation // in the pool
}

// domainMessages is the part of a Domain that its operations by messages use: counts of those under way, and a pool of
// those that have ended. Any thread and any callback may use it.
type domainMessages struct {
	ranks    []farRank
	underway atomic.Int64 // operations under way, to all ranks
	flushers bell         // of threads that flush; rung as an operation ends

	mu     marcel.SpinLock
	free   *messageOperation // the pool; mu
	pooled int               // its length; mu
	failed map[int]error     // by rank, the first error of operations without an event since the last Flush; mu
}

// farRank counts the operations under way to one rank.
type farRank struct{ underway atomic.Int32 }

// maxPooled is how many operations a Domain keeps for the next ones.
const maxPooled = 2 * maxUnderway

// messages returns the Domain's domainMessages, and makes it at the first call.
func (d *Domain) messages() *domainMessages {
	if dm := d.byMessages.Load(); dm != nil {
		return dm
	}
	d.byMessages.CompareAndSwap(nil, &domainMessages{ranks: make([]farRank, len(d.peers)), failed: map[int]error{}})
	return d.byMessages.Load()
}

// take takes an operation from the pool, or makes one.
func (dm *domainMessages) take(d *Domain) *messageOperation {
	dm.mu.Lock()
	o := dm.free
	if o != nil {
		dm.free, o.next = o.next, nil
		dm.pooled--
	}
	dm.mu.Unlock()
	if o == nil {
		o = &messageOperation{d: d}
		o.sendOp = nmad.Operation{Kind: nmad.KindSend, Done: o.sentOne}
		o.dataOp = nmad.Operation{Kind: nmad.KindSend, Done: o.sentOne}
		o.receiveOp = nmad.Operation{Kind: nmad.KindRecv, Done: o.answered}
		o.remoteOp.Done = o.moved
	}
	return o
}

// giveBack puts an operation that has ended into the pool.
func (dm *domainMessages) giveBack(o *messageOperation) {
	o.local, o.remote = nil, nil
	o.failed.Store(nil)
	o.sendParts, o.receiveParts, o.dataOp.Buf, o.compared = [3][]byte{}, [2][]byte{}, nil, nil
	dm.mu.Lock()
	if dm.pooled < maxPooled {
		o.next, dm.free = dm.free, o
		dm.pooled++
	}
	dm.mu.Unlock()
}

// begin waits until fewer than maxUnderway operations are under way to the target, and returns one more, for its
// caller to complete and to start. It counts from then on.
func (d *Domain) begin(try attempt, ask uint8) (*messageOperation, error) {
	p := &d.peers[try.at.rank]
	for {
		n := p.underway.Load()
		if n < maxUnderway {
			if p.underway.CompareAndSwap(n, n+1) {
				break
			}
			continue
		}
		met := func() bool { return p.underway.Load() < maxUnderway || p.lost.Load() != nil }
		if err := d.w.await(&d.w.starters, met); err != nil {
			return nil, try.fails(err)
		}
		if why := p.lost.Load(); why != nil {
			return nil, try.fails(*why)
		}
	}
	if d.w.closing.Load() { // which Close sets before it waits for underway
		p.underway.Add(-1)
		d.w.starters.ring()
		return nil, try.fails(ErrClosed)
	}
	dm := d.messages()
	o := dm.take(d)
	o.attempt, o.waited = try, false
	o.request = wireRequest{ask: ask, number: p.number.Add(1), at: try.at, bytes: try.n}
	return o, nil
}

// start posts the receive of the answer and sends the request. src has the bytes of a put, and buf gets those of a get.
// It does not wait.
func (o *messageOperation) start(src, buf []byte) {
	w, rank := o.d.w, int(o.attempt.at.rank)
	dm := o.d.messages()
	dm.ranks[rank].underway.Add(1)
	dm.underway.Add(1)
	o.done.Reset()
	if o.startRemote(src, buf) {
		return
	}
	o.revoked = w.peers[rank].ways.revoked.Load()
	long := o.request.ask == askPut && len(src) > inlineBytes
	if long {
		o.request.ask = askLong
	}
	o.request.encode(&o.head)
	gate := w.s.Gate(rank)
	o.receiveParts = [2][]byte{o.replyHead[:], buf}
	o.receiveOp.Match, o.receiveOp.Parts = w.tagged(contextReplies, o.request.number), o.receiveParts[:]
	o.sendParts = [3][]byte{o.head[:], src, o.compared}
	o.sendOp.Match, o.sendOp.Parts = w.context(contextRequests), o.sendParts[:2]
	if o.compared != nil {
		o.sendOp.Parts = o.sendParts[:]
	}
	o.unfinishedSends.Store(2)
	o.unfinished.Store(3)
	if long {
		o.sendOp.Parts = o.sendParts[:1]
		o.dataOp.Match, o.dataOp.Buf = w.tagged(contextData, o.request.number), src
		o.unfinishedSends.Store(3)
		o.unfinished.Store(4)
	}
	if err := gate.Post(&o.receiving, &o.receiveOp); err != nil {
		o.fail(err)
		o.partDone()
	}
	o.post(gate, &o.sending, &o.sendOp)
	if long {
		o.post(gate, &o.data, &o.dataOp)
	}
	o.sent() // the starter
}

// post posts a send. If that fails the send ends at once.
func (o *messageOperation) post(gate *nmad.Gate, r *nmad.Request, op *nmad.Operation) {
	if err := gate.Post(r, op); err != nil {
		o.fail(err)
		o.sent()
	}
}

// fail keeps the first error.
func (o *messageOperation) fail(err error) {
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
}

// sentOne is called when a send has ended.
func (o *messageOperation) sentOne(r *nmad.Request) {
	_, err := r.Test()
	o.fail(err)
	o.sent()
}

// sent counts down for a send, or for the starter. The last of them makes local done.
func (o *messageOperation) sent() {
	if o.unfinishedSends.Add(-1) == 0 {
		local := o.local
		var err error
		if why := o.failed.Load(); why != nil {
			err = o.attempt.fails(*why)
		}
		local.end(err)
	}
	o.partDone()
}

// answered is called when the answer has come, or will not.
func (o *messageOperation) answered(r *nmad.Request) {
	_, err := r.Test()
	if err == nil && (!o.reply.decode(&o.replyHead) || r.Size() < replyBytes || o.reply.status == statusDone && r.Size() != replyBytes+uint64(len(o.receiveParts[1]))) {
		err = fmt.Errorf("%w: an answer of %d B", nmad.ErrProtocol, r.Size())
	}
	if err == nil && o.reply.way == wayRemote {
		o.d.w.learnKey(o.request.at, &o.reply, o.revoked)
	}
	o.fail(err)
	o.partDone()
}

// partDone counts down as a part of the operation ends. The last part ends the operation: it keeps an error that no
// event and no waiter tells, makes remote done, and lets the next operation begin.
func (o *messageOperation) partDone() {
	if o.unfinished.Add(-1) > 0 {
		return
	}
	d, rank := o.d, int(o.attempt.at.rank)
	dm, w := d.messages(), d.w
	err := o.result()
	implicit := err != nil && !o.waited && o.remote == nil
	if implicit {
		dm.mu.Lock()
		if dm.failed[rank] == nil {
			dm.failed[rank] = err
		}
		dm.mu.Unlock()
	}
	remote, waited := o.remote, o.waited
	if waited {
		o.done.Signal(1) // the waiter gives o back
	} else {
		dm.giveBack(o)
	}
	remote.end(err)
	w.peers[rank].underway.Add(-1)
	dm.ranks[rank].underway.Add(-1)
	dm.underway.Add(-1)
	w.starters.ring()
	dm.flushers.ring()
}

// result is how the operation has ended.
func (o *messageOperation) result() error {
	if why := o.failed.Load(); why != nil {
		return o.attempt.fails(*why)
	}
	if o.reply.status != statusDone {
		try := o.attempt
		if o.reply.status == statusAlign && o.request.signals {
			try = attempt{"signal", o.request.signalAt, 8}
		} else if o.request.ask == askCombine && o.reply.status == statusAlign {
			try.n = o.request.kind.bytes()
		}
		return try.refusal(o.reply.status, o.reply.size)
	}
	return nil
}

// wait starts the operation and waits for its end. It gives the operation back to the pool.
func (o *messageOperation) wait(src, buf []byte) (wireReply, error) {
	o.waited = true
	o.start(src, buf)
	err := o.done.Wait(o.d.w.engine, 1)
	if err != nil { // the engine was closed, or this is a handler: parts of o are still under way
		return wireReply{}, o.attempt.fails(err)
	}
	r, err := o.reply, o.result()
	o.d.messages().giveBack(o)
	return r, err
}

// polls is how often pollUntil polls the engine, for some microseconds, before it calls PollUntil, which first looks
// at memory alone.
const polls = 64

// pollUntil polls until met returns true, or for as long as PollUntil does: then it returns false. comes says that
// messages may make met true; then pollUntil polls the engine first.
func (w *World) pollUntil(met func() bool, comes bool) bool {
	if comes {
		for range polls {
			if met() {
				return true
			}
			w.engine.Poll()
		}
	}
	return w.engine.PollUntil(met)
}

// await waits until met returns true: it polls, and then sleeps at the bell, and calls met at each ring. The error: the
// engine is closed, or the caller is a callback.
func (w *World) await(b *bell, met func() bool) error {
	for !met() && !w.pollUntil(met, true) {
		if err := b.wait(context.Background(), w.engine, met); err != nil {
			return err
		}
	}
	return nil
}

// flush waits until the operations under way to a rank have ended; rank -1: those to all ranks.
func (d *Domain) flush(rank int) error {
	dm := d.byMessages.Load()
	if dm == nil {
		return nil
	}
	if dm.underway.Load() == 0 || rank >= 0 && dm.ranks[rank].underway.Load() == 0 {
		return nil
	}
	ended := func() bool { return dm.underway.Load() == 0 }
	if rank >= 0 {
		ended = func() bool { return dm.ranks[rank].underway.Load() == 0 }
	}
	if err := d.w.await(&dm.flushers, ended); err != nil {
		return fmt.Errorf("rma: flush: %w", err)
	}
	return nil
}

// takeError returns the first error of the operations to a rank that had no event, once. Rank -1: to any rank.
func (d *Domain) takeError(rank int) error {
	dm := d.byMessages.Load()
	if dm == nil {
		return nil
	}
	dm.mu.Lock()
	defer dm.mu.Unlock()
	if rank >= 0 {
		err := dm.failed[rank]
		delete(dm.failed, rank)
		return err
	}
	for r := range dm.ranks {
		if err := dm.failed[r]; err != nil {
			clear(dm.failed)
			return err
		}
	}
	return nil
}
