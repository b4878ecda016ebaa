package nmad

import "github.com/pm2-go/pm2/asm"

// source lets the engine sleep in the kernel on behalf of a rail. It is a
// pioman.Source.
//
// The protocol with the link is in nmad/driver/doc.go, with its argument why no arrival is lost. What a gate adds: while a
// sleeper sleeps, others may poll, send and receive. If one of them finds the link full, only room can move that send on,
// but the sleeper was told to look out for arrivals alone. So when a thread lets go of the lock of a gate with armed
// rails, and something is still to be sent, it arms the rails again, for room (held.rearm). Requests that other threads
// leave while Arm holds the lock end the sleep before it begins; those that they leave while Disarm holds it are handled
// by the poll that follows. Arrivals need no care: what another thread takes in has made the descriptor readable, so the
// sleeper wakes, finds nothing, and looks again.
type source struct{ *rail }

// Descriptor is what to wait for.
func (src source) Descriptor() int { return src.link.Descriptor() }

// Arm asks for an announcement. False: do not sleep, poll.
func (src source) Arm() bool {
	g := src.gate
	h := g.tryLock()
	if h == nil {
		return false // another thread polls, and may find something
	}
	ok := h.arm(src.rail)
	h.drop() // not letGo: nothing was armed for less than is wanted
	return ok && !g.inbox.left() && !g.mu.owed()
}

func (h *held) arm(l *rail) bool {
	if h.end != nil {
		return true // nothing to wait for; the source is about to be removed
	}
	if !l.inactive() || h.woken || h.waiterPolls() || h.unsent(l) || l.fetches() {
		return false
	}
	room := h.wantsRoom(l)
	if !l.link.Arm(room) {
		return false
	}
	l.armed, l.armedRoom = true, room
	h.armed++
	return true
}

// Disarm ends what Arm began. A poll follows, which completes the transfers that are
// copied meanwhile.
func (src source) Disarm() {
	g := src.gate
	h := g.lock()
	if src.armed {
		src.armed, src.deaf = false, false
		h.armed--
		src.link.Disarm()
		if src.index > 0 {
			src.woken, h.woken = true, true
		}
	}
	h.drop()
}

// unsent says whether something could be sent over the small track that the link was not
// asked to take yet.
func (h *held) unsent(l *rail) bool {
	return l.index == 0 && h.flow.Unsent()
}

// wantsRoom says whether something cannot go on until the link has room.
func (h *held) wantsRoom(l *rail) bool {
	return !l.push.stream.Empty() || l.index == 0 && h.flow.WantsRoom()
}

// fetches says that the next bytes are to be read in the peer's memory. No announcement will tell of them.
func (l *rail) fetches() bool { return l.pull.stream.Fetching() && !l.pull.vain }

// rearmOne makes the sleeper of an armed rail look out for room, too, if that is needed by now. A link whose Arm says no
// is not armed any more, and its descriptor tells of nothing: rearmOne handles what was there, and then arms it anew. If a
// transfer is copying, the thread that completes it does that.
func (h *held) rearmOne(l *rail) {
	vain := 0
	for h.end == nil && l.inactive() && (l.deaf || l.fetches() || !l.armedRoom && (h.wantsRoom(l) || h.unsent(l))) {
		if room := h.wantsRoom(l); !l.fetches() && (room || l.deaf && !h.unsent(l)) {
			if l.deaf = !l.link.Arm(room); !l.deaf {
				l.armedRoom = room
				return
			}
			l.armedRoom = false
		}
		moved := h.progress(nil)
		moved = h.copyLocked(l, &l.push) || moved
		moved = h.copyLocked(l, &l.pull) || moved
		if vain++; moved {
			vain = 0
		} else if vain > unwantedAfter {
			h.takeUnwanted(l)
		}
	}
}

// copyLocked moves a piece with the lock held, and says whether bytes have moved.
func (h *held) copyLocked(l *rail, m *transfer) bool {
	if !m.reserve() {
		return false
	}
	l.copy(m)
	return h.completeOne(l, m)
}

// unwantedAfter is how often in a row a link may say that something is there, and nothing can be taken in.
const unwantedAfter = 64

// takeUnwanted takes in bytes of long messages that no receive waits for, because bytes that lie in a link keep it from
// being armed. A side that closes drops them. Else the peer has sent what this side has not asked for, and that ends the
// gate.
func (h *held) takeUnwanted(l *rail) {
	if !l.pull.stream.Empty() || !l.pull.inactive() {
		return
	}
	n, err := l.link.Pull(make([]byte, 64<<10))
	switch {
	case err != nil:
		h.loseRail(l, err)
	case n > 0 && !h.flow.Closing:
		h.fail(violation(h.g.rank, "%d bytes on rail %s of no message that was asked for", n, l.name))
	}
}

// waiterPolls says that a waiter polls for bytes of long messages. If each piece were announced to a sleeper as well, the
// sleeper would take the CPU that both use from the waiter.
func (h *held) waiterPolls() bool { return h.waited != 0 && asm.Cycles() < h.waited }

// rearm makes the sleeper look out for room, too, if that is needed by now. When a link says that something is there
// already, rearm handles it at once, because no other thread is awake for it: packets, room, and also bytes that have
// arrived. Without the bytes two gates could wait here for each other's room for ever. If a transfer is copying, the
// thread that completes it calls rearm again.
func (h *held) rearm() {
	for i := range h.g.rails {
		if l := &h.g.rails[i]; l.armed {
			h.rearmOne(l)
		}
	}
}
