package flow

// Direction is that of a Stream.
type Direction uint8

// Both directions.
const (
	Push Direction = iota // bytes go out
	Pull                  // bytes come in
)

// Stream is the bytes of announced messages that travel over the large track of one rail, in one
// direction, one chunk after the other in the order of their RTRs: both
// sides have that order, so the bytes need no framing.
//
//	empty --- queueChunk ---> waiting --- Reserve ---> copying --- Complete, once for each Reserve ---> waiting, or empty
//	                             '------------------- Fail -------------------> broken
//
// Copies are long, so they are made without the lock of the Flow. From Reserve to Complete the chunk at the head belongs
// to the caller of Reserve, the copier: it calls Copy without the lock and Complete with it. Until then not even a failure
// touches the chunk.
type Stream struct {
	dir      Direction
	queue    chunkQueue // the head is what is being moved
	reserved *chunk     // the head, while it is carried; nil: it is not
	bounce   *bounce    // short pieces of the chunk at the head, if there are any under way; the copier's while it copies
	Bytes    uint64     // moved since the beginning
	Chunks   uint64     // likewise, those all of whose bytes have
	broken   error      // what all requests are failed with, also the one that is away
}

// largestPiece bounds one call of the link, in bytes: no system call takes more
// than 2 GiB.
const largestPiece = 1 << 30

// Empty says that nothing is to be moved.
func (x *Stream) Empty() bool { return x.queue.empty() }

// Waits is how many chunks there are, and how many of their bytes have not moved.
func (x *Stream) Waits() (chunks, bytes int) { return x.queue.len, x.queue.left }

// Broken says that the stream has failed: nothing more moves.
func (x *Stream) Broken() bool { return x.broken != nil }

// Reserve reserves the next piece for the caller. There must be one, and none away.
func (x *Stream) Reserve() { x.reserved = x.queue.head }

// Copy moves what Reserve has reserved, by calls of the link, and says how many bytes that was: fetch is the one for what
// is to be read in the peer's memory. The caller does not hold the lock of the Flow.
func (x *Stream) Copy(call func([]byte) (int, error), fetch func([]byte, uint64) (int, error)) (int, error) {
	c := x.reserved
	if c.of.from != 0 {
		return x.fetch(c, fetch)
	}
	r, left := c.of.req, c.size-c.moved
	if p := r.pieces(); p != nil {
		return x.someParts(p, c, left, call)
	}
	from := c.offset + c.moved
	return call(r.Data.Buf()[from : from+min(left, largestPiece)])
}

// Return gives back what Reserve has reserved, though it did not move: the stream is about to fail.
func (x *Stream) Return() { x.reserved = nil }

// Bounces says that the link fills, or reads, memory of ours in place of the message's.
func (x *Stream) Bounces() bool { return x.bounce != nil }

// Complete takes in that n bytes have moved of what was taken. With an error the link has moved what it must not.
func (f *Flow) Complete(rail int, dir Direction, n int) error {
	x := &f.Rails[rail].Streams[dir]
	c := x.reserved
	x.reserved = nil
	wrong := n < 0 || n > c.size-c.moved
	if !wrong && c.of.from == 0 {
		x.Bytes += uint64(n)
	}
	switch {
	case x.broken != nil:
		if wrong {
			n = 0
		}
		f.completeLate(x, n)
		return nil
	case wrong:
		return violation("the driver says that it moved %d of %d bytes", n, c.size-c.moved)
	}
	c.moved += n
	c.of.moved += n
	x.queue.left -= n
	if c.moved == c.size {
		f.arrived(x)
	}
	if x.dir == Pull && !f.rx.deferred.empty() && f.Rails[rail].idle() {
		f.rx.answers.prepend(&f.rx.deferred)
		f.sendDue = true
	}
	return f.takeLeave()
}

// arrived ends the chunk at the head, all of whose bytes have moved.
func (f *Flow) arrived(x *Stream) {
	x.Chunks++
	v := f.forget(x, x.queue.pop())
	if v.moved == v.want {
		f.moved(v)
	}
}

// moved ends a rendezvous whose bytes have all moved.
func (f *Flow) moved(v *rendezvous) {
	if v.from != 0 {
		f.fetched(v.cookie)
	}
	f.transferred(f.endRendezvous(v))
}

// completeLate takes in a piece of n bytes that was copied after the stream had failed. If with it a
// message is complete, only the copier was slow: the peer may have had all of it,
// and have left.
func (f *Flow) completeLate(x *Stream, n int) {
	v := f.forget(x, x.queue.pop())
	if v.moved += n; v.moved == v.want {
		f.moved(v)
	} else {
		f.fail(v, x.broken)
	}
}

// failStream ends the chunks of the queue: at once or, if one is being copied, in Complete.
func (f *Flow) failStream(x *Stream, err error) {
	x.broken = err
	var rest chunkQueue
	for c := x.queue.pop(); c != nil; c = x.queue.pop() {
		if c == x.reserved {
			rest.push(c)
			continue
		}
		f.fail(f.forget(x, c), err)
	}
	x.queue = rest
}
