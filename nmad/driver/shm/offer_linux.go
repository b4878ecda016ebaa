package shm

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// closeTimeout is how long Close waits for a peer that is just writing into a buffer of ours before it ends that
// process. It takes some microseconds, unless the peer was stopped.
const closeTimeout = time.Second

// pushOffer makes an offer, or goes on with the current one.
func (l *link) pushOffer(buf []byte) (sent int, err error) {
	t := &l.largeTx
	if t.current.buf == nil {
		ok, err := t.makeOffer(buf)
		if ok && l.peerFlags.sleeping.Load() != 0 {
			l.wake(life.Push, &l.pushDir, &l.peerFlags.sleeping)
		}
		return 0, err
	}
	sent, back, err := t.progress(len(buf))
	if sent == 0 && err == nil && l.writer.PID != 0 {
		if err = l.help(); err == nil {
			sent, back, err = t.progress(len(buf))
		}
	}
	if back && l.peerFlags.sleeping.Load() != 0 {
		l.wake(life.Push, &l.pushDir, &l.peerFlags.sleeping)
	}
	return sent, err
}

// help writes pieces of the offer into the receiver's memory, from the end, while some are left.
func (l *link) help() error {
	if claims(l.largeTx.share.claims.Load()).left() <= 0 {
		return nil
	}
	// The call counts as in flight, so that Close does not close the socket while a piece is being written. The
	// receiver would take that for the end of all writing.
	if !l.Enter(life.Push) {
		return nil
	}
	defer l.Leave(life.Push)
	if !l.present(life.Push, &l.pushDir) {
		return nil
	}
	for done := 0; done < atOnce; {
		p, ok, err := l.largeTx.claim()
		if !ok {
			return err
		}
		_, errno := l.writer.Write(p.bytes, p.to)
		done += len(p.bytes)
		if errno != 0 {
			l.writer.PID = 0 // the receiver does without from now on
		}
		l.publishWritten(p, errno == 0)
		if errno != 0 {
			break
		}
	}
	return nil
}

// publishWritten tells the receiver that a piece is written, or could not be, and wakes it.
func (l *link) publishWritten(p claimedPiece, ok bool) {
	l.largeTx.publishWritten(p, ok)
	if l.peerFlags.sleeping.Load() != 0 {
		l.wake(life.Push, &l.pushDir, &l.peerFlags.sleeping)
	}
}

// pullOffer goes on with the offer at the head of the ring.
func (l *link) pullOffer(buf []byte) (got int, err error) {
	l.sharing.Lock()
	defer l.sharing.Unlock()
	r, in := &l.largeRx, &l.largeRx.current
	if l.State.Load()&life.Closed != 0 || in.peerGone {
		return 0, nil // the next call says why
	}
	if !in.open {
		if err := r.acceptOffer(); err != nil {
			return 0, err
		}
	}
	r.copies.via[byOffer] = true
	if in.buf == nil {
		left := in.size - in.taken
		n := int(min(uint64(len(buf)), left, maxShare))
		if uint64(n) < left && n < r.minShare/2 {
			// A system call for each of many short buffers would cost more than it saves.
			if r.copies.offerUseless(int(in.size)) {
				r.slotCredit.offers.Store(r.copies.offers)
			}
			l.decline()
			return 0, nil
		}
		r.startShare(buf[:n], r.pieceOf(n))
	}
	if err := l.fetchShare(); err != nil || in.buf == nil {
		return 0, err
	}
	if got = min(in.arrived-in.handedOut, len(buf)); got == 0 {
		return 0, nil
	}
	// Looked at after the bytes were fetched: they are of the peer, and not of a process that has its number now.
	if !l.present(life.Pull, &l.pullDir) {
		return 0, nil
	}
	if from := in.buf[in.handedOut : in.handedOut+got]; process.AddressOf(buf) != process.AddressOf(from) {
		copy(buf, from) // not the rest of the buffer that was given before, but another one
	}
	ok, err := r.handOut(got)
	if !ok {
		return 0, err
	}
	if l.peerFlags.wantRoom.Load() != 0 {
		l.wake(life.Pull, &l.pullDir, &l.peerFlags.wantRoom)
	}
	return got, nil
}

