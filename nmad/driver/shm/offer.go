package shm

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// standardMinOffer is the length of the shortest message that is offered, in bytes.
const standardMinOffer = 32 << 10

// offerMark stands in a ready word in place of a number of bytes: the slot holds an offer.
const offerMark = 1<<32 - 1

// withdrawn, in slotCredit.fetched: the sender has taken its offer back for good.
const withdrawn = 1 << 63

// A share is cut into halves, so that a short one is fetched by both sides at once, or, if these would be longer, into
// pieces of pieceFactor*standardMinOffer bytes: some ten microseconds, for which a claim can keep the other side
// waiting.
const pieceFactor = 4

const (
	maxShare = 1 << 30 // bytes
	maxOffer = 1 << 47 // bytes; more than an address space has
)

// atOnce is after how many bytes a call returns. One piece of a long message: so that a waiter, on either side, sees
// each time that something moves, and does not go to sleep.
const atOnce = 128 << 10

// offered is an offer as its sender knows it.
type offered struct {
	buf      []byte // what is offered; nil: nothing. Keeps the memory alive
	base     uint64 // slotCredit.fetched at the time of the offer
	reported int    // bytes that Push has reported as gone
	share    uint32 // number of the last share of which a piece was written
	pieces   int    // of it that were written
}

// offers reports whether a message of n bytes is to be offered.
func (ls *largeSend) offers(n int) bool {
	return n >= ls.minOffer && n != ls.slotsLeft && ls.slotCredit.offers.Load()>>classOf(n)&1 != 0
}

// makeOffer offers buf, if there is a free slot for the offer.
func (ls *largeSend) makeOffer(buf []byte) (bool, error) {
	if ok, err := ls.room(); !ok {
		return false, err
	}
	base := ls.slotCredit.fetched.Load()
	if base&withdrawn != 0 || base-ls.current.base != uint64(ls.current.reported) {
		return false, fmt.Errorf("%w: it claims to have fetched %d bytes, of which %d were offered", driver.ErrProtocol, base, ls.current.base+uint64(ls.current.reported))
	}
	ls.current = offered{buf: buf, base: base, share: ls.current.share, pieces: ls.current.pieces}
	w := &ls.words[ls.tail&uint64(len(ls.words)-1)]
	w.address.Store(process.AddressOf(buf))
	w.size.Store(uint64(len(buf)))
	w.ready.publish(slotLap(ls.tail, ls.shift)<<32 | offerMark)
	ls.tail++
	relaxed.Store(&ls.offer, ls.tail)
	relaxed.Store(&ls.fetchedSeen, base)
	relaxed.Store(&ls.refused, 1)
	return true, nil
}

// progress returns how many bytes of the offer have been fetched since the last call, at most most. If the offer
// was declined the rest goes through slots: back says that the offer's own slot now has the first bytes of it.
func (ls *largeSend) progress(most int) (n int, back bool, err error) {
	o := &ls.current
	declined := ls.slotCredit.declined.Load() == ls.offer // looked at first: after it nothing is fetched any more
	fetched := ls.slotCredit.fetched.Load()
	got := fetched - o.base
	if got > uint64(len(o.buf)) || got < uint64(o.reported) {
		return 0, false, fmt.Errorf("%w: it claims to have fetched %d bytes of %d", driver.ErrProtocol, got, len(o.buf))
	}
	n = min(int(got)-o.reported, most)
	switch {
	case n > 0:
		if o.reported += n; o.reported == len(o.buf) {
			ls.endOffer()
		}
	case declined:
		rest := o.buf[o.reported:]
		n = ls.fill(ls.offer-1, rest[:min(len(rest), most)])
		ls.endOffer()
		return n, true, nil
	default:
		relaxed.Store(&ls.fetchedSeen, fetched)
		relaxed.Store(&ls.refused, 1)
	}
	return n, false, nil
}

// endOffer ends an offer.
func (ls *largeSend) endOffer() {
	ls.current.buf = nil
	relaxed.Store(&ls.offer, 0)
	relaxed.Store(&ls.refused, 0)
}

