//go:build cgo && linux

package main

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/internal/ours"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// calls are what this package needs of package mpi, and no program does.
var calls = mpi.Calls(ours.Module{})

// cComm is a communicator.
type cComm struct {
	object
	c        *mpi.Comm      // of the own group
	x        *mpi.Intercomm // nil: it is none
	m        *mpi.Comm      // that has the messages
	session  *cSession      // whose buffers it has, if it has none; nil: none
	topology topology
	ways     atomic.Pointer[commWays] // nil: none was asked for
}

// Parameters of functions that are for communicators of one kind only: the call refuses all others.
type (
	intraComm = cComm // of a single group
	interComm = cComm // between two groups
)

const (
	nullComm    handle = 0x100
	worldHandle handle = 0x101
	selfHandle  handle = 0x102
	undefined          = mpi.Undefined
	nullRequest handle = 0x180
)

// newComm makes the cComm of c, without a handle.
func newComm(c *mpi.Comm, name string) *cComm {
	x := &cComm{c: c, m: c, object: object{what: ofComm, name: name, info: newInfo(), standard: standardOfComm}}
	x.handler.Store(&errorsAreFatal)
	return x
}

// commOf is the communicator of a handle.
func commOf(h handle) (*cComm, error) {
	if h == worldHandle || h == selfHandle {
		p := &engine.world
		if h == selfHandle {
			p = &engine.self
		}
		if c := p.Load(); c != nil {
			return c, nil
		}
		if atomic.LoadInt32(&state.Load().finalized) != 0 {
			return nil, wrong(errComm, "MPI_Finalize was called before")
		}
		return nil, wrong(errComm, "MPI_Init was not called before")
	}
	if h == nullComm {
		return nil, wrong(errComm, "it is MPI_COMM_NULL")
	}
	return comms.get(h)
}

// comm is an argument that is a communicator, whose error handler hears of errors from here on.
func (a *cCall) comm(i int) (*cComm, error) {
	c, err := commOf(a.handle(i))
	if err == nil {
		a.object = a.handle(i)
	}
	return c, err
}

// intra is comm, which refuses an intercommunicator.
func (a *cCall) intra(i int) (*cComm, error) {
	c, err := a.comm(i)
	if err == nil && c.x != nil {
		return nil, wrong(errComm, "it is an intercommunicator")
	}
	return c, err
}

// inter is comm, which refuses a communicator of a single group.
func (a *cCall) inter(i int) (*cComm, error) {
	c, err := a.comm(i)
	if err == nil && c.x == nil {
		return nil, wrong(errComm, "it is no intercommunicator")
	}
	return c, err
}

// text describes a communicator for people.
func (c *cComm) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.name != "" {
		return c.name
	}
	return fmt.Sprintf("communicator %#x", uintptr(c.handle))
}

// setComm takes a communicator in, and writes its handle; nil: this process is not in it.
func (a *cCall) setComm(i int, c *cComm) error {
	if c == nil {
		return a.setHandle(i, nullComm)
	}
	h, err := c.enlist()
	if err != nil {
		return err
	}
	return a.setHandle(i, h)
}

// enlist gives a communicator its handle.
func (c *cComm) enlist() (handle, error) {
	h, err := comms.add(c)
	if err != nil {
		return 0, err
	}
	c.handle = h
	state.Load().of(h).tell(h, c.c.Rank(), c.c.Size())
	return h, nil
}

// like is a new communicator made of c, with its error handler.
func (c *cComm) like(made *mpi.Comm, err error) (*cComm, error) {
	if err != nil || made == nil {
		return nil, err
	}
	x := newComm(made, "")
	x.session = c.session
	x.handler.Store(c.handler.Load())
	return x, nil
}

// likeX is like of an intercommunicator.
func (c *cComm) likeX(made *mpi.Intercomm, err error) (*cComm, error) {
	if err != nil || made == nil {
		return nil, err
	}
	x, err := c.like(made.Local(), nil)
	x.between(made)
	return x, err
}

// between makes c the communicator of two groups.
func (c *cComm) between(x *mpi.Intercomm) { c.c, c.x, c.m = x.Local(), x, calls.Messages(x) }

func (a *cCall) commRank(c *cComm) int                  { return c.c.Rank() }
func (a *cCall) commSize(c *cComm) int                  { return c.c.Size() }
func (a *cCall) commRemoteSize(c *interComm) int        { return c.x.RemoteSize() }
func (a *cCall) commTestInter(c *cComm) bool            { return c.x != nil }
func (a *cCall) commGroup(c *cComm) mpi.Group           { return c.c.Group() }
func (a *cCall) commRemoteGroup(c *interComm) mpi.Group { return c.x.RemoteGroup() }

// comparisons are the results of comparing, by those of package mpi.
var comparisons = [...]int{mpi.Identical: 201, mpi.Congruent: 202, mpi.Similar: 203, mpi.Unequal: 204}

func (a *cCall) commCompare(c, d *cComm) int {
	if c.x != nil || d.x != nil {
		return comparisons[mpi.Compare(c.x, d.x)]
	}
	return comparisons[mpi.Compare(c.c, d.c)]
}