// fetchShare reads pieces of the share, and notes when all have arrived.
func (l *link) fetchShare() error {
	r, in := &l.largeRx, &l.largeRx.current
	if in.arrived == len(in.buf) {
		return nil
	}
	for end := in.arrived + atOnce; in.arrived < end; {
		if l.State.Load()&life.Closed != 0 {
			return nil
		}
		k, ok, err := r.claim(false)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if done, err := l.readPiece(k); !done {
			return err
		}
		_, in.arrived = in.span(k)
	}
	if in.front < in.back {
		return nil
	}
	yes, left, err := r.senderDone()
	if !yes {
		return err
	}
	if left >= 0 {
		if done, err := l.readPiece(left); !done {
			return err
		}
	}
	in.arrived = len(in.buf)
	return nil
}

// readPiece reads piece k. It returns false if it cannot: then either the peer is ending, or the offer is declined.
func (l *link) readPiece(k int) (bool, error) {
	r, in := &l.largeRx, &l.largeRx.current
	from, to := in.span(k)
	switch _, errno := l.reader.Read(in.buf[from:to], in.address+in.taken+uint64(from)); errno {
	case 0:
		return true, nil
	case unix.ESRCH:
		in.peerGone = true
		l.State.Or(lookAtOnce) // its socket is closed in a moment
		return false, nil
	}
	if _, _, err := r.claim(true); err != nil {
		return false, err
	}
	r.slotCredit.offers.Store(r.copies.setCanRead(false))
	l.decline()
	return false, nil
}

// decline declines the offer and wakes the sender.
func (l *link) decline() {
	l.largeRx.decline()
	if l.peerFlags.wantRoom.Load() != 0 {
		l.wake(life.Pull, &l.pullDir, &l.peerFlags.wantRoom)
	}
}

// present reports whether the peer was there a moment ago. Then its process number is not another process's yet:
// numbers are given out in turn, and all of them are too many for the interval at which the link looks for its
// peer.
func (l *link) present(as life.Caller, h *direction) bool {
	if l.State.Load()&life.Lost != 0 {
		return false
	}
	if asm.Cycles()-l.lastPeerCheck.Load() < l.interval {
		return true
	}
	return !l.checkPeer(as, h)
}

// ReturnPush implements driver.Link: an offer that is out is withdrawn.
func (l *link) ReturnPush() (int, bool) {
	n := 0
	if l.State.Load()&life.Closed == 0 {
		n = l.largeTx.withdraw()
	}
	runtime.KeepAlive(l)
	return n, true
}

// ReturnPull implements driver.Link: the sender can take no more pieces, and those that it has taken are awaited, or,
// with evict, its process is ended.
func (l *link) ReturnPull(evict bool) (int, bool) {
	l.sharing.Lock()
	defer l.sharing.Unlock()
	ok := l.State.Load()&life.Closed != 0 || l.endShare(evict)
	runtime.KeepAlive(l)
	return 0, ok
}

// endShare ends the current share, and reports whether the peer does not write into the buffer any more. Of a peer
// that has violated the protocol it cannot know.
func (l *link) endShare(evict bool) bool {
	r, in := &l.largeRx, &l.largeRx.current
	if in.buf == nil {
		return true
	}
	quiet := !r.senderHelps
	if _, _, err := r.claim(true); err == nil && !quiet && l.State.Load()&life.Broken == 0 {
		quiet, _, err = r.senderDone()
		quiet = quiet && err == nil
	}
	if !quiet && !l.checkPeer(life.Pull, &l.pullDir) && !(evict && l.evict()) {
		return false
	}
	in.open, in.buf = false, nil
	relaxed.Store(&r.waitsFor, waitsSlot)
	return true
}

// endOffers is for Close, while other callers may be in the link.
func (l *link) endOffers() {
	l.largeTx.slotCredit.fetched.Or(withdrawn)
	l.largeTx.slotCredit.hidden.Store(1)
	for began := time.Now(); ; time.Sleep(20 * time.Microsecond) {
		spent := time.Since(began)
		l.sharing.Lock()
		ok := l.endShare(spent > closeTimeout)
		l.sharing.Unlock()
		if ok || spent > 2*closeTimeout {
			return
		}
	}
}

// setPeer sets what a new link does for long messages. pid is the peer if its memory can be read, else 0.
func (l *link) setPeer(pid int, w longPaths) {
	l.reader.PID, l.writer.PID = pid, pid
	l.largeTx.minOffer, l.largeRx.minShare = w.minOffer, w.minOffer
	l.largeRx.copies.policy = w.policy
	l.largeRx.senderHelps = pid != 0 && !w.receiverOnly && evictable(pid)
	l.fetches = pid != 0 && w.policy != copyTwo
	l.exposes = w.receiverOnly && w.policy != copyTwo
	l.largeRx.slotCredit.offers.Store(l.largeRx.copies.setCanRead(l.fetches))
}