// withdraw takes the offer back for good: bytes that were not fetched by now never will be. It returns how many
// were fetched since the last call of progress.
func (ls *largeSend) withdraw() int {
	if ls.current.buf == nil {
		return 0
	}
	got := ls.slotCredit.fetched.Or(withdrawn)&^withdrawn - ls.current.base
	n := min(max(int(got)-ls.current.reported, 0), len(ls.current.buf)-ls.current.reported)
	ls.endOffer()
	return n
}

// claimedPiece is a piece of a share that the sender has taken: bytes of its offer, and the address where they go.
type claimedPiece struct {
	share uint32
	bytes []byte
	to    uint64
}

// claim takes the last piece of the share that is left.
func (ls *largeSend) claim() (p claimedPiece, ok bool, err error) {
	var c claims
	var to, at, size, piece uint64
	for {
		if c = claims(ls.share.claims.Load()); c.left() <= 0 {
			return p, false, nil
		}
		to, at, size, piece = ls.share.to.Load(), ls.share.at.Load(), ls.share.size.Load(), ls.share.piece.Load()
		if ls.share.claims.CompareAndSwap(uint64(c), uint64(c.takeBack())) {
			break
		}
	}
	// The share was this one all the while, so the four belong to it.
	k := uint64(c.back() - 1)
	if n := uint64(len(ls.current.buf)); at > n || size > n-at || piece == 0 || piece > maxShare || k*piece >= size {
		return p, false, fmt.Errorf("%w: it wants piece %d of %d bytes of %d bytes from %d on of an offer of %d", driver.ErrProtocol, k, piece, size, at, n)
	}
	first := k * piece
	return claimedPiece{c.share(), ls.current.buf[at+first : at+min(first+piece, size)], to + first}, true, nil
}

// publishWritten tells the receiver that a piece is written, or could not be.
func (ls *largeSend) publishWritten(p claimedPiece, ok bool) {
	o := &ls.current
	if o.share != p.share {
		o.share, o.pieces = p.share, 0
	}
	if ok {
		o.pieces++
	}
	i := (ls.offer - 1) & uint64(len(ls.words)-1)
	ls.words[i].written.publish(uint64(newWritten(o.share, o.pieces, !ok))) // the look at sleeping comes after it
}

// borrowed is an offer as its receiver knows it, and the share of it that is being fetched.
//
//	none --- the mark is seen ---> taken on --- a buffer comes ---> sharing
//	 ^                              |   ^                           |     |
//	 |                              |   '--- share complete --------'     |
//	 '------ all shares complete ---'                                     |
//	declined <----------- it cannot be read, or the buffers are short ----'
type borrowed struct {
	open    bool   // there is an offer
	address uint64 // of the offer, in the sender's memory
	size    uint64 // bytes
	taken   uint64 // bytes of it in complete shares

	buf       []byte // where the share goes; nil: there is none
	number    uint32 // of the share, or of the last one
	piece     int    // bytes
	front     int    // pieces that were taken from the front
	back      int    // first piece that was taken from the back
	peerGone  bool   // the peer is ending: a piece could not be read
	arrived   int    // bytes that have arrived, from the front
	handedOut int    // of these, bytes that Pull has returned
}

// acceptOffer begins with the offer at head.
func (lr *largeRecv) acceptOffer() error {
	w := &lr.words[lr.head&uint64(len(lr.words)-1)]
	address, size := w.address.Load(), w.size.Load()
	switch {
	case !lr.copies.canRead:
		return fmt.Errorf("%w: an offer that was not asked for", driver.ErrProtocol)
	case size == 0 || size > maxOffer:
		return fmt.Errorf("%w: an offer of %d bytes, 1 to %d are possible", driver.ErrProtocol, size, uint64(maxOffer))
	}
	lr.current = borrowed{open: true, address: address, size: size, number: lr.current.number}
	return nil
}

// startShare makes the next share, which goes to buf. The sender helps if there is more than one piece.
func (lr *largeRecv) startShare(buf []byte, piece int) {
	in, s := &lr.current, lr.rings.share
	pieces := (len(buf) + piece - 1) / piece
	in.buf, in.piece, in.front, in.back, in.arrived, in.handedOut = buf, piece, 0, pieces, 0, 0
	in.number++
	s.to.Store(process.AddressOf(buf))
	s.at.Store(in.taken)
	s.size.Store(uint64(len(buf)))
	s.piece.Store(uint64(piece))
	c := newClaims(in.number, pieces)
	if !lr.senderHelps {
		c = c.takeAll()
	}
	s.claims.Store(uint64(c))
}

