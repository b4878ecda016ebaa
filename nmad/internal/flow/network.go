package flow

// Network is what a flow calls: the small track of the first rail, and the memory and the inbox of its gate. The flow
// calls it only inside of Drain, Gather, Flush and Packet.
type Network interface {
	// Emit hands a packet to the link. It returns false if the link has no room. With more a Flush follows, so the
	// link may keep the packet until then.
	Emit(p *Packet, more bool) (bool, error)
	// Flush hands the driver's buffered bytes to the kernel, and reports whether none are left. The flow calls it only
	// if the link buffers (driver.Caps.Buffered).
	Flush() (bool, error)
	// View returns the message of size bytes at the offset place in the peer's memory; nil if that memory cannot be
	// mapped. locator names the memory in the first call, and is empty in later ones. An error says how the peer has
	// broken the protocol.
	View(locator []byte, place, size uint64) ([]byte, error)
	// Begin begins the receives that other threads have left for the holder of the lock, by Receive and Post. It
	// returns the age up to which receives from any source may be compared with the message that has come
	// (match.AnyList.Now).
	Begin() (age uint64)
}

// Drain sends the packets that wait, until the link has no room. If each packet costs a system call, they leave
// together at the end, by Flush. Drain keeps packets in the flow as long as the link has no room, since the strategy
// may still put another message before them; in the driver's buffer it could not. The error is the network's.
func (f *Flow) Drain(n Network) error {
	f.tx.noRoom, f.tx.deferrals = false, 0
	f.tx.batched = f.tx.caps.Syscalls && !f.unflushed() && !f.onlyOneMessage()
	for p := f.next(); p != nil; p = f.next() {
		ok, err := n.Emit(p, f.tx.batched)
		if err != nil {
			f.Refused()
			return err
		}
		if !ok {
			f.Refused()
			break
		}
		f.packetTaken()
	}
	_, err := f.Flush(n)
	return err
}

// Flush hands the driver's buffered bytes to the kernel, and ends the sends that waited for that (leaving.go). It
// reports whether no bytes are left. The error is the network's.
func (f *Flow) Flush(n Network) (all bool, err error) {
	if !f.tx.caps.Buffered {
		return true, nil
	}
	return f.flush(n)
}

func (f *Flow) flush(n Network) (all bool, err error) {
	if all, err = n.Flush(); err != nil {
		return false, err
	}
	f.tx.batched = false
	if f.setUnsent(unsentBytes, !all); all {
		f.endLeaving()
	}
	return all, nil
}

// WaitingSenders is what the gate knows about threads that are about to send.
type WaitingSenders struct {
	Woken int  // number of threads that the gate has woken and that have not run since
	Ready bool // some of them are ready on the caller's VP
	Alone bool // the message must not share a packet with others
}

// Gather takes a message in the DefaultContext that could leave by ShortHeader: it adds the message to the open packet
// (gather.go), or opens one, and returns true. If the message is to leave by itself, Gather sends the open packet
// first, and returns false. The error is the network's.
func (f *Flow) Gather(tag uint64, buf []byte, c WaitingSenders, n Network) (gathered bool, err error) {
	if !f.canLeave(len(buf)) || f.LacksCredit(len(buf)) {
		return false, nil
	}
	if !c.Alone && f.mayGather(tag, len(buf), c) {
		f.Stats.Sends++
		if f.gather(tag, buf, c) {
			err = f.Drain(n)
		}
		return true, err
	}
	if f.HasGathered() {
		err = f.Drain(n)
	}
	return false, err
}