// dup is a communicator like c, with its attributes, and the hints of an info: its own ones are not copied.
func (c *cComm) dup(hints *cInfo) (d *cComm, err error) {
	if c.x != nil {
		d, err = c.likeX(c.x.Dup())
	} else {
		d, err = c.like(c.c.Dup())
	}
	if err != nil {
		return nil, err
	}
	if err := c.endow(d, hints); err != nil {
		d.free()
		return nil, err
	}
	return d, nil
}

// endow gives d, a copy of c, the topology and attributes of c, and the hints.
func (c *cComm) endow(d *cComm, hints *cInfo) error {
	d.topology = c.topology.like(d.c)
	d.info = hints.Dup()
	return c.copyAttributes(&d.object)
}

// free ends a communicator that has no handle any more.
func (c *cComm) free() {
	if c.x != nil {
		c.x.Free()
		return
	}
	c.c.Free()
}

func (a *cCall) commDup(c *cComm) (*cComm, error) { return c.dup(newInfo()) }

func (a *cCall) commDupWithInfo(c *cComm, i *hints) (*cComm, error) { return c.dup(i) }

// idup begins a dup, and writes the handle of what it makes to an argument.
func (a *cCall) idup(c *cComm, hints *cInfo, at int) (*cRequest, error) {
	if _, err := a.out(at); err != nil {
		return nil, err
	}
	// Attributes are copied before the communicator is there, by this thread: the standard lets the functions of the
	// program run in this call only. So the handle is there, too.
	d := newComm(c.c, "")
	d.handler.Store(c.handler.Load())
	if err := c.endow(d, hints); err != nil {
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
	if c.x != nil {
		r.r = mpi.Idup(c.x, &both)
	} else {
		r.r = mpi.Idup(c.c, &made)
	}
	r.after = func(err error) error {
		if err != nil {
			return err
		}
		if d.c, d.m = made, made; both != nil {
			d.between(both)
		}
		d.topology = c.topology.like(d.c)
		state.Load().of(h).tell(h, d.c.Rank(), d.c.Size())
		return nil
	}
	return r, nil
}

func (a *cCall) commIdup(c *cComm) (*cRequest, error) { return a.idup(c, newInfo(), 1) }

func (a *cCall) commIdupWithInfo(c *cComm, i *hints) (*cRequest, error) { return a.idup(c, i, 2) }

func (a *cCall) commFree(h *handle) error {
	if *h == worldHandle || *h == selfHandle {
		return wrong(errComm, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed")
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
	state.Load().of(*h).forget(*h)
	comms.drop(*h)
	c.free()
	*h = nullComm
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
	if color < 0 && color != undefined {
		return nil, wrong(errArg, "color %d is below 0", color)
	}
	if c.x != nil { // those of both groups with one color become an intercommunicator, if there are some in both
		return c.likeX(c.x.Split(color, key))
	}
	return c.like(c.c.Split(color, key))
}

// Kinds of MPI_Comm_split_type.
const (
	typeShared         = 221
	typeHWUnguided     = 222
	typeHWGuided       = 223
	typeResourceGuided = 224
)

func (a *cCall) commSplitType(c *intraComm, what, key int, i *hints) (*cComm, error) {
	color := undefined
	switch what {
	case undefined:
	case typeShared:
		color = engine.session.HostOf(engine.session.Rank())
	case typeHWGuided, typeResourceGuided:
		// The only resources that are known by a name are the machine, and what shares memory.
		if v, ok := i.Get("mpi_hw_resource_type"); ok && v == "mpi_shared_memory" {
			color = engine.session.HostOf(engine.session.Rank())
		}
	case typeHWUnguided:
		// The next smaller part of the machine: the host, if the communicator has several.
		hosts := map[int]bool{}
		for r := range c.c.Size() {
			hosts[engine.session.HostOf(engine.all.Group().Rank(r, c.c.Group()))] = true
		}
		if len(hosts) > 1 {
			color = engine.session.HostOf(engine.session.Rank())
		}
	default:
		return nil, wrong(errArg, "%d is no kind of split", what)
	}
	return c.like(c.c.Split(color, key))
}

func (a *cCall) commCreate(c *cComm, g mpi.Group) (*cComm, error) {
	if c.x != nil {
		return c.likeX(c.x.Create(g))
	}
	return c.like(c.c.Create(g))
}

func (a *cCall) commCreateGroup(c *intraComm, g mpi.Group, tag int) (*cComm, error) {
	if g.Size() == 0 {
		return nil, nil
	}
	return c.like(c.c.CreateGroup(g, tag))
}

func (a *cCall) intercommCreate(c *intraComm, leader int, other handle, remote, tag int) (*cComm, error) {
	if leader < 0 || leader >= c.c.Size() {
		return nil, wrong(errRank, "leader %d of %d", leader, c.c.Size())
	}
	var peer *mpi.Comm
	if c.c.Rank() == leader {
		p, err := commOf(other)
		if err != nil {
			return nil, err
		}
		peer = p.m
	}
	return c.likeX(mpi.NewIntercomm(c.c, leader, peer, remote, tag))
}

func (a *cCall) intercommMerge(c *interComm, high bool) (*cComm, error) {
	return c.like(c.x.Merge(high))
}

func (a *cCall) commGetParent() handle { return nullComm }
