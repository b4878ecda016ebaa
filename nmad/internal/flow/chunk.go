package flow

// chunk is the part of a message that one RTR asks for, and that travels over one rail:
// all of it, unless several rails share it. It belongs to the queue of a stream, and to
// the copier while it copies.
type chunk struct {
	of     *rendezvous
	offset int    // where it begins in the message, in bytes
	size   int    // bytes, at least 1
	moved  int    // bytes that have moved
	at     cursor // what of it comes next, if the message is not in one piece: offset + moved, or what is staged beyond that
	given  int    // bytes of a long piece that the link was given and has not moved: its next call goes on with them
	short  bool   // its Data has fewer bytes than it says; the copier writes it
	next   *chunk // the next one in the list that holds it
}

func (c *chunk) link() **chunk { return &c.next }

// chunkQueue is a first-in-first-out queue of chunks.
type chunkQueue struct {
	fifo[chunk, *chunk]
	len  int
	left int // bytes of its chunks that have not moved
}

func (cq *chunkQueue) push(c *chunk) {
	cq.fifo.push(c)
	cq.len++
	cq.left += c.size - c.moved
}

func (cq *chunkQueue) pop() *chunk {
	c := cq.fifo.pop()
	if c != nil {
		cq.len--
		cq.left -= c.size - c.moved
	}
	return c
}

// queueChunk queues the next n bytes of a message, which were asked for just now, with a stream.
func (f *Flow) queueChunk(x *Stream, v *rendezvous, n int) {
	c := f.spareChunks
	if c == nil {
		c = &chunk{}
	} else {
		f.spareChunks = c.next
	}
	*c = chunk{of: v, offset: v.asked, size: n, at: v.next}
	v.asked += n
	if p := v.req.pieces(); p != nil && v.asked != v.req.Data.Size && v.asked != v.want {
		p.skip(&v.next, n)
	}
	v.chunks++
	f.moving[x.dir]++
	x.queue.push(c)
}

// forget takes back a chunk that is in no queue any more, and says of what it was one.
func (f *Flow) forget(x *Stream, c *chunk) *rendezvous {
	v := c.of
	v.chunks--
	if c.short {
		v.req.Rare.short = true
	}
	f.moving[x.dir]--
	c.of, c.next = nil, f.spareChunks
	f.spareChunks = c
	return v
}
