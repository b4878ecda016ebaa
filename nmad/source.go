package nmad

import "github.com/pm2-go/pm2/asm"

// source lets the engine sleep in the kernel on behalf of a rail. It is a
// pioman.Source.
//
// The protocol with the link is in nmad/driver/doc.go, with its argument why no
// arrival is lost. What a gate adds: while a sleeper sleeps, others may poll,
// send and receive. If one of them finds the link full, only room can move that
// send on, but the sleeper was told to look out for arrivals alone. So a thread that
// lets the lock of a gate with armed rails go with something to send arms again, for
// room (rails.rearm). Requests that others have left meanwhile, finding the lock held by Arm, end
// the sleep before it begins; those that find it held by Disarm are for the poll that
// follows. Arrivals need nothing: what another thread takes in has made the
// descriptor readable, so the sleeper wakes for nothing and looks again.
type source struct{ *rail }

// Descriptor is what to wait for.
func (s source) Descriptor() int { return s.link.Descriptor() }

// Arm asks for an announcement. False: do not sleep, poll.
func (s source) Arm() bool {
	g := s.gate
	if !g.mu.tryLock() {
		return false // another thread polls, and may find something
	}
	ok := s.arm()
	g.mu.unlock() // not letGo: nothing was armed for less than is wanted
	return ok && !g.inbox.left() && !g.mu.owed()
}

func (l *rail) arm() bool {
	g := l.gate
	if g.life.end != nil {
		return true // nothing to wait for; the source is about to be removed
	}
	if !l.inactive() || g.rails.woken || g.rails.waiterPolls() || l.unsent() || l.fetches() {
		return false
	}
	room := l.wantsRoom()
	if !l.link.Arm(room) {
		return false
	}
	l.armed, l.armedRoom = true, room
	g.rails.armed++
	return true
}

// Disarm ends what Arm began. A poll follows, which completes the transfers that are
// copied meanwhile.
func (s source) Disarm() {
	g := s.gate
	g.mu.lock()
	if s.armed {
		s.armed, s.deaf = false, false
		g.rails.armed--
		s.link.Disarm()
		if s.index > 0 {
			s.woken, g.rails.woken = true, true
		}
	}
	g.mu.unlock()
}

// unsent says whether something could be sent over the small track that the link was not
// asked to take yet.
func (l *rail) unsent() bool {
	g := l.gate
	return l.index == 0 && g.flow.Unsent()
}

// wantsRoom says whether something cannot go on until the link has room.
func (l *rail) wantsRoom() bool {
	g := l.gate
	return !l.push.stream.Empty() || l.index == 0 && g.flow.WantsRoom()
}

// fetches says that what comes next is to be read in the peer's memory, which no announcement will tell of.
func (l *rail) fetches() bool { return l.pull.stream.Fetching() && !l.pull.vain }

// rearm makes the sleeper of an armed rail look out for room, too, if that is needed by now. A link whose Arm says no has taken back what
// it was armed for before, and its descriptor tells of nothing any more: it is armed anew once what was there is dealt with. If a
// transfer is copying that is for the thread that completes it.
func (l *rail) rearm() {
	g := l.gate
	for g.life.end == nil && l.inactive() && (l.deaf || l.fetches() || !l.armedRoom && (l.wantsRoom() || l.unsent())) {
		if room := l.wantsRoom(); !l.fetches() && (room || l.deaf && !l.unsent()) {
			if l.deaf = !l.link.Arm(room); !l.deaf {
				l.armedRoom = room
				return
			}
			l.armedRoom = false
		}
		g.progress(nil)
		l.copyLocked(&l.push)
		l.copyLocked(&l.pull)
	}
}

// copyLocked moves a piece with the lock held.
func (l *rail) copyLocked(m *transfer) {
	if m.reserve() {
		l.copy(m)
		l.complete(m)
	}
}

// waiterPolls says that a waiter polls for bytes of long messages: to be announced to a sleeper besides, each
// piece would cost the waiter the CPU that both use.
func (x *rails) waiterPolls() bool { return x.waited != 0 && asm.Cycles() < x.waited }

// rearm makes the sleeper look out for room, too, if that is needed by now. When
// a link says that there is something already, that is dealt with at once,
// here, since no other thread is awake for it: packets, room, and also bytes that have arrived, or
// two gates that wait here for each other's room would do so for ever. If a transfer is copying,
// the thread that completes it comes here again.
func (x *rails) rearm() {
	for i := range x.all {
		if l := &x.all[i]; l.armed {
			l.rearm()
		}
	}
}
