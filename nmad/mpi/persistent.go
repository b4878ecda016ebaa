package mpi

// persistentMessage makes the persistent request of a message to or from peer, which post starts. check says what is
// wrong with the arguments.
func (c *Comm) persistentMessage(peer int, post func(*Request) error, check func() error) *Request {
	r := &Request{comm: c, notStarted: true}
	if peer == ProcNull {
		r.makeExtras().start = c.usable
		return r.endAtOnce(c.usable())
	}
	if err := check(); err != nil {
		return r.endAtOnce(err)
	}
	r.makeExtras().start = func() error { return post(r) }
	return r
}
