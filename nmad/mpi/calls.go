package mpi

import (
	"github.com/pm2-go/pm2/internal/ours"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// moduleCalls are the functions that the library for C needs and no program does.
type moduleCalls struct{}

// Calls returns the functions by which package abi stands on this one. Only packages of this module can make the
// argument.
func Calls(ours.Module) moduleCalls { return moduleCalls{} }

// Way sets w to how messages to and from a rank go. C needs it, since it moves short ones itself; see
// nmad.Context.Way. w is used until the communicator is freed.
func (moduleCalls) Way(c *Comm, rank int, w *lane.Way) (known bool) {
	w.Tags = c.tags
	return c.messages.Way(c.group.job[rank], w)
}

// Slips has C begin receives from a rank by slips; see nmad.Context.Slips. Request i is what slip i becomes.
func (moduleCalls) Slips(c *Comm, x *lane.Lane, slips []lane.Slip, request func(i int) *Request) {
	c.messages.Slips(x, slips, func(i int) *nmad.Request { return &request(i).message })
}

// Adopt makes r, which a slip has become, a receive of the communicator.
func (moduleCalls) Adopt(c *Comm, r *Request) { r.comm = c }

// IsDone says whether the message has left or come, or none was begun. Unlike Request.Test it does not poll.
func (moduleCalls) IsDone(r *Request) bool { return r.message.IsDone() }

// Messages is a communicator for messages alone, whose ranks are those of the other group.
func (moduleCalls) Messages(x *Intercomm) *Comm { return x.remote }

// FromGroup returns a communicator of the processes of a group of the job, which need have none in common before. All
// of them call it with the same name, which keeps it apart from others that are made at once.
func (moduleCalls) FromGroup(world *Comm, g Group, name string) (*Comm, error) {
	return world.createNamed(g, name)
}

// TagOf is a tag that stands for a name.
func (moduleCalls) TagOf(name string) int { return tagOf(name) }

// Set is the processes of a name, as Session.Group has it.
func (moduleCalls) Set(world *Comm, name string) (Group, error) { return world.set(name) }

// DistGraph is NewDistGraph of edges with weights, of which the second results are those of this process's edges; nil:
// no process gives any.
func (moduleCalls) DistGraph(c *Comm, edges [][2]int, weights []int) (*Graph, [2][]int, error) {
	return c.distGraph(edges, weights)
}
