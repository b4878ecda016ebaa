//go:build cgo && linux

package main

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/ours"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// calls are the functions of package mpi that are for this package only.
var calls = mpi.Calls(ours.Module{})

// cComm is a communicator: an MPI_Comm.
type cComm struct {
	object
	local    *mpi.Comm                // communicator of this process's group
	inter    *mpi.Intercomm           // nil: the communicator has one group
	p2p      *mpi.Comm                // that carries messages: local, or the one whose ranks are those of the other group
	session  *cSession                // whose attached memory buffered sends use if the communicator has none; nil: none
	topology topology                 // neighbors; written before the program gets the handle
	ways     atomic.Pointer[commWays] // nil: no call has looked for a way
}

// Parameter types of methods that are for one kind of communicator only: the entry refuses the other kind.
type (
	intraComm = cComm // of one group
	interComm = cComm // of two groups
)

// newComm returns the cComm of c. Its error handler is MPI_ERRORS_ARE_FATAL, and it has no handle yet.
func newComm(c *mpi.Comm, name string) *cComm {
	x := &cComm{local: c, p2p: c, object: object{kind: ofComm, name: name, info: newInfo(), standard: standardOfComm}}
	x.handler.Store(&errorsAreFatal)
	return x
}

// commOf returns the communicator of a handle.
func commOf(h handle) (*cComm, error) {
	if h == commWorldHandle || h == commSelfHandle {
		p := &job.world
		if h == commSelfHandle {
			p = &job.self
		}
		if c := p.Load(); c != nil {
			return c, nil
		}
		if atomic.LoadInt32(&state.Load().finalized) != 0 {
			return nil, errorf(errComm, "MPI_Finalize was called before")
		}
		return nil, errorf(errComm, "MPI_Init was not called before")
	}
	return comms.get(h)
}

// comm returns the communicator whose handle is argument i. Errors of the call go to its error handler from here
// on.
func (a *cCall) comm(i int) (*cComm, error) {
	c, err := commOf(a.handle(i))
	if err == nil {
		a.object = a.handle(i)
	}
	return c, err
}

// intra is comm that refuses an intercommunicator.
func (a *cCall) intra(i int) (*cComm, error) {
	c, err := a.comm(i)
	if err == nil && c.inter != nil {
		return nil, errorf(errComm, "it is an intercommunicator")
	}
	return c, err
}

// inter is comm that refuses a communicator of one group.
func (a *cCall) inter(i int) (*cComm, error) {
	c, err := a.comm(i)
	if err == nil && c.inter == nil {
		return nil, errorf(errComm, "it is no intercommunicator")
	}
	return c, err
}

// describe names the communicator in error messages.
func (c *cComm) describe() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.name != "" {
		return c.name
	}
	return fmt.Sprintf("communicator %#x", uintptr(c.handle))
}

// setComm gives c a handle and writes that to argument i. If c is nil, because this process is not in the communicator,
// it writes MPI_COMM_NULL.
func (a *cCall) setComm(i int, c *cComm) error {
	if c == nil {
		return a.setHandle(i, commNullHandle)
	}
	h, err := c.enlist()
	if err != nil {
		return err
	}
	return a.setHandle(i, h)
}

// enlist gives c a handle and lets C answer for its rank and size.
func (c *cComm) enlist() (handle, error) {
	h, err := comms.add(c)
	if err != nil {
		return 0, err
	}
	c.handle = h
	state.Load().cacheOf(h).publish(h, c.local.Rank(), c.local.Size())
	return h, nil
}

// derive returns the cComm of made, a communicator that was made from c; it has the error handler of c. nil: this
// process is not in the communicator. err is the error of the call that has made it, which derive passes on.
func (c *cComm) derive(made *mpi.Comm, err error) (*cComm, error) {
	if err != nil || made == nil {
		return nil, err
	}
	x := newComm(made, "")
	x.session = c.session
	x.handler.Store(c.handler.Load())
	return x, nil
}

