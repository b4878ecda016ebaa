package shm

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// leastOffer is how long a message must be to be offered, in bytes.
const leastOffer = 32 << 10

// offerMark stands in a ready word in place of a number of bytes.
const offerMark = 1<<32 - 1

// withdrawn, in slotCredit.fetched: the sender has taken its offer back for good.
const withdrawn = 1 << 63

// A share is cut into halves, so that a short one is fetched by both sides at once, or, if
// these would be longer, into pieces of pieceFactor*leastOffer bytes: some ten microseconds, for
// which a claim can keep the other side waiting.
const pieceFactor = 4

const (
	mostShare = 1 << 30 // bytes
	mostOffer = 1 << 47 // bytes; more than an address space has
)

// atOnce is after how many bytes a call returns. One piece of a long message: so that a waiter,
// on either side, sees each time that something moves, and does not go to sleep.
const atOnce = 128 << 10

// offered is an offer as its sender knows it.
type offered struct {
	buf    []byte // what is offered; nil: nothing is. Keeps it where it is as long as it is
	base   uint64 // what slotCredit.fetched was before
	told   int    // bytes that Push has said are gone
	share  uint32 // the last share of which a piece was written
	pieces int    // pieces written of it
}

// wants says whether a message of n bytes is to be offered.
func (ls *largeSend) wants(n int) bool {
	return n >= ls.least && n != ls.slotsLeft && ls.slotCredit.ways.Load()>>classOf(n)&1 != 0
}

// propose offers buf, if there is a slot for it to be said in.
func (ls *largeSend) propose(buf []byte) (bool, error) {
	if ok, err := ls.room(); !ok {
		return false, err
	}
	base := ls.slotCredit.fetched.Load()
	if base&withdrawn != 0 || base-ls.out.base != uint64(ls.out.told) {
		return false, fmt.Errorf("%w: it claims to have fetched %d bytes, of which %d were offered", driver.ErrProtocol, base, ls.out.base+uint64(ls.out.told))
	}
	ls.out = offered{buf: buf, base: base, share: ls.out.share, pieces: ls.out.pieces}
	w := &ls.words[ls.tail&uint64(len(ls.words)-1)]
	w.address.Store(process.AddressOf(buf))
	w.size.Store(uint64(len(buf)))
	w.ready.publish(slotLap(ls.tail, ls.shift)<<32 | offerMark)
	ls.tail++
	relaxed.Store(&ls.offer, ls.tail)
	relaxed.Store(&ls.seen, base)
	relaxed.Store(&ls.refused, 1)
	return true, nil
}

// settle says how many bytes of the offer are gone that were not told of yet, at most most.
// If the offer was declined the rest goes through slots: back says that its own slot was
// filled with the first of them.
func (ls *largeSend) settle(most int) (n int, back bool, err error) {
	o := &ls.out
	declined := ls.slotCredit.declined.Load() == ls.offer // looked at first: after it nothing is fetched any more
	fetched := ls.slotCredit.fetched.Load()
	got := fetched - o.base
	if got > uint64(len(o.buf)) || got < uint64(o.told) {
		return 0, false, fmt.Errorf("%w: it claims to have fetched %d bytes of %d", driver.ErrProtocol, got, len(o.buf))
	}
	n = min(int(got)-o.told, most)
	switch {
	case n > 0:
		if o.told += n; o.told == len(o.buf) {
			ls.endOffer()
		}
	case declined:
		rest := o.buf[o.told:]
		n = ls.fill(ls.offer-1, rest[:min(len(rest), most)])
		ls.endOffer()
		return n, true, nil
	default:
		relaxed.Store(&ls.seen, fetched)
		relaxed.Store(&ls.refused, 1)
	}
	return n, false, nil
}

// endOffer ends an offer.
func (ls *largeSend) endOffer() {
	ls.out.buf = nil
	relaxed.Store(&ls.offer, 0)
	relaxed.Store(&ls.refused, 0)
}

// withdraw takes the offer back for good: what of it is not fetched by now never will
// be. It gives the bytes that are and were not told of yet.
func (ls *largeSend) withdraw() int {
	if ls.out.buf == nil {
		return 0
	}
	got := ls.slotCredit.fetched.Or(withdrawn)&^withdrawn - ls.out.base
	n := min(max(int(got)-ls.out.told, 0), len(ls.out.buf)-ls.out.told)
	ls.endOffer()
	return n
}

// claimedPiece is a piece of a share that the sender has taken: bytes of its offer, and where they go.
type claimedPiece struct {
	share uint32
	bytes []byte
	to    uint64
}

// claim takes the last piece that is left of the share.
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
	if n := uint64(len(ls.out.buf)); at > n || size > n-at || piece == 0 || piece > mostShare || k*piece >= size {
		return p, false, fmt.Errorf("%w: it wants piece %d of %d bytes of %d bytes from %d on of an offer of %d", driver.ErrProtocol, k, piece, size, at, n)
	}
	first := k * piece
	return claimedPiece{c.share(), ls.out.buf[at+first : at+min(first+piece, size)], to + first}, true, nil
}

