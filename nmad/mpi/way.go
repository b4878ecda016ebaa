package mpi

import "github.com/pm2-go/pm2/nmad/driver"

// Way sets w to how messages to and from a rank go, for the library of C, which moves short ones itself; see nmad.Context.Way. It is used until the communicator is freed.
func (c *Comm) Way(rank int, w *driver.Way) (known bool) {
	w.Tags = c.tags
	return c.messages.Way(c.group.job[rank], w)
}
