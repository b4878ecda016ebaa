package mpi

import (
	"github.com/pm2-go/pm2/internal/ours"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// moduleCalls has the functions that the library for C needs and no program does.
type moduleCalls struct{}

// messageCalls are nmad's functions of this kind.
var messageCalls = nmad.Calls(ours.Module{})

// Calls is not for programs: it returns the functions by which package abi stands on this one. Only packages of this
// module can make the argument.
func Calls(ours.Module) moduleCalls { return moduleCalls{} }

// Way sets w to the way of messages to and from a rank, which C needs to move short messages itself; see
// nmad.Calls. It may write w until the communicator is freed.
func (moduleCalls) Way(c *Comm, rank int, w *lane.Way) (known bool) {
	w.Tags = c.tags
	return messageCalls.Way(c.messages, c.group.job[rank], w)
}

// Slips lets C begin receives from a rank by slips; see nmad.Calls. request(i) returns the request that slip i
// becomes.
func (moduleCalls) Slips(c *Comm, x *lane.Lane, slips []lane.Slip, request func(i int) *Request) {
	messageCalls.Slips(c.messages, x, slips, func(i int) *nmad.Request { return &request(i).message })
}

// Adopt makes r, which a slip has become, a receive on the communicator.
func (moduleCalls) Adopt(c *Comm, r *Request) { r.comm = c }

// IsDone reports whether the message of r has left or come, or none was begun. Unlike Request.Test it does not poll.
func (moduleCalls) IsDone(r *Request) bool { return r.message.IsDone() }

// Messages returns the communicator that carries the messages of x. Its ranks are those of the other group.
func (moduleCalls) Messages(x *Intercomm) *Comm { return x.remote }

// FromGroup returns a communicator of a group of processes of the job. All of them call it with the same name, which
// keeps the call apart from others at the same time.
func (moduleCalls) FromGroup(world *Comm, g Group, name string) (*Comm, error) {
	return world.createNamed(g, name)
}

// TagOf returns the tag that stands for a name.
func (moduleCalls) TagOf(name string) int { return tagOf(name) }

// Set returns the processes that have a name, as Session.Group does.
func (moduleCalls) Set(world *Comm, name string) (Group, error) { return world.set(name) }

// DistGraph is NewDistGraph of edges with weights. The second result has the weights of the edges to and from this
// process; nil: no process gives weights.
func (moduleCalls) DistGraph(c *Comm, edges [][2]int, weights []int) (*Graph, [2][]int, error) {
	return c.distGraph(edges, weights)
}
