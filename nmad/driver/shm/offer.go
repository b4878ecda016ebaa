package shm

import (
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
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
func (s *largeSend) wants(n int) bool {
	return n >= s.least && n != s.slotsLeft && s.slotCredit.ways.Load()>>classOf(n)&1 != 0
}

// propose offers buf, if there is a slot for it to be said in.
func (s *largeSend) propose(buf []byte) (bool, error) {
	if ok, err := s.room(); !ok {
		return false, err
	}
	base := s.slotCredit.fetched.Load()
	if base&withdrawn != 0 || base-s.out.base != uint64(s.out.told) {
		return false, fmt.Errorf("%w: it claims to have fetched %d bytes, of which %d were offered", driver.ErrProtocol, base, s.out.base+uint64(s.out.told))
	}
	s.out = offered{buf: buf, base: base, share: s.out.share, pieces: s.out.pieces}
	w := &s.words[s.tail&uint64(len(s.words)-1)]
	w.address.Store(process.AddressOf(buf))
	w.size.Store(uint64(len(buf)))
	w.ready.publish(slotLap(s.tail, s.shift)<<32 | offerMark)
	s.tail++
	store(&s.offer, s.tail)
	store(&s.seen, base)
	store(&s.refused, 1)
	return true, nil
}

// settle says how many bytes of the offer are gone that were not told of yet, at most most.
// If the offer was declined the rest goes through slots: back says that its own slot was
// filled with the first of them.
func (s *largeSend) settle(most int) (n int, back bool, err error) {
	o := &s.out
	declined := s.slotCredit.declined.Load() == s.offer // looked at first: after it nothing is fetched any more
	fetched := s.slotCredit.fetched.Load()
	got := fetched - o.base
	if got > uint64(len(o.buf)) || got < uint64(o.told) {
		return 0, false, fmt.Errorf("%w: it claims to have fetched %d bytes of %d", driver.ErrProtocol, got, len(o.buf))
	}
	n = min(int(got)-o.told, most)
	switch {
	case n > 0:
		if o.told += n; o.told == len(o.buf) {
			s.endOffer()
		}
	case declined:
		rest := o.buf[o.told:]
		n = s.fill(s.offer-1, rest[:min(len(rest), most)])
		s.endOffer()
		return n, true, nil
	default:
		store(&s.seen, fetched)
		store(&s.refused, 1)
	}
	return n, false, nil
}

// endOffer ends an offer.
func (s *largeSend) endOffer() {
	s.out.buf = nil
	store(&s.offer, 0)
	store(&s.refused, 0)
}

// withdraw takes the offer back for good: what of it is not fetched by now never will
// be. It gives the bytes that are and were not told of yet.
func (s *largeSend) withdraw() int {
	if s.out.buf == nil {
		return 0
	}
	got := s.slotCredit.fetched.Or(withdrawn)&^withdrawn - s.out.base
	n := min(max(int(got)-s.out.told, 0), len(s.out.buf)-s.out.told)
	s.endOffer()
	return n
}

// part is a piece of a share that the sender has taken: bytes of its offer, and where they go.
type part struct {
	share uint32
	bytes []byte
	to    uint64
}

// claim takes the last piece that is left of the share.
func (s *largeSend) claim() (p part, ok bool, err error) {
	var c claims
	var to, at, size, piece uint64
	for {
		if c = claims(s.share.claims.Load()); c.left() <= 0 {
			return p, false, nil
		}
		to, at, size, piece = s.share.to.Load(), s.share.at.Load(), s.share.size.Load(), s.share.piece.Load()
		if s.share.claims.CompareAndSwap(uint64(c), uint64(c.takeBack())) {
			break
		}
	}
	// The share was this one all the while, so the four belong to it.
	k := uint64(c.back() - 1)
	if n := uint64(len(s.out.buf)); at > n || size > n-at || piece == 0 || piece > mostShare || k*piece >= size {
		return p, false, fmt.Errorf("%w: it wants piece %d of %d bytes of %d bytes from %d on of an offer of %d", driver.ErrProtocol, k, piece, size, at, n)
	}
	first := k * piece
	return part{c.share(), s.out.buf[at+first : at+min(first+piece, size)], to + first}, true, nil
}

// wrote tells the receiver that a piece is written, or could not be.
func (s *largeSend) wrote(p part, ok bool) {
	o := &s.out
	if o.share != p.share {
		o.share, o.pieces = p.share, 0
	}
	if ok {
		o.pieces++
	}
	i := (s.offer - 1) & uint64(len(s.words)-1)
	s.words[i].written.publish(uint64(newWritten(o.share, o.pieces, !ok))) // the look at sleeping comes after it
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
func (r *largeRecv) accept() error {
	w := &r.words[r.head&uint64(len(r.words)-1)]
	address, size := w.address.Load(), w.size.Load()
	switch {
	case !r.copies.able:
		return fmt.Errorf("%w: an offer that was not asked for", driver.ErrProtocol)
	case size == 0 || size > mostOffer:
		return fmt.Errorf("%w: an offer of %d bytes, 1 to %d are possible", driver.ErrProtocol, size, uint64(mostOffer))
	}
	r.in = borrowed{open: true, address: address, size: size, number: r.in.number}
	return nil
}

// startShare makes the next share, which goes to buf; the sender takes part if there is more than
// one piece.
func (r *largeRecv) startShare(buf []byte, piece int) {
	in, s := &r.in, r.rings.share
	pieces := (len(buf) + piece - 1) / piece
	in.buf, in.piece, in.front, in.back, in.done, in.told = buf, piece, 0, pieces, 0, 0
	in.number++
	s.to.Store(process.AddressOf(buf))
	s.at.Store(in.taken)
	s.size.Store(uint64(len(buf)))
	s.piece.Store(uint64(piece))
	c := newClaims(in.number, pieces)
	if !r.helped {
		c = c.takeAll()
	}
	s.claims.Store(uint64(c))
}

// pieceOf gives the size of the pieces of a share of n bytes.
func (r *largeRecv) pieceOf(n int) int {
	if n < r.least {
		return n
	}
	align := pageSize
	if n < 2*pageSize {
		align = lineSize
	}
	half := (n/2 + align - 1) &^ (align - 1)
	return max(min(half, pieceFactor*r.least), (n+mostPieces-1)/mostPieces)
}

// take takes a piece from the front, or, with all, all that is left. It gives the first one.
func (r *largeRecv) take(all bool) (k int, ok bool, err error) {
	in := &r.in
	if !r.helped && in.front < in.back {
		if k = in.front; all {
			in.front = in.back
		} else {
			in.front++
		}
		return k, true, nil
	}
	for in.front < in.back {
		w := r.rings.share.claims.Load()
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
		if r.rings.share.claims.CompareAndSwap(w, uint64(next)) {
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
func (r *largeRecv) settled() (yes bool, left int, err error) {
	in := &r.in
	w := written(r.words[r.head&uint64(len(r.words)-1)].written.Load())
	pieces := in.theirs()
	if !w.covers(in.number, pieces) {
		store(&r.need, uint64(newWritten(in.number, pieces, false)))
		store(&r.waits, waitsPieces)
		return false, -1, nil
	}
	store(&r.waits, 0)
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
func (r *largeRecv) commit(n int) (bool, error) {
	in, fetched := &r.in, &r.slotCredit.fetched
	was := r.fetched
	if !fetched.CompareAndSwap(was, was+uint64(n)) { // a barrier: the look at wantRoom comes after it
		if fetched.Load() != was|withdrawn {
			return false, fmt.Errorf("%w: it changed how much was fetched", driver.ErrProtocol)
		}
		in.open, in.buf = false, nil
		store(&r.waits, waitsSlot)
		return false, nil
	}
	r.fetched = was + uint64(n)
	if in.told += n; in.told < len(in.buf) {
		return true, nil
	}
	in.taken += uint64(len(in.buf))
	in.buf = nil
	if in.taken == in.size {
		in.open = false
		r.release()
	}
	return true, nil
}

// decline has the sender put what was not handed out of the offer into slots.
func (r *largeRecv) decline() {
	r.in.open, r.in.buf = false, nil
	store(&r.waits, waitsSlot)
	r.slotCredit.declined.publish(r.head + 1) // the look at wantRoom comes after it
}
