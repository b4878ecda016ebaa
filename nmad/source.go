package nmad

// source lets the engine sleep in the kernel on behalf of a gate. It is a
// pioman.Source.
//
// The protocol with the link is in nmad/driver/doc.go, with its argument why no
// arrival is lost. What a gate adds: while somebody sleeps, others may poll,
// send and receive. If one of them finds the link full, only room can move that
// send on, but the sleeper was told to look out for arrivals alone. So whoever
// lets the lock of an armed gate go with something to send arms again, for room
// (Gate.rearm). Requests that others have left meanwhile, finding the lock held by Arm, end
// the sleep before it begins; those that find it held by Disarm are for the poll that
// follows. Arrivals need nothing: what somebody else takes in has made the
// descriptor readable, so the sleeper wakes for nothing and looks again.
type source struct{ g *Gate }

// Descriptor is what to wait for.
func (s source) Descriptor() int { return s.g.link.Descriptor() }

// Arm asks for an announcement. False: do not sleep, poll.
func (s source) Arm() bool {
	g := s.g
	if !g.mu.tryLock() {
		return false // somebody polls, and may find something
	}
	ok := g.arm()
	g.mu.unlock() // not release: nothing was armed for less than is wanted
	return ok && !g.left()
}

func (g *Gate) arm() bool {
	if g.end != nil {
		return true // nothing to wait for; the source is about to be removed
	}
	if !g.pull.resting() || !g.push.resting() || g.unsent() {
		return false
	}
	room := g.wantsRoom()
	if !g.link.Arm(room) {
		return false
	}
	g.armed, g.armedRoom = true, room
	return true
}

// Disarm ends what Arm began. A poll follows, which takes home what may land
// meanwhile.
func (s source) Disarm() {
	g := s.g
	g.mu.lock()
	if g.armed {
		g.armed = false
		g.link.Disarm()
	}
	g.mu.unlock()
}

// unsent says whether something could be sent that the link was not asked to take
// yet.
func (g *Gate) unsent() bool {
	return !g.tx.refused && g.waiting() && !g.stalled()
}

// wantsRoom says whether something cannot go on until the link has room.
func (g *Gate) wantsRoom() bool {
	return g.tx.refused && g.waiting() || g.tx.unflushed || !g.push.queue.empty()
}

// rearm makes the sleeper look out for room, too, if that is needed by now. When
// the link says that there is something already, that is dealt with at once,
// here, since nobody else is awake for it.
func (g *Gate) rearm() {
	for !g.armedRoom && g.end == nil && g.push.resting() && (g.wantsRoom() || g.unsent()) {
		if g.wantsRoom() && g.link.Arm(true) {
			g.armedRoom = true
			return
		}
		g.progress(nil)
		if g.push.take() {
			g.carry(&g.push)
			g.home(&g.push)
		}
	}
}
