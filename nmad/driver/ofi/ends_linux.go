//go:build ofi && cgo

package ofi

import (
	"time"

	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

const (
	// lookEvery is how many calls in vain there are to a look at the control connection, which is a system call.
	lookEvery = 256
	// grace is how long what a peer has sent may take to arrive after its control connection has ended.
	grace = 100 * time.Millisecond
	// patience is how long a link that was closed tries to tell the peer, and to get rid of what was sent.
	patience = 500 * time.Millisecond
	// briefly is for how long of that Close waits itself.
	briefly = 100 * time.Microsecond
)

// countIdle counts a call that moved nothing. Now and then it looks whether the peer is still there.
func (l *link) countIdle(vain *uint32) {
	if *vain++; *vain%lookEvery != 0 && l.nap.look.Load() == 0 {
		return
	}
	if l.peerGoneAt.Load() != 0 || !l.port.try() {
		return
	}
	l.nap.look.Store(0)
	if !l.freed && l.bell.HungUp(l.sock) {
		l.depart()
	}
	l.port.release()
}

// depart notes that the peer has ended, or has closed the link. What the peer sent before may still come.
func (l *link) depart() {
	_ = l.Lose(nil)
	l.peerGoneAt.CompareAndSwap(0, int64(time.Since(start))|1)
}

// lose notes that the link has failed, and gives the error of all later calls.
func (l *link) lose(err error) error {
	if err := l.closed(); err != nil {
		return err
	}
	err = l.Lose(err)
	l.peerGoneAt.CompareAndSwap(0, int64(time.Since(start))|1)
	l.ring()
	return err
}

// lost is the error of a link that is lost. State has Lost.
func (l *link) lost() error { return l.Why(l.State.Load()) }

// closed is the error of a link that this side has closed, or whose peer has violated the protocol; nil: neither.
func (l *link) closed() error {
	if s := l.State.Load(); s&(life.Closed|life.Broken) != 0 {
		return l.Why(s)
	}
	return nil
}

// ended is the error of a link whose peer has gone and of which nothing is to come; nil: the link has not
// ended. Nothing comes behind the peer's goodbye, which it sends when all its windows are used up, or of no use
// any more.
func (l *link) ended() error {
	err := l.closed()
	if err == nil && l.peerGoneAt.Load() != 0 && (l.over() || l.bye.Load() != 0) {
		err = l.lost()
	}
	return err
}

// violated breaks the link, since the peer has violated the protocol, and gives the error of all later calls.
func (l *link) violated(err error) error {
	err = l.Break(err)
	l.State.Or(life.Broken) // if this side has closed it, too: its goodbye waits for nothing of such a peer
	l.ring()
	return err
}

// finish ends a link that this side has closed: at once if nothing is left to do, as is usual; else a goroutine
// goes on for patience.
func (l *link) finish() {
	if l.part(briefly) {
		return
	}
	l.port.lingers.Add(1)
	go func() {
		defer l.port.lingers.Add(-1)
		if !l.part(patience) {
			l.port.take()
			l.leave()
			l.port.release()
		}
	}()
}

// part says goodbye behind all that was sent, and frees the link once the goodbye is on its way; false: not
// within that time.
func (l *link) part(within time.Duration) bool {
	p := l.port
	for end := time.Now().Add(within); ; {
		p.take()
		over := l.parted()
		if !over {
			p.poll()
			over = l.parted()
		}
		if over {
			l.leave()
		}
		p.release()
		if over || time.Now().After(end) {
			return over
		}
		if within > briefly {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// parted takes the next step of a goodbye, and reports whether it was the last one. Under lock.
func (l *link) parted() bool {
	l.withdraw()
	if l.port.failed != nil || l.State.Load()&life.Broken != 0 || !l.greeted || l.over() {
		return true
	}
	peerGone := l.peerGoneAt.Load() != 0
	if !peerGone && !l.parting {
		ok, err := l.emit(kindBye, nil, true)
		l.parting = ok || err != nil
	}
	// The peer may finish its read first: if the window is taken away meanwhile, it loses the connection, and all
	// links with that.
	if l.transfers > 0 || !peerGone && l.out.offered.Load() != l.out.taken.Load() {
		return false
	}
	return peerGone || l.parting && l.pending == 0
}

// leave frees what the link has. If the provider does not end the link's transfers, the link keeps its number, and
// their buffers pinned, until they end. A peer that has not said goodbye may be in the middle of a write. Under lock.
func (l *link) leave() {
	p := l.port
	for slot, o := range p.owners {
		if o == l {
			p.owners[slot] = nil
		}
	}
	if l.out.open() {
		l.out.close()
	}
	writable := len(l.exposed) > 0
	for x := range l.exposed {
		x.close()
	}
	p.resume() // which ends those that wait
	if (l.transfers > 0 || writable && l.bye.Load() == 0) && !l.severed {
		p.forget(l)
	}
	l.freed = true
	if l.peerGoneAt.Load() != 0 && l.bye.Load() == 0 && p.f.shm() {
		process.RemoveFiles()
	}
	if l.nap.armed.Swap(noArm) != noArm {
		l.slept()
	}
	l.shut()
	if l.transfers == 0 { // else the provider has buffers, and the last of them to end drops the link
		p.drop(l)
	}
}
