package flow

// Leaving: over a socket the driver copies a packet into its buffer, and the kernel may take a part of it
// only. Only a thread that polls this gate moves the rest on, so a send is not done before the kernel has all of
// it: its owner may never look at the gate again, nor any other thread, and its receiver would wait for ever.
//
//	         the link takes the packet             Flush: nothing is left; or the link takes a
//	queued ---------------------------> leaving --- packet behind it, which it does not before ---> done
//	   |                                   |
//	   |  and nothing is left of it        '------- the gate ends -------> done, failed
//	   '------------------------------------------------------------------> done
//
// Packets of a batch lie in the buffer until the flush at its end: they leave together. A receive that asks for 0 bytes of
// an announced message is done when its RTR has left the buffer, or the gate ends. The rest of a control packet may stay
// in the driver's buffer while this side has no pending request: without credit the peer sends RDV, and this side answers
// when it posts the receive.
//
// What was gathered (gather.go) is done before it leaves; so it is only gathered where hooks see to it.
//
// A link without a buffer takes a packet for good.

// handOver ends a request whose packet the link has just taken: at once, or when the driver's buffer is empty. It counts
// as pending until then.
func (f *Flow) handOver(r *Request) {
	switch {
	case f.tx.caps.Buffered:
		if r.Stage == Queued {
			r.Stage = Leaving
		}
		f.tx.leaving.Push(r)
	case r.Stage == Queued:
		f.sent(r)
	default:
		f.transferred(r, 0)
	}
}

// follow notes that the link has taken a packet: it had nothing left of those before, unless they are kept
// together.
func (f *Flow) follow() {
	if !f.tx.batched {
		f.gone()
	}
}

// gone ends the requests whose packets have left the driver's buffer.
func (f *Flow) gone() {
	for r := f.tx.leaving.Pop(); r != nil; r = f.tx.leaving.Pop() {
		if r.Stage == Leaving {
			f.sent(r)
		} else {
			f.transferred(r, 0)
		}
	}
}

// sent ends an eager send.
func (f *Flow) sent(r *Request) {
	r.N, r.Size = r.Data.Size, uint64(r.Data.Size)
	f.finish(r, f.shortage(r))
}