// wrote tells the receiver that a piece is written, or could not be.
func (ls *largeSend) wrote(p claimedPiece, ok bool) {
	o := &ls.out
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
	open    bool
	address uint64
	size    uint64 // bytes
	taken   uint64 // bytes of it in complete shares

	buf    []byte // where the share goes; nil: there is none
	number uint32 // of the share, or of the last one
	piece  int    // bytes
	front  int    // pieces that were taken from the front
	back   int    // pieces that were not taken from the back
	gone   bool   // the other process is ending: a piece that was taken could not be read
	done   int    // bytes that have arrived from the front on
	told   int    // of these, that Pull has handed out
}

// accept takes on the offer at head.
func (lr *largeRecv) accept() error {
	w := &lr.words[lr.head&uint64(len(lr.words)-1)]
	address, size := w.address.Load(), w.size.Load()
	switch {
	case !lr.copies.able:
		return fmt.Errorf("%w: an offer that was not asked for", driver.ErrProtocol)
	case size == 0 || size > mostOffer:
		return fmt.Errorf("%w: an offer of %d bytes, 1 to %d are possible", driver.ErrProtocol, size, uint64(mostOffer))
	}
	lr.in = borrowed{open: true, address: address, size: size, number: lr.in.number}
	return nil
}

// startShare makes the next share, which goes to buf; the sender takes part if there is more than
// one piece.
func (lr *largeRecv) startShare(buf []byte, piece int) {
	in, s := &lr.in, lr.rings.share
	pieces := (len(buf) + piece - 1) / piece
	in.buf, in.piece, in.front, in.back, in.done, in.told = buf, piece, 0, pieces, 0, 0
	in.number++
	s.to.Store(process.AddressOf(buf))
	s.at.Store(in.taken)
	s.size.Store(uint64(len(buf)))
	s.piece.Store(uint64(piece))
	c := newClaims(in.number, pieces)
	if !lr.helped {
		c = c.takeAll()
	}
	s.claims.Store(uint64(c))
}

// pieceOf gives the size of the pieces of a share of n bytes.
func (lr *largeRecv) pieceOf(n int) int {
	if n < lr.least {
		return n
	}
	align := pageSize
	if n < 2*pageSize {
		align = lineSize
	}
	half := (n/2 + align - 1) &^ (align - 1)
	return max(min(half, pieceFactor*lr.least), (n+mostPieces-1)/mostPieces)
}

// take takes a piece from the front, or, with all, all that is left. It gives the first one.
func (lr *largeRecv) take(all bool) (k int, ok bool, err error) {
	in := &lr.in
	if !lr.helped && in.front < in.back {
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

// span gives where piece k is in the share.
func (in *borrowed) span(k int) (from, to int) {
	return k * in.piece, min((k+1)*in.piece, len(in.buf))
}

// theirs says how many pieces the sender has taken: all from back on.
func (in *borrowed) theirs() int {
	return (len(in.buf)+in.piece-1)/in.piece - in.back
}

// settled says whether the pieces that the sender has taken are there. left is one that
// it could not write, -1: none.
func (lr *largeRecv) settled() (yes bool, left int, err error) {
	in := &lr.in
	w := written(lr.words[lr.head&uint64(len(lr.words)-1)].written.Load())
	pieces := in.theirs()
	if !w.covers(in.number, pieces) {
		relaxed.Store(&lr.need, uint64(newWritten(in.number, pieces, false)))
		relaxed.Store(&lr.waits, waitsPieces)
		return false, -1, nil
	}
	relaxed.Store(&lr.waits, 0)
	switch {
	case pieces == 0 || !w.failed() && w.pieces() == pieces:
		return true, -1, nil
	case w.failed() && w.pieces() == pieces-1:
		return true, in.back, nil
	}
	return false, -1, fmt.Errorf("%w: it claims to have written %d pieces of %d", driver.ErrProtocol, w.pieces(), pieces)
}

// commit hands n bytes more of the share out, unless the sender has withdrawn the offer, and
// so perhaps changed them, meanwhile.
func (lr *largeRecv) commit(n int) (bool, error) {
	in, fetched := &lr.in, &lr.slotCredit.fetched
	was := lr.fetched
	if !fetched.CompareAndSwap(was, was+uint64(n)) { // a barrier: the look at wantRoom comes after it
		if fetched.Load() != was|withdrawn {
			return false, fmt.Errorf("%w: it changed how much was fetched", driver.ErrProtocol)
		}
		in.open, in.buf = false, nil
		relaxed.Store(&lr.waits, waitsSlot)
		return false, nil
	}
	lr.fetched = was + uint64(n)
	if in.told += n; in.told < len(in.buf) {
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

// decline has the sender put what was not handed out of the offer into slots.
func (lr *largeRecv) decline() {
	lr.in.open, lr.in.buf = false, nil
	relaxed.Store(&lr.waits, waitsSlot)
	lr.slotCredit.declined.publish(lr.head + 1) // the look at wantRoom comes after it
}
