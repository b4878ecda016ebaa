package rma

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/pioman"
)

// remoteWays is how the networks of this process, an origin, and of a peer, an owner, put to and get from memory of the
// other one: the keys that each side has given the other. An answer by messages brings the key, and a question takes it
// back before the owner closes the memory:
//
//	origin                                            owner
//	1  a request; notes revoked                       1  the request borrows the memory; exposes it; answers with the key
//	2  revoked is as before? enters the key           2  retire: no request borrows the memory any more
//	3  a put: underway++; the network; underway--     3  asks the origins that have a key (askReturn)
//	4  askReturn: revoked++, forgets the key;         4  each has answered, has closed its World (askReturned), or is
//	   answers once underway is 0                        lost: the driver closes the key, and cuts off one that is lost
//	5  World.Close: none is under way: askReturned    5  the memory is the caller's again
//
// The question may overtake the answer, so the origin compares revoked. A network over sockets looks at a key only when
// a put begins, so the owner waits, or cuts the connection, rather than just close the key. testdata/spin/remote.pml is
// the model.
type remoteWays struct {
	link atomic.Pointer[remoteLink] // nil: it was not looked for

	mu       marcel.SpinLock
	known    map[uint32]*remoteWay      // memory of the peer whose key this process has, by index; mu
	revoked  atomic.Uint64              // how often the peer has taken memory back; written under mu
	taught   map[uint32]driver.Exposure // memory of this process whose key the peer was given, by index; mu
	given    atomic.Bool                // the peer has given a key; learnKey sets it, World.Close then tells the peer that none is in use
	returned atomic.Bool                // the peer has told that it uses no key of this process any more; handle sets it
	moves    atomic.Uint64              // puts and gets of this process that went by the network itself
}

// remoteLink is the link over which the networks of two processes reach memory of each other.
type remoteLink struct {
	driver.RemoteMemory        // nil: there is none
	from                uint64 // the shortest put or get that goes so, in bytes
}

// remoteWay is memory of a peer that the network reaches by a key. Guarded by remoteWays.mu, but for what does not
// change.
type remoteWay struct {
	key      uint64 // of the region
	remote   driver.RemoteKey
	underway int            // puts and gets that have not ended
	question *pendingAnswer // the owner takes the memory back, and is answered when none is under way; nil: it does not
	answer   pioman.Task    // sends that answer: the end of an operation comes under locks of the network
}

// remoteLink returns the link to a peer that has sent a message here.
func (w *World) remoteLink(rank int) *remoteLink {
	v := &w.peers[rank].ways
	if l := v.link.Load(); l != nil {
		return l
	}
	l, from := w.s.Gate(rank).RemoteMemory()
	if w.options.messages {
		l = nil
	}
	if w.options.remoteFrom != 0 {
		from = w.options.remoteFrom
	}
	v.link.Store(&remoteLink{l, uint64(from)})
	return v.link.Load()
}

// teachKey puts into an answer the key by which the network of a peer reaches memory of this process, which the request
// has borrowed.
func (w *World) teachKey(rank int, index uint32, rg *region, rp *wireReply) {
	l := w.remoteLink(rank)
	if l.RemoteMemory == nil || rg.size == 0 {
		return
	}
	v := &w.peers[rank].ways
	v.mu.Lock()
	x := v.taught[index]
	v.mu.Unlock()
	if x == nil {
		var err error
		if x, err = l.Expose(bytesAt(rg.base, 0, rg.size)); err != nil {
			return // the next request tries again
		}
		v.mu.Lock()
		if v.taught == nil {
			v.taught = map[uint32]driver.Exposure{}
		}
		v.taught[index] = x
		v.mu.Unlock()
	}
	rp.way, rp.remote = wayRemote, x.Key()
}

