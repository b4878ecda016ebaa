package mpi

import (
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
)

// Way sets w to how messages to and from a rank go. The library of C needs it, since it moves short ones itself; see
// nmad.Context.Way. w is used until the communicator is freed.
func (c *Comm) Way(rank int, w *driver.Way) (known bool) {
	w.Tags = c.tags
	return c.messages.Way(c.group.job[rank], w)
}

// Slips has the library of C begin receives from a rank by slips; see nmad.Context.Slips. Request i is what slip i becomes.
func (c *Comm) Slips(x *driver.Lane, slips []driver.Slip, request func(i int) *Request) {
	c.messages.Slips(x, slips, func(i int) *nmad.Request { return &request(i).message })
}

// Adopt makes r, which a slip has become, a receive of the communicator.
func (c *Comm) Adopt(r *Request) { r.comm = c }

// IsDone says whether the message has left or come, or none was begun. Unlike Test it does not poll.
func (r *Request) IsDone() bool { return r.message.IsDone() }
