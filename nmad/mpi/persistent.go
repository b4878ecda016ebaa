package mpi

// persistentMessage makes a persistent request of what post starts, unless check says why that cannot be.
func (c *Comm) persistentMessage(peer int, post func(*Request) error, check func() error) *Request {
	r := &Request{comm: c, waits: true}
	if peer == ProcNull {
		r.makeSpecial().start = c.usable
		return r.idle(c.usable())
	}
	if err := check(); err != nil {
		return r.idle(err)
	}
	r.makeSpecial().start = func() error { return post(r) }
	return r
}

// StartAll starts all of them, in their order, up to the first error.
func StartAll(requests ...*Request) error {
	for _, r := range requests {
		if err := r.Start(); err != nil {
			return err
		}
	}
	return nil
}
