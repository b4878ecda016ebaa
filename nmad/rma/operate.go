package rma

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// messageOperation is an operation under way that goes by messages: a request, the data of a long put, and the receive of
// the answer. It is over when all of these are, since the network may touch the caller's memory until then.
type messageOperation struct {
	d         *Domain
	x         attempt
	q         wireRequest
	local     *Event       // ends when the source is free
	remote    *Event       // ends with the operation
	waited    bool         // by a thread, which gives the operation back
	sendsLeft atomic.Int32 // sends, and the starter, that are not over
	left      atomic.Int32 // all that is not over
	failed    atomic.Pointer[error]
	over      pioman.Completion
	reply     wireReply

	sending, data, receiving  nmad.Request
	sendOp, dataOp, receiveOp nmad.Op
	head                      [headBytes]byte
	came                      [replyBytes]byte
	sendParts                 [3][]byte
	receiveParts              [2][]byte
	more                      []byte            // of a request, behind its bytes; nil: there is none
	next                      *messageOperation // in the pool
}

// messageOperations are those that a Domain has under way by messages, and a pool of those that are over.
type messageOperations struct {
	ranks []farRank
	all   atomic.Int64 // operations under way
	idle  bell         // threads that flush

	mu     marcel.SpinLock
	free   *messageOperation // the pool
	pooled int
	failed map[int]error // first errors of operations without an event, by rank
}

type farRank struct{ underway atomic.Int32 }

// mostPooled is how many operations a Domain keeps for the next ones.
const mostPooled = 2 * mostUnderway

// operations returns the Domain's operations by messages. The struct is made for the first one.
func (d *Domain) operations() *messageOperations {
	if f := d.begun.Load(); f != nil {
		return f
	}
	d.begun.CompareAndSwap(nil, &messageOperations{ranks: make([]farRank, len(d.peers)), failed: map[int]error{}})
	return d.begun.Load()
}

// take takes an operation from the pool.
func (f *messageOperations) take(d *Domain) *messageOperation {
	f.mu.Lock()
	o := f.free
	if o != nil {
		f.free, o.next = o.next, nil
		f.pooled--
	}
	f.mu.Unlock()
	if o == nil {
		o = &messageOperation{d: d}
		o.sendOp = nmad.Op{Kind: nmad.OpSend, Done: o.sentOne}
		o.dataOp = nmad.Op{Kind: nmad.OpSend, Done: o.sentOne}
		o.receiveOp = nmad.Op{Kind: nmad.OpRecv, Done: o.answered}
	}
	return o
}

// giveBack gives one back.
func (f *messageOperations) giveBack(o *messageOperation) {
	o.local, o.remote = nil, nil
	o.failed.Store(nil)
	o.sendParts, o.receiveParts, o.dataOp.Buf, o.more = [3][]byte{}, [2][]byte{}, nil, nil
	f.mu.Lock()
	if f.pooled < mostPooled {
		o.next, f.free = f.free, o
		f.pooled++
	}
	f.mu.Unlock()
}

// begin returns an operation for a request, once fewer than mostUnderway are under way at its target. The caller then sets
// what moves with it, and starts it.
func (d *Domain) begin(x attempt, ask uint8) (*messageOperation, error) {
	p := &d.peers[x.at.rank]
	for {
		n := p.underway.Load()
		if n < mostUnderway {
			if p.underway.CompareAndSwap(n, n+1) {
				break
			}
			continue
		}
		met := func() bool { return p.underway.Load() < mostUnderway || p.lost.Load() != nil }
		if err := d.w.await(&d.w.room, met); err != nil {
			return nil, x.fails(err)
		}
		if why := p.lost.Load(); why != nil {
			return nil, x.fails(*why)
		}
	}
	if d.w.closing.Load() { // which Close sets before it waits for underway
		p.underway.Add(-1)
		d.w.room.ring()
		return nil, x.fails(ErrClosed)
	}
	f := d.operations()
	o := f.take(d)
	o.x, o.waited = x, false
	o.q = wireRequest{ask: ask, number: p.number.Add(1), at: x.at, n: x.n}
	return o, nil
}

// start sends the request. src has the bytes of a put, and buf gets those of a get.
func (o *messageOperation) start(src, buf []byte) {
	w, rank := o.d.w, int(o.x.at.rank)
	f := o.d.operations()
	f.ranks[rank].underway.Add(1)
	f.all.Add(1)
	long := o.q.ask == askPut && len(src) > inlineBytes
	if long {
		o.q.ask = askLong
	}
	o.q.encode(&o.head)
	o.over.Reset()
	gate := w.s.Gate(rank)
	o.receiveParts = [2][]byte{o.came[:], buf}
	o.receiveOp.Match, o.receiveOp.Parts = w.tagged(contextReplies, o.q.number), o.receiveParts[:]
	o.sendParts = [3][]byte{o.head[:], src, o.more}
	o.sendOp.Match, o.sendOp.Parts = w.context(contextRequests), o.sendParts[:2]
	if o.more != nil {
		o.sendOp.Parts = o.sendParts[:]
	}
	o.sendsLeft.Store(2)
	o.left.Store(3)
	if long {
		o.sendOp.Parts = o.sendParts[:1]
		o.dataOp.Match, o.dataOp.Buf = w.tagged(contextData, o.q.number), src
		o.sendsLeft.Store(3)
		o.left.Store(4)
	}
	if err := gate.Post(&o.receiving, &o.receiveOp); err != nil {
		o.fail(err)
		o.less()
	}
	o.post(gate, &o.sending, &o.sendOp)
	if long {
		o.post(gate, &o.data, &o.dataOp)
	}
	o.sent() // the starter
}

