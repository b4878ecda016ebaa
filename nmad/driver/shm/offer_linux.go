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

// closeTimeout is how long Close waits for a peer that is just writing into a buffer
// of ours before it ends that process. It takes some microseconds, unless the peer was stopped.
const closeTimeout = time.Second

// pushOffer makes an offer, or goes on with the one that is out.
func (l *link) pushOffer(buf []byte) (sent int, err error) {
	t := &l.lt
	if t.out.buf == nil {
		ok, err := t.propose(buf)
		if ok && l.theirs.sleeping.Load() != 0 {
			l.wake(life.Push, &l.hp, &l.theirs.sleeping)
		}
		return 0, err
	}
	sent, back, err := t.settle(len(buf))
	if sent == 0 && err == nil && l.writer.PID != 0 {
		if err = l.help(); err == nil {
			sent, back, err = t.settle(len(buf))
		}
	}
	if back && l.theirs.sleeping.Load() != 0 {
		l.wake(life.Push, &l.hp, &l.theirs.sleeping)
	}
	return sent, err
}

// help writes pieces of the offer into the receiver's memory, from the end, as long as
// some are left.
func (l *link) help() error {
	if claims(l.lt.share.claims.Load()).left() <= 0 {
		return nil
	}
	// The call counts as in flight, so that Close does not close the socket while a piece is being written. The
	// receiver would take that for the end of all writing.
	if !l.Enter(life.Push) {
		return nil
	}
	defer l.Leave(life.Push)
	if !l.present(life.Push, &l.hp) {
		return nil
	}
	for done := 0; done < atOnce; {
		p, ok, err := l.lt.claim()
		if !ok {
			return err
		}
		_, errno := l.writer.Write(p.bytes, p.to)
		done += len(p.bytes)
		if errno != 0 {
			l.writer.PID = 0 // the receiver does without from now on
		}
		l.wrote(p, errno == 0)
		if errno != 0 {
			break
		}
	}
	return nil
}

// wrote tells the receiver that a piece is written, or could not be.
func (l *link) wrote(p claimedPiece, ok bool) {
	l.lt.wrote(p, ok)
	if l.theirs.sleeping.Load() != 0 {
		l.wake(life.Push, &l.hp, &l.theirs.sleeping)
	}
}

// pullOffer goes on with the offer at the head of the ring.
func (l *link) pullOffer(buf []byte) (got int, err error) {
	l.sharing.Lock()
	defer l.sharing.Unlock()
	r, in := &l.lr, &l.lr.in
	if l.State.Load()&life.Closed != 0 || in.gone {
		return 0, nil // the next call says why
	}
	if !in.open {
		if err := r.accept(); err != nil {
			return 0, err
		}
	}
	r.copies.came[byOffer] = true
	if in.buf == nil {
		left := in.size - in.taken
		n := int(min(uint64(len(buf)), left, mostShare))
		if uint64(n) < left && n < r.least/2 {
			// A system call for each of many short buffers would cost more than it saves.
			if r.copies.hopeless(int(in.size)) {
				r.slotCredit.ways.Store(r.copies.ways)
			}
			l.decline()
			return 0, nil
		}
		r.startShare(buf[:n], r.pieceOf(n))
	}
	if err := l.fetch(); err != nil || in.buf == nil {
		return 0, err
	}
	if got = min(in.done-in.told, len(buf)); got == 0 {
		return 0, nil
	}
	// Looked at after the bytes were fetched: they are of the peer, and not of a process that
	// has its number now.
	if !l.present(life.Pull, &l.hl) {
		return 0, nil
	}
	if from := in.buf[in.told : in.told+got]; process.AddressOf(buf) != process.AddressOf(from) {
		copy(buf, from) // not the rest of the buffer that was given before, but another one
	}
	ok, err := r.commit(got)
	if !ok {
		return 0, err
	}
	if l.theirs.wantRoom.Load() != 0 {
		l.wake(life.Pull, &l.hl, &l.theirs.wantRoom)
	}
	return got, nil
}

