package flow

// Leaving: over a socket the driver copies a packet into its buffer, and the kernel may take only a part of it. Only a
// thread that polls this gate hands the rest to the kernel. So a send is not finished before the kernel has all of
// its packet: otherwise its waiter might never look at the gate again, nor any other thread, and the receiver would wait
// for ever.
//
//	         the link takes the packet             Flush leaves nothing; or the link takes the next
//	queued ---------------------------> leaving --- packet, which it does only when nothing is left ---> finished
//	   |                                   |
//	   |  and the kernel has all of it     '------- the gate ends -------> finished, failed
//	   '------------------------------------------------------------------> finished
//
// The packets of a batch stay in the buffer until the flush at its end, so that they leave together. A receive that
// asks for 0 bytes of an announced message is finished when its RTR has left the buffer, or the gate ends. A part of a
// control packet may stay in the buffer while this side has no pending request. That keeps no message back: a peer that
// lacks credit sends RDV, and this side polls when it posts the receive.
//
// Sends whose messages were gathered (gather.go) are finished before their packet leaves. So messages are gathered only
// if hooks poll the gate.
//
// A link without a buffer never takes a part of a packet.

// handOver ends a request whose packet the link has just taken: at once, or, if the driver buffers, when its buffer is
// empty. Until then the request counts as pending.
func (f *Flow) handOver(r *Request) {
	switch {
	case f.tx.caps.Buffered:
		if r.Stage == Queued {
			r.Stage = Leaving
		}
		f.tx.leaving.Push(r)
	case r.Stage == Queued:
		f.endSend(r)
	default:
		f.transferred(r, 0)
	}
}

// endEarlier ends the requests of earlier packets when the link has taken a packet: then nothing of the earlier ones
// was left in the buffer, unless they belong to the same batch.
func (f *Flow) endEarlier() {
	if !f.tx.batched {
		f.endLeaving()
	}
}

// endLeaving ends the requests that wait for the driver's buffer, which is empty.
func (f *Flow) endLeaving() {
	for r := f.tx.leaving.Pop(); r != nil; r = f.tx.leaving.Pop() {
		if r.Stage == Leaving {
			f.endSend(r)
		} else {
			f.transferred(r, 0)
		}
	}
}

// endSend ends an eager send.
func (f *Flow) endSend(r *Request) {
	r.N, r.Size = r.Data.Size, uint64(r.Data.Size)
	f.Finish(r, f.dataError(r))
}
