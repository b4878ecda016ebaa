package flow

// Network is what a flow reaches beyond itself: the small track of the first rail, and the memory and the inbox of its
// owner. Its methods are called inside of Drain, Gather, Flush and Packet.
type Network interface {
	// Emit hands a packet to the link; more: a Flush follows. False: the link has no room.
	Emit(p *Packet, more bool) (bool, error)
	// Flush moves the driver's buffered bytes on, and says whether none are left. The flow calls it only if the link
	// buffers.
	Flush() (bool, error)
	// View is a message of that many bytes at that place in the peer's memory; nil: it cannot be mapped. card names that
	// memory the first time, and is empty later. The error says how the peer has broken the protocol.
	View(card []byte, place, size uint64) ([]byte, error)
	// Begin begins the receives that wait to be begun, by Receive and Post, and returns the age of which all receives from
	// any source may be compared with what has come (match.Any.Now).
	Begin() (age uint64)
}

// Drain sends the packets that wait, until the network has no room. If that is cheaper, they leave together at the end,
// after which the driver's buffer is empty. A packet that waits in the flow can be overtaken by one that the strategy
// prefers; one in the driver's buffer cannot. The error is the network's.
func (f *Flow) Drain(n Network) error {
	f.tx.refused, f.tx.late = false, 0
	f.tx.batched = f.tx.caps.Syscalls && !f.unflushed() && !f.alone()
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
		f.taken()
	}
	_, err := f.Flush(n)
	return err
}

// Flush moves the driver's buffered bytes on, and says whether none are left.
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
		f.gone()
	}
	return all, nil
}

// Company is what the owner of a flow knows of threads that may send soon.
type Company struct {
	Woken int  // threads that it has woken and that have not run since
	Ready bool // some of them can run where the caller does
	Alone bool // the message is not to be put with others
}

// Gather takes a message in the context Plain that could leave with Short. It puts the message together with others that
// wait, or lets it wait for others. If it does neither, the messages that wait leave first. The error is the network's.
func (f *Flow) Gather(tag uint64, buf []byte, c Company, n Network) (gathered bool, err error) {
	if !f.clear(len(buf)) || f.Lacks(len(buf)) {
		return false, nil
	}
	if !c.Alone && f.joins(tag, len(buf), c) {
		f.Stats.Sends++
		if f.gather(tag, buf, c) {
			err = f.Drain(n)
		}
		return true, err
	}
	if f.Gathered() {
		err = f.Drain(n)
	}
	return false, err
}