// fetch reads pieces of the share, and sees whether all are there.
func (l *link) fetch() error {
	r, in := &l.lr, &l.lr.in
	if in.done == len(in.buf) {
		return nil
	}
	for end := in.done + atOnce; in.done < end; {
		if l.State.Load()&life.Closed != 0 {
			return nil
		}
		k, ok, err := r.take(false)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if done, err := l.read(k); !done {
			return err
		}
		_, in.done = in.span(k)
	}
	if in.front < in.back {
		return nil
	}
	yes, left, err := r.settled()
	if !yes {
		return err
	}
	if left >= 0 {
		if done, err := l.read(left); !done {
			return err
		}
	}
	in.done = len(in.buf)
	return nil
}

// read fetches piece k. If it cannot be, the offer is declined, or nothing more comes
// of it as the peer is ending.
func (l *link) read(k int) (bool, error) {
	r, in := &l.lr, &l.lr.in
	from, to := in.span(k)
	switch _, errno := l.reader.Read(in.buf[from:to], in.address+in.taken+uint64(from)); errno {
	case 0:
		return true, nil
	case unix.ESRCH:
		in.gone = true
		l.State.Or(lookAtOnce) // its socket is closed in a moment
		return false, nil
	}
	if _, _, err := r.take(true); err != nil {
		return false, err
	}
	r.slotCredit.ways.Store(r.copies.allow(false))
	l.decline()
	return false, nil
}

// decline sends an offer back.
func (l *link) decline() {
	l.lr.decline()
	if l.theirs.wantRoom.Load() != 0 {
		l.wake(life.Pull, &l.hl, &l.theirs.wantRoom)
	}
}

// present says whether the peer was there a moment ago: its number in the system is then
// not another process's yet, as numbers are given out in turn, and all of them within
// the interval at which the link looks for its peer are too many.
func (l *link) present(as life.Caller, h *hand) bool {
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
		n = l.lt.withdraw()
	}
	runtime.KeepAlive(l)
	return n, true
}

// ReturnPull implements driver.Link: the sender can take no more pieces, and those that
// it has taken are awaited, or, with evict, its process is ended.
func (l *link) ReturnPull(evict bool) (int, bool) {
	l.sharing.Lock()
	defer l.sharing.Unlock()
	ok := l.State.Load()&life.Closed != 0 || l.returned(evict)
	runtime.KeepAlive(l)
	return 0, ok
}

// returned ends the share, and says whether the peer does not write any more into the
// buffer. Which pieces a peer has that has violated the protocol, it cannot tell.
func (l *link) returned(evict bool) bool {
	r, in := &l.lr, &l.lr.in
	if in.buf == nil {
		return true
	}
	quiet := !r.helped
	if _, _, err := r.take(true); err == nil && !quiet && l.State.Load()&life.Broken == 0 {
		quiet, _, err = r.settled()
		quiet = quiet && err == nil
	}
	if !quiet && !l.checkPeer(life.Pull, &l.hl) && !(evict && l.evict()) {
		return false
	}
	in.open, in.buf = false, nil
	relaxed.Store(&r.waits, waitsSlot)
	return true
}

// endOffers is for Close, while other callers may be inside.
func (l *link) endOffers() {
	l.lt.slotCredit.fetched.Or(withdrawn)
	l.lt.slotCredit.hidden.Store(1)
	for began := time.Now(); ; time.Sleep(20 * time.Microsecond) {
		spent := time.Since(began)
		l.sharing.Lock()
		ok := l.returned(spent > closeTimeout)
		l.sharing.Unlock()
		if ok || spent > 2*closeTimeout {
			return
		}
	}
}

// meet tells a new link which process its peer is, if its memory can be read, else 0.
func (l *link) meet(pid int, w longWays) {
	l.reader.PID, l.writer.PID = pid, pid
	l.lt.least, l.lr.least = w.least, w.least
	l.lr.copies.policy = w.policy
	l.lr.helped = pid != 0 && !w.alone && evictable(pid)
	l.fetches = pid != 0 && w.policy != copyTwo
	l.exposes = w.alone && w.policy != copyTwo
	l.lr.slotCredit.ways.Store(l.lr.copies.allow(l.fetches))
}
