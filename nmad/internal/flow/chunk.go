package flow

// chunk is the part of a message that one RTR asks for, and that travels over one rail:
// all of it, unless several rails share it. It belongs to the queue of a stream, and to
// the copier while it copies.
type chunk struct {
	req    *Request
	offset int    // in the message, in bytes
	size   int    // bytes, at least 1
	moved  int    // of them
	at     cursor // what of it comes next, if the message is not in one piece: offset + moved, or what is staged beyond that
	short  bool   // its Data has fewer bytes than it says; the copier writes it
	next   *chunk // in whichever list holds it
}

// chunkQueue is a first-in-first-out queue of chunks.
type chunkQueue struct {
	head, tail *chunk
	len        int
	left       int // bytes of all of them that have not moved
}

func (q *chunkQueue) empty() bool { return q.head == nil }

func (q *chunkQueue) push(c *chunk) {
	c.next = nil
	if q.head == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
	q.len++
	q.left += c.size - c.moved
}

func (q *chunkQueue) pop() *chunk {
	c := q.head
	if c != nil {
		q.head, c.next = c.next, nil
		q.len--
		q.left -= c.size - c.moved
	}
	return c
}

// queueChunk queues the next n bytes of r, which were asked for just now, with a stream.
func (f *Flow) queueChunk(x *Stream, r *Request, n int) {
	c := f.chunks
	if c == nil {
		c = &chunk{}
	} else {
		f.chunks = c.next
	}
	*c = chunk{req: r, offset: r.asked, size: n, at: r.next}
	if r.asked += n; !r.Data.Whole() && r.asked != r.Data.Size && r.asked != r.want {
		r.Data.skip(&r.next, n)
	}
	r.chunks++
	f.moving[x.dir]++
	x.queue.push(c)
}

// forget takes back a chunk that is in no queue any more.
func (f *Flow) forget(x *Stream, c *chunk) {
	c.req.chunks--
	f.moving[x.dir]--
	c.req, c.next = nil, f.chunks
	f.chunks = c
}
