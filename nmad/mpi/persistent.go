package mpi

// Persistent messages: requests that Request.Start starts, again and again, with what lies in their buffers then.

// SendInit makes a Send such a request.
func (c *Comm) SendInit(b Buffer, to, tag int) *Request {
	return c.sendInit("send", b, to, tag, standard)
}

// SsendInit makes an Ssend such a request.
func (c *Comm) SsendInit(b Buffer, to, tag int) *Request {
	return c.sendInit("ssend", b, to, tag, synchronous)
}

func (c *Comm) sendInit(what string, b Buffer, to, tag int, m mode) *Request {
	return c.init(to, func(r *Request) error { return c.postSend(what, r, b, to, tag, m) }, func() error { return c.addressed(what, to, tag) })
}

// RecvInit makes a Recv such a request.
func (c *Comm) RecvInit(b Buffer, from, tag int) *Request {
	return c.init(from, func(r *Request) error { return c.postReceive("recv", r, b, from, tag) }, func() error {
		_, err := c.match("recv", from, tag)
		return err
	})
}

// init makes a persistent request of what post starts, unless check says why that cannot be.
func (c *Comm) init(peer int, post func(*Request) error, check func() error) *Request {
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