// pieceOf returns the size of the pieces of a share of n bytes.
func (lr *largeRecv) pieceOf(n int) int {
	if n < lr.minShare {
		return n
	}
	align := pageSize
	if n < 2*pageSize {
		align = lineSize
	}
	half := (n/2 + align - 1) &^ (align - 1)
	return max(min(half, pieceFactor*lr.minShare), (n+maxPieces-1)/maxPieces)
}

// claim takes a piece from the front, or, with all, all pieces that are left. It returns the number of the first
// one.
func (lr *largeRecv) claim(all bool) (k int, ok bool, err error) {
	in := &lr.current
	if !lr.senderHelps && in.front < in.back {
		if k = in.front; all {
			in.front = in.back
		} else {
			in.front++
		}
		return k, true, nil
	}
	for in.front < in.back {
		w := lr.rings.share.claims.Load()
		c := claims(w)
		if c.share() != in.number || c.front() != in.front || c.back() > in.back || c.left() < 0 {
			return 0, false, fmt.Errorf("%w: of a share of which %d to %d were left, it left %d to %d", driver.ErrProtocol, in.front, in.back, c.front(), c.back())
		}
		in.back = c.back()
		if c.left() == 0 {
			break
		}
		next := c.takeFront()
		if all {
			next = c.takeAll()
		}
		if lr.rings.share.claims.CompareAndSwap(w, uint64(next)) {
			k, in.front = in.front, next.front()
			return k, true, nil
		}
	}
	return 0, false, nil
}

// span returns where piece k lies in the share.
func (in *borrowed) span(k int) (from, to int) {
	return k * in.piece, min((k+1)*in.piece, len(in.buf))
}

// senderPieces returns how many pieces the sender has taken: all from back on.
func (in *borrowed) senderPieces() int {
	return (len(in.buf)+in.piece-1)/in.piece - in.back
}

// senderDone reports whether the pieces that the sender has taken have arrived. left is one that the sender could not
// write; -1: none.
func (lr *largeRecv) senderDone() (yes bool, left int, err error) {
	in := &lr.current
	w := written(lr.words[lr.head&uint64(len(lr.words)-1)].written.Load())
	pieces := in.senderPieces()
	if !w.covers(in.number, pieces) {
		relaxed.Store(&lr.needWritten, uint64(newWritten(in.number, pieces, false)))
		relaxed.Store(&lr.waitsFor, waitsPieces)
		return false, -1, nil
	}
	relaxed.Store(&lr.waitsFor, 0)
	switch {
	case pieces == 0 || !w.failed() && w.pieces() == pieces:
		return true, -1, nil
	case w.failed() && w.pieces() == pieces-1:
		return true, in.back, nil
	}
	return false, -1, fmt.Errorf("%w: it claims to have written %d pieces of %d", driver.ErrProtocol, w.pieces(), pieces)
}

// handOut counts n bytes more of the share as fetched. It returns false if the sender has withdrawn the offer, and so
// may have changed them.
func (lr *largeRecv) handOut(n int) (bool, error) {
	in, fetched := &lr.current, &lr.slotCredit.fetched
	old := lr.fetched
	if !fetched.CompareAndSwap(old, old+uint64(n)) { // a barrier: the look at wantRoom comes after it
		if fetched.Load() != old|withdrawn {
			return false, fmt.Errorf("%w: it changed how much was fetched", driver.ErrProtocol)
		}
		in.open, in.buf = false, nil
		relaxed.Store(&lr.waitsFor, waitsSlot)
		return false, nil
	}
	lr.fetched = old + uint64(n)
	if in.handedOut += n; in.handedOut < len(in.buf) {
		return true, nil
	}
	in.taken += uint64(len(in.buf))
	in.buf = nil
	if in.taken == in.size {
		in.open = false
		lr.release()
	}
	return true, nil
}

// decline has the sender put the rest of the offer into slots.
func (lr *largeRecv) decline() {
	lr.current.open, lr.current.buf = false, nil
	relaxed.Store(&lr.waitsFor, waitsSlot)
	lr.slotCredit.declined.publish(lr.head + 1) // the look at wantRoom comes after it
}
