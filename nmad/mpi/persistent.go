package mpi

// persistentMessage makes a persistent request of what post starts, unless check says why that cannot be.
func (c *Comm) persistentMessage(peer int, post func(*Request) error, check func() error) *Request {
	r := &Request{comm: c, unstarted: true}
	if peer == ProcNull {
		r.needSpecial().start = c.usable
		return r.endAtOnce(c.usable())
	}
	if err := check(); err != nil {
		return r.endAtOnce(err)
	}
	r.needSpecial().start = func() error { return post(r) }
	return r
}
