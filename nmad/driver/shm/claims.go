package shm

// claims says which side fetches which pieces of a share: the receiver takes them from the front, the sender from the
// back, until they meet. In one word, so that a piece is taken by one compare-and-swap, and with a number for the
// share, so that a claim that comes late cannot take a piece of the next one.
//
//	bits 32 to 63  number of the share
//	bits 16 to 31  back: the pieces from here on are the sender's
//	bits 0 to 15   front: the pieces before this one are the receiver's
type claims uint64

// maxPieces is how many pieces a share has at most.
const maxPieces = 1<<16 - 1

// newClaims returns the word of a new share of so many pieces, all of which are left.
func newClaims(share uint32, pieces int) claims {
	return claims(share)<<32 | claims(pieces)<<16
}

func (c claims) share() uint32 { return uint32(c >> 32) }
func (c claims) front() int    { return int(c & maxPieces) }
func (c claims) back() int     { return int(c >> 16 & maxPieces) }

// left returns how many pieces are not taken. It is below 0 for a word that no honest side wrote.
func (c claims) left() int { return c.back() - c.front() }

// takeFront and takeBack return the word in which one more piece is taken. There must be one left.
func (c claims) takeFront() claims { return c + 1 }
func (c claims) takeBack() claims  { return c - 1<<16 }

// takeAll returns the word in which the receiver has taken all pieces that were left.
func (c claims) takeAll() claims { return c + claims(c.left()) }

// written is what the sender has done of a share.
//
//	bits 32 to 63  number of the share
//	bit 16         it cannot write there, and has not written the last piece that it took
//	bits 0 to 15   pieces written
type written uint64

// newWritten returns the word that says how many pieces of a share are written, and whether the next one failed.
func newWritten(share uint32, pieces int, failed bool) written {
	w := written(share)<<32 | written(pieces)
	if failed {
		w |= 1 << 16
	}
	return w
}

func (w written) share() uint32 { return uint32(w >> 32) }
func (w written) pieces() int   { return int(w & maxPieces) }
func (w written) failed() bool  { return w>>16&1 != 0 }

// covers reports whether the sender, which has taken so many pieces of that share, has finished all of them, by
// writing them or by failing.
func (w written) covers(share uint32, pieces int) bool {
	return pieces == 0 || w.share() == share && (w.failed() || w.pieces() >= pieces)
}
