package nmad

import (
	"github.com/pm2-go/pm2/internal/ours"
	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// moduleCalls has the functions that MPI's library for C needs and no program does.
type moduleCalls struct{}

// Calls is not for programs: it returns the functions by which package nmad/mpi/abi has C code move short messages.
// Only packages of this module can make the argument.
func Calls(ours.Module) moduleCalls { return moduleCalls{} }

// Way fills in w for C code that moves short messages of a context itself, between this process and a rank of its
// group. It returns false if the gate has no links yet: then the caller asks again later. If w.Lane is nil after true,
// C code cannot move these messages. The lane stays valid as long as the session. Any thread may call Way.
func (moduleCalls) Way(c *Context, rank int, w *lane.Way) (known bool) { return c.way(rank, w) }

// Slips lets C code begin receives of a context over a lane by these slips, whose number is a power of two. The caller
// must not use the slice afterwards. request(i) returns the request that slip i becomes when Go posts it; that request
// must not be under way. Slips does nothing if the lane has slips already. Any thread may call it.
func (moduleCalls) Slips(c *Context, x *lane.Lane, slips []lane.Slip, request func(i int) *Request) {
	c.setSlips(x, slips, request)
}