// learnKey enters the key that an answer has, unless the peer has taken memory back since the request was sent, when it
// had taken back that much.
func (w *World) learnKey(at Ref, rp *wireReply, revoked uint64) {
	v := &w.peers[at.rank].ways
	v.given.Store(true)
	l := w.remoteLink(int(at.rank))
	if l.RemoteMemory == nil || at.index >= 2*MaxRegions {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if old := v.known[at.index]; v.revoked.Load() != revoked || old != nil && (old.key == at.key || old.underway > 0) {
		return
	}
	if v.known == nil {
		v.known = map[uint32]*remoteWay{}
	}
	v.known[at.index] = &remoteWay{key: at.key, remote: rp.remote}
}

// knows returns the way to memory of the peer for an access of n bytes; nil: it goes by messages.
func (v *remoteWays) knows(at Ref, n uint64) *remoteWay {
	if !v.given.Load() {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.find(at, n)
}

// find is knows for the holder of mu.
func (v *remoteWays) find(at Ref, n uint64) *remoteWay {
	if y := v.known[at.index]; y != nil && y.key == at.key && n >= v.link.Load().from && n > 0 {
		return y
	}
	return nil
}

// begin returns the way for an access of n bytes, and counts one under way there; nil: it goes by messages.
func (v *remoteWays) begin(at Ref, n uint64) *remoteWay {
	if !v.given.Load() {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	y := v.find(at, n)
	if y != nil {
		y.underway++
	}
	return y
}

// end counts an access that has ended. The last one has the owner answered if that takes the memory back.
func (v *remoteWays) end(y *remoteWay) {
	v.mu.Lock()
	y.underway--
	asked := y.underway == 0 && y.question != nil
	v.mu.Unlock()
	if asked {
		a := y.question
		y.answer.Init("rma: answer to an owner", func(*pioman.Task) pioman.Status {
			a.send()
			return pioman.Done
		}, pioman.OneShot)
		_ = a.w.engine.Submit(&y.answer) // refused: the engine was closed
	}
}

// giveUp forgets the key of memory that the peer takes back; a is the answer to that. false: accesses are under way
// there, and the last of them sends a.
func (v *remoteWays) giveUp(at Ref, a *pendingAnswer) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.revoked.Add(1)
	y := v.known[at.index]
	if y == nil || y.key != at.key {
		return true
	}
	delete(v.known, at.index)
	if y.underway > 0 {
		y.question = a
	}
	return y.underway == 0
}

// startRemote starts the operation by the network, if that has a way, and reports whether it has. The caller has counted
// the operation.
func (o *messageOperation) startRemote(src, buf []byte) bool {
	put := o.request.ask == askPut
	if !put && o.request.ask != askGet || o.request.signals {
		return false
	}
	v := &o.d.peers[o.attempt.at.rank].ways
	y := v.begin(o.attempt.at, o.attempt.n)
	if y == nil {
		return false
	}
	o.reply, o.way = wireReply{}, y
	o.unfinishedSends.Store(1)
	o.unfinished.Store(1)
	x := &o.remoteOp
	x.Put, x.Buf, x.Key, x.Offset = put, src, y.remote, o.attempt.at.offset
	if !put {
		x.Buf = buf
	}
	if !v.link.Load().StartRemote(x) {
		x.Buf, o.way = nil, nil
		v.end(y)
		return false
	}
	v.moves.Add(1)
	return true
}

// moved is called when the network is through with the operation.
func (o *messageOperation) moved(err error) {
	rank := int(o.attempt.at.rank)
	if err != nil {
		o.fail(&nmad.PeerError{Rank: rank, Reason: err.Error(), Err: nmad.ErrPeerLost})
	}
	y := o.way
	o.way, o.remoteOp.Buf = nil, nil
	o.d.peers[rank].ways.end(y)
	o.sent()
}

// takeBack takes memory of this process back from the networks of all peers that have its key: they end what they have
// under way there, and answer. No request uses the memory any more, so no peer is given its key meanwhile. A peer that
// was lost is cut off.
func (w *World) takeBack(index uint32, rg *region) {
	type holder struct {
		p        *peer
		exposure driver.Exposure
		answered Event
		asked    bool
	}
	var holders []*holder
	for rank := range w.peers {
		p := &w.peers[rank]
		p.ways.mu.Lock()
		x := p.ways.taught[index]
		delete(p.ways.taught, index)
		p.ways.mu.Unlock()
		if x == nil {
			continue
		}
		h := &holder{p: p, exposure: x}
		holders = append(holders, h)
		if p.ways.returned.Load() {
			continue
		}
		if o, err := w.Default().begin(attempt{"taking back", Ref{rg.key, 0, uint32(rank), index}, 0}, askReturn); err == nil {
			h.asked = h.answered.take(w.engine)
			o.remote = &h.answered
			o.start(nil, nil)
		}
	}
	for _, h := range holders {
		met := func() bool {
			return h.asked && h.answered.IsDone() && h.answered.err == nil || h.p.ways.returned.Load() || h.p.lost.Load() != nil
		}
		_ = w.await(&w.starters, met) // it fails if the engine was closed: nothing moves any more
		h.exposure.Close(h.p.lost.Load() != nil)
	}
}

// hasTaught reports whether a peer has the key of that memory of this process.
func (w *World) hasTaught(index uint32) bool {
	return slices.ContainsFunc(w.members, func(rank int) bool {
		v := &w.peers[rank].ways
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.taught[index] != nil
	})
}

// returnKeys tells all peers whose keys this process was given that it uses them no more. Operations have ended, and
// none begins.
func (w *World) returnKeys() {
	head := &[headBytes]byte{}
	(&wireRequest{ask: askReturned}).encode(head)
	for rank := range w.peers {
		if w.peers[rank].ways.given.Load() {
			r := &nmad.Request{}
			if w.contexts[contextRequests-FirstContext].IsendInto(r, rank, 0, head[:]) == nil {
				_ = r.Wait() // it fails if the peer is lost
			}
		}
	}
}

// awaitKeys waits until each peer that was given a key has returned it by returnKeys, or is lost.
func (w *World) awaitKeys() error {
	var failed error
	for rank := range w.peers {
		p := &w.peers[rank]
		met := func() bool {
			p.ways.mu.Lock()
			defer p.ways.mu.Unlock()
			return len(p.ways.taught) == 0 || p.ways.returned.Load() || p.lost.Load() != nil
		}
		failed = errors.Join(failed, w.await(&w.starters, met))
	}
	return failed
}