// post posts a send. If that fails the send is over at once.
func (o *messageOperation) post(gate *nmad.Gate, r *nmad.Request, op *nmad.Op) {
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

// sentOne is called when a send is over.
func (o *messageOperation) sentOne(r *nmad.Request) {
	_, err := r.Test()
	o.fail(err)
	o.sent()
}

func (o *messageOperation) sent() {
	if o.sendsLeft.Add(-1) == 0 {
		local := o.local
		var err error
		if why := o.failed.Load(); why != nil {
			err = o.x.fails(*why)
		}
		local.end(err)
	}
	o.less()
}

// answered is called when the answer has come, or will not.
func (o *messageOperation) answered(r *nmad.Request) {
	_, err := r.Test()
	if err == nil && (!o.reply.decode(&o.came) || r.Size() < replyBytes || o.reply.status == statusDone && r.Size() != replyBytes+uint64(len(o.receiveParts[1]))) {
		err = fmt.Errorf("%w: an answer of %d B", nmad.ErrProtocol, r.Size())
	}
	o.fail(err)
	o.less()
}

// less is called as a part of the operation ends. The last part ends the operation.
func (o *messageOperation) less() {
	if o.left.Add(-1) > 0 {
		return
	}
	d, rank := o.d, int(o.x.at.rank)
	f, w := d.operations(), d.w
	err := o.result()
	implicit := err != nil && !o.waited && o.remote == nil
	if implicit {
		f.mu.Lock()
		if f.failed[rank] == nil {
			f.failed[rank] = err
		}
		f.mu.Unlock()
	}
	remote, waited := o.remote, o.waited
	if waited {
		o.over.Signal(1) // the waiter gives o back
	} else {
		f.giveBack(o)
	}
	remote.end(err)
	w.peers[rank].underway.Add(-1)
	f.ranks[rank].underway.Add(-1)
	f.all.Add(-1)
	w.room.ring()
	f.idle.ring()
}

// result is how the operation has ended.
func (o *messageOperation) result() error {
	if why := o.failed.Load(); why != nil {
		return o.x.fails(*why)
	}
	if o.reply.status != statusDone {
		x := o.x
		if o.reply.status == statusAlign && o.q.signals {
			x = attempt{"signal", o.q.sig, 8}
		} else if o.q.ask == askCombine && o.reply.status == statusAlign {
			x.n = o.q.kind.bytes()
		}
		return x.refusal(o.reply.status, o.reply.size)
	}
	return nil
}

// wait starts the operation and waits for its end. It gives the operation back to the pool.
func (o *messageOperation) wait(src, buf []byte) (wireReply, error) {
	o.waited = true
	o.start(src, buf)
	err := o.over.Wait(o.d.w.engine, 1)
	if err != nil { // the engine was closed under it, or this is a handler: o is not free
		return wireReply{}, o.x.fails(err)
	}
	r, err := o.reply, o.result()
	o.d.operations().giveBack(o)
	return r, err
}

// polls is how often pollUntil polls the engine before it leaves that to PollUntil, whose first looks are at memory
// alone: some microseconds.
const polls = 64

// pollUntil waits until met says so. It polls the engine first, if comes says that messages may bring about what it
// waits for.
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

// await waits until met says so, and asks it at each ring of the bell. The error: the engine is closed, or the caller
// is a callback.
func (w *World) await(b *bell, met func() bool) error {
	for !met() && !w.pollUntil(met, true) {
		if err := b.wait(context.Background(), w.engine, met); err != nil {
			return err
		}
	}
	return nil
}

// flush waits until the operations under way to a rank are over; rank -1: those to all ranks.
func (d *Domain) flush(rank int) error {
	f := d.begun.Load()
	if f == nil {
		return nil
	}
	if f.all.Load() == 0 || rank >= 0 && f.ranks[rank].underway.Load() == 0 {
		return nil
	}
	left := func() bool { return f.all.Load() == 0 }
	if rank >= 0 {
		left = func() bool { return f.ranks[rank].underway.Load() == 0 }
	}
	if err := d.w.await(&f.idle, left); err != nil {
		return fmt.Errorf("rma: flush: %w", err)
	}
	return nil
}

// takeError returns the first error of the operations to a rank that had no event, once. Rank -1: to any rank.
func (d *Domain) takeError(rank int) error {
	f := d.begun.Load()
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if rank >= 0 {
		err := f.failed[rank]
		delete(f.failed, rank)
		return err
	}
	for r := range f.ranks {
		if err := f.failed[r]; err != nil {
			clear(f.failed)
			return err
		}
	}
	return nil
}