// deriveInter is derive for an intercommunicator.
func (c *cComm) deriveInter(made *mpi.Intercomm, err error) (*cComm, error) {
	if err != nil || made == nil {
		return nil, err
	}
	x, err := c.derive(made.Local(), nil)
	x.setInter(made)
	return x, err
}

// setInter makes c the cComm of an intercommunicator.
func (c *cComm) setInter(x *mpi.Intercomm) { c.local, c.inter, c.p2p = x.Local(), x, calls.Messages(x) }

func (a *cCall) commRank(c *cComm) int                  { return c.local.Rank() }
func (a *cCall) commSize(c *cComm) int                  { return c.local.Size() }
func (a *cCall) commRemoteSize(c *interComm) int        { return c.inter.RemoteSize() }
func (a *cCall) commTestInter(c *cComm) bool            { return c.inter != nil }
func (a *cCall) commGroup(c *cComm) mpi.Group           { return c.local.Group() }
func (a *cCall) commRemoteGroup(c *interComm) mpi.Group { return c.inter.RemoteGroup() }

// comparisons are the results of MPI_Comm_compare and MPI_Group_compare, by those of package mpi.
var comparisons = [...]int{mpi.Identical: mpiIdent, mpi.Congruent: mpiCongruent, mpi.Similar: mpiSimilar, mpi.Unequal: mpiUnequal}

func (a *cCall) commCompare(c, d *cComm) int {
	if c.inter != nil || d.inter != nil {
		return comparisons[mpi.Compare(c.inter, d.inter)]
	}
	return comparisons[mpi.Compare(c.local, d.local)]
}

// dup returns a copy of c, with the attributes and the topology of c, and with the given hints in place of those of c.
func (c *cComm) dup(hints *cInfo) (d *cComm, err error) {
	if c.inter != nil {
		d, err = c.deriveInter(c.inter.Dup())
	} else {
		d, err = c.derive(c.local.Dup())
	}
	if err != nil {
		return nil, err
	}
	if err := c.copyTo(d, hints); err != nil {
		d.free()
		return nil, err
	}
	return d, nil
}

// copyTo gives d, a copy of c, the topology and the attributes of c, and the hints.
func (c *cComm) copyTo(d *cComm, hints *cInfo) error {
	d.topology = c.topology.onComm(d.local)
	d.info = hints.Dup()
	return c.copyAttributes(&d.object)
}

// free frees a communicator that has no handle any more.
func (c *cComm) free() {
	if c.inter != nil {
		c.inter.Free()
		return
	}
	c.local.Free()
}

func (a *cCall) commDup(c *cComm) (*cComm, error) { return c.dup(newInfo()) }

func (a *cCall) commDupWithInfo(c *cComm, i *hints) (*cComm, error) { return c.dup(i) }

// idup begins to duplicate c. It writes the handle of the new communicator to argument at; its request completes
// when the communicator can be used.
func (a *cCall) idup(c *cComm, hints *cInfo, at int) (*cRequest, error) {
	if _, err := a.out(at); err != nil {
		return nil, err
	}
	// The program's functions that copy attributes may run in this call only, by the standard. They get the new handle,
	// so that is made before the communicator.
	d := newComm(c.local, "")
	d.handler.Store(c.handler.Load())
	if err := c.copyTo(d, hints); err != nil {
		return nil, err
	}
	h, err := comms.add(d)
	if err != nil {
		return nil, err
	}
	d.handle = h
	if err := a.setHandle(at, h); err != nil {
		return nil, err
	}
	var made *mpi.Comm
	var both *mpi.Intercomm
	r := &cRequest{comm: c}
	if c.inter != nil {
		r.req = mpi.Idup(c.inter, &both)
	} else {
		r.req = mpi.Idup(c.local, &made)
	}
	r.onEnd = func(err error) error {
		if err != nil {
			return err
		}
		if d.local, d.p2p = made, made; both != nil {
			d.setInter(both)
		}
		d.topology = c.topology.onComm(d.local)
		state.Load().cacheOf(h).publish(h, d.local.Rank(), d.local.Size())
		return nil
	}
	return r, nil
}

