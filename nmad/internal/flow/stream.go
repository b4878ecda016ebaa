package flow

// Direction is the direction of a Stream.
type Direction uint8

const (
	Push Direction = iota // bytes go out
	Pull                  // bytes come in
)

// Stream is the sequence of bytes of announced messages over the large track of one rail, in one direction: one chunk
// after the other, in the order of their RTRs. Both sides know that order, so the bytes need no framing.
//
//	empty --- queueChunk ---> waiting --- Reserve ---> copying --- Complete ---> waiting, or empty
//	                             '------------------ failStream ------------------> broken
//
// Copies are long, so the gate makes them without the lock of the Flow. From Reserve to Complete the chunk at the head
// belongs to the caller of Reserve, the copier. The copier calls Reserve and Complete with the lock, and Copy without
// it. In between not even a failure touches the chunk.
type Stream struct {
	dir      Direction
	queue    chunkQueue // the bytes of its head move
	reserved *chunk     // the head, from Reserve to Complete; else nil
	bounce   *bounce    // holds short pieces of the head that are under way; nil if there are none. The copier's alone while it copies
	Bytes    uint64     // bytes that have moved since Init
	Chunks   uint64     // chunks that have moved completely since Init
	err      error      // what all requests fail with, also that of the reserved chunk; nil while the stream works
}

// maxPiece is the largest number of bytes in one call of the link. No system call takes more than 2 GiB.
const maxPiece = 1 << 30

// Empty reports whether the stream has no chunk.
func (x *Stream) Empty() bool { return x.queue.Empty() }

// Waits returns how many chunks the stream has, and how many of their bytes have not moved.
func (x *Stream) Waits() (chunks, bytes int) {
	for c := x.queue.First(); c != nil; c = c.node.Next() {
		chunks++
	}
	return chunks, x.queue.left
}

// Broken reports whether the stream has failed: nothing more moves.
func (x *Stream) Broken() bool { return x.err != nil }

// Reserve reserves the chunk at the head for the caller. There must be a chunk, and none may be reserved.
func (x *Stream) Reserve() { x.reserved = x.queue.First() }

// Copy moves bytes of the reserved chunk by calls of the link, and returns how many. call is the link's Push or Pull;
// fetch, its Fetch, is for a chunk that is read in the peer's memory. The caller does not hold the lock of the Flow.
func (x *Stream) Copy(call func([]byte) (int, error), fetch func([]byte, uint64) (int, error)) (int, error) {
	c := x.reserved
	if c.rendezvous.address != 0 {
		return x.fetch(c, fetch)
	}
	r, left := c.rendezvous.req, c.size-c.moved
	if p := r.pieces(); p != nil {
		return x.copyPieces(p, c, left, call)
	}
	from := c.offset + c.moved
	return call(r.Data.Buf()[from : from+min(left, maxPiece)])
}

// Return undoes Reserve, in place of Complete, when the stream is about to fail.
func (x *Stream) Return() { x.reserved = nil }

// Bounces reports whether the link fills, or reads, a bounce buffer in place of the memory of the message.
func (x *Stream) Bounces() bool { return x.bounce != nil }

// Complete ends what Reserve began: Copy has moved n bytes. Complete ends requests all of whose bytes have moved. The
// error is ErrLeft, or says that the link has told a wrong n.
func (f *Flow) Complete(rail int, dir Direction, n int) error {
	x := &f.Rails[rail].Streams[dir]
	c := x.reserved
	x.reserved = nil
	wrong := n < 0 || n > c.size-c.moved
	if !wrong && c.rendezvous.address == 0 {
		x.Bytes += uint64(n)
	}
	switch {
	case x.err != nil:
		if wrong {
			n = 0
		}
		f.completeLate(x, n)
		return nil
	case wrong:
		return violation("the driver says that it moved %d of %d bytes", n, c.size-c.moved)
	}
	c.moved += n
	c.rendezvous.moved += n
	x.queue.left -= n
	if c.moved == c.size {
		f.endChunk(x)
	}
	if x.dir == Pull && !f.rx.deferred.Empty() && f.Rails[rail].idle() {
		f.rx.resumeDeferred()
		f.sendDue = true
	}
	return f.takeLeave()
}

// endChunk ends the chunk at the head, which has moved completely.
func (f *Flow) endChunk(x *Stream) {
	x.Chunks++
	v := f.releaseChunk(x, x.queue.pop())
	if v.moved == v.want {
		f.endMoved(v)
	}
}

// endMoved ends a rendezvous all of whose bytes have moved.
func (f *Flow) endMoved(v *rendezvous) {
	if v.address != 0 {
		f.returnExposed(v.cookie)
	}
	f.transferred(f.endRendezvous(v))
}

// completeLate is Complete for n bytes that were copied after the stream had failed. If they complete the message, its
// request succeeds: only the copier was slow, and the peer may have sent all of it and left.
func (f *Flow) completeLate(x *Stream, n int) {
	v := f.releaseChunk(x, x.queue.pop())
	if v.moved += n; v.moved == v.want {
		f.endMoved(v)
	} else {
		f.fail(v, x.err)
	}
}

// failStream breaks a stream: it ends all its chunks with err, except the reserved one, which Complete ends.
func (f *Flow) failStream(x *Stream, err error) {
	x.err = err
	var rest chunkQueue
	for c := x.queue.pop(); c != nil; c = x.queue.pop() {
		if c == x.reserved {
			rest.push(c)
			continue
		}
		f.fail(f.releaseChunk(x, c), err)
	}
	x.queue = rest
}
