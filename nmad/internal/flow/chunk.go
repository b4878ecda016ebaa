package flow

import "github.com/pm2-go/pm2/internal/shelf"

// chunk is the part of a message that one RTR asks for, and that travels over one rail: the whole message, unless
// several rails share it. A chunk is in the queue of a stream. While it is reserved (Stream.Reserve) it belongs to the
// copier.
type chunk struct {
	rendezvous *rendezvous
	offset     int    // of its first byte in the message, in bytes
	size       int    // bytes, at least 1
	moved      int    // bytes that have moved
	cursor     cursor // of a message in pieces: the place of the next byte for the link, or the bounce buffer
	given      int    // bytes of a long piece that the link has not moved: its next call begins with them
	shortData  bool   // the Data has fewer bytes than its Size; the copier writes it

	node shelf.Node[chunk] // in the list that holds this one
}

// chunkQueue is a first-in-first-out queue of chunks that counts their bytes.
type chunkQueue struct {
	shelf.List[chunk]
	left int // bytes of these chunks that have not moved
}

func (cq *chunkQueue) push(c *chunk) {
	cq.Push(&c.node, c)
	cq.left += c.size - c.moved
}

func (cq *chunkQueue) pop() *chunk {
	c := cq.Pop()
	if c != nil {
		cq.left -= c.size - c.moved
	}
	return c
}

// queueChunk adds the next n bytes of a message to the queue of a stream, when the RTR for them has left, or has come.
func (f *Flow) queueChunk(x *Stream, v *rendezvous, n int) {
	c := f.spareChunks.Get()
	*c = chunk{rendezvous: v, offset: v.asked, size: n, cursor: v.askCursor}
	v.asked += n
	if p := v.req.pieces(); p != nil && v.asked != v.req.Data.Size && v.asked != v.want {
		p.skip(&v.askCursor, n)
	}
	v.chunks++
	f.moving[x.dir]++
	x.queue.push(c)
}

// releaseChunk frees a chunk, which is in no queue any more, and returns its rendezvous.
func (f *Flow) releaseChunk(x *Stream, c *chunk) *rendezvous {
	v := c.rendezvous
	v.chunks--
	if c.shortData {
		v.req.Extras.short = true
	}
	f.moving[x.dir]--
	c.rendezvous = nil
	f.spareChunks.Put(c)
	return v
}
