package flow

// Network is what a flow reaches beyond itself: the small track of the first rail, and the memory and the inbox of its owner. Its methods are called
// inside of Drain, Gather, Flush and Packet.
type Network interface {
	// Emit hands a packet to the link; more: a Flush follows. False: the link has no room.
	Emit(p *Packet, more bool) (bool, error)
	// Flush moves the driver's buffered bytes on, and says whether none are left. The flow calls it only if the link buffers.
	Flush() (bool, error)
	// View is a message of that many bytes at that place in the peer's memory; nil: it cannot be mapped. card names that memory the first time, and is empty later.
	// The error says how the peer has broken the protocol.
	View(card []byte, place, size uint64) ([]byte, error)
	// Begin begins the receives that wait to be begun, by Receive and Post, and returns the age of which all receives from any source may
	// be compared with what has come (match.Any.Now).
	Begin() (age uint64)
}

// Drain has the packets that wait leave, until the network has no room. All leave together at the end, where that is cheaper, and the driver's buffer is
// empty. What waits here can be overtaken by what the strategy prefers; what waits there cannot. The error is the network's.
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

// Gather puts a message in the context Plain that could leave with Short with others that wait, or has it wait for such. If it does neither, what
// waits leaves before. The error is the network's.
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