func (a *cCall) commIdup(c *cComm) (*cRequest, error) { return a.idup(c, newInfo(), 1) }

func (a *cCall) commIdupWithInfo(c *cComm, i *hints) (*cRequest, error) { return a.idup(c, i, 2) }

func (a *cCall) commFree(h *handle) error {
	if *h == commWorldHandle || *h == commSelfHandle {
		return errorf(errComm, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed")
	}
	c, err := commOf(*h)
	if err != nil {
		return err
	}
	a.object = *h
	if err := c.endAttributes(); err != nil {
		return err
	}
	a.object = 0
	keepSlips(*h)
	state.Load().cacheOf(*h).forget(*h)
	comms.drop(*h)
	c.free()
	*h = commNullHandle
	return nil
}

func (a *cCall) commDisconnect(h *handle) error {
	c, err := commOf(*h)
	if err != nil {
		return err
	}
	a.object = *h
	if err := c.collectives().Barrier(); err != nil {
		return err
	}
	return a.commFree(h)
}

func (a *cCall) commSplit(c *cComm, color, key int) (*cComm, error) {
	if color < 0 && color != mpiUndefined {
		return nil, errorf(errArg, "color %d is below 0", color)
	}
	if c.inter != nil { // the processes of one color make an intercommunicator, if both groups have some
		return c.deriveInter(c.inter.Split(color, key))
	}
	return c.derive(c.local.Split(color, key))
}

func (a *cCall) commSplitType(c *intraComm, what, key int, i *hints) (*cComm, error) {
	color := mpiUndefined
	switch what {
	case mpiUndefined:
	case mpiCommTypeShared:
		color = job.session.HostOf(job.session.Rank())
	case mpiCommTypeHwGuided, mpiCommTypeResourceGuided:
		// The one resource with a name that this library knows is shared memory, which is that of a host.
		if v, ok := i.Get("mpi_hw_resource_type"); ok && v == "mpi_shared_memory" {
			color = job.session.HostOf(job.session.Rank())
		}
	case mpiCommTypeHwUnguided:
		// The largest parts of the machine are hosts, if the processes of the communicator are on several.
		hosts := map[int]bool{}
		for r := range c.local.Size() {
			hosts[job.session.HostOf(job.allComm.Group().Rank(r, c.local.Group()))] = true
		}
		if len(hosts) > 1 {
			color = job.session.HostOf(job.session.Rank())
		}
	default:
		return nil, errorf(errArg, "%d is no kind of split", what)
	}
	return c.derive(c.local.Split(color, key))
}

func (a *cCall) commCreate(c *cComm, g mpi.Group) (*cComm, error) {
	if c.inter != nil {
		return c.deriveInter(c.inter.Create(g))
	}
	return c.derive(c.local.Create(g))
}

func (a *cCall) commCreateGroup(c *intraComm, g mpi.Group, tag int) (*cComm, error) {
	if g.Size() == 0 {
		return nil, nil
	}
	return c.derive(c.local.CreateGroup(g, tag))
}

func (a *cCall) intercommCreate(c *intraComm, leader int, other handle, remote, tag int) (*cComm, error) {
	if leader < 0 || leader >= c.local.Size() {
		return nil, errorf(errRank, "leader %d of %d", leader, c.local.Size())
	}
	var peer *mpi.Comm
	if c.local.Rank() == leader {
		p, err := commOf(other)
		if err != nil {
			return nil, err
		}
		peer = p.p2p
	}
	return c.deriveInter(mpi.NewIntercomm(c.local, leader, peer, remote, tag))
}

func (a *cCall) intercommMerge(c *interComm, high bool) (*cComm, error) {
	return c.derive(c.inter.Merge(high))
}

func (a *cCall) commGetParent() handle { return commNullHandle }
