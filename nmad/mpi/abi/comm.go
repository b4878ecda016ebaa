//go:build cgo && linux

package main

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// comm is a communicator.
type comm struct {
	handle     handle
	c          *mpi.Comm      // of the own group
	x          *mpi.Intercomm // nil: it is none
	m          *mpi.Comm      // that has the messages
	handler    atomic.Pointer[handler]
	attributes attributes
	buffers    buffers
	session    *session // whose buffers it has, if it has none; nil: none
	topology   topology
	ways       atomic.Pointer[ways] // nil: none was asked for

	mu   sync.Mutex
	name string // under mu
	info *info  // under mu
}

const (
	nullComm    handle = 0x100
	worldHandle handle = 0x101
	selfHandle  handle = 0x102
	undefined          = mpi.Undefined
	nullRequest handle = 0x180
)

// newComm is that of a communicator without a handle.
func newComm(c *mpi.Comm, name string) *comm {
	x := &comm{c: c, m: c, name: name, info: newInfo()}
	x.attributes.what = ofComm
	x.handler.Store(&errorsAreFatal)
	return x
}

// commOf is the communicator of a handle.
func commOf(h handle) (*comm, error) {
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
func (a *call) comm(i int) (*comm, error) {
	c, err := commOf(a.handle(i))
	if err == nil {
		a.object = a.handle(i)
	}
	return c, err
}

// intra is comm of one that has a single group.
func (a *call) intra(i int) (*comm, error) {
	c, err := a.comm(i)
	if err == nil && c.x != nil {
		return nil, wrong(errComm, "it is an intercommunicator")
	}
	return c, err
}

// inter is comm of one between two groups.
func (a *call) inter(i int) (*comm, error) {
	c, err := a.comm(i)
	if err == nil && c.x == nil {
		return nil, wrong(errComm, "it is no intercommunicator")
	}
	return c, err
}

// text describes a communicator for people.
func (c *comm) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.name != "" {
		return c.name
	}
	return fmt.Sprintf("communicator %#x", uintptr(c.handle))
}

// setComm takes a communicator in, and writes its handle; nil: this process is not in it.
func (a *call) setComm(i int, c *comm) error {
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
func (c *comm) enlist() (handle, error) {
	h, err := comms.add(c)
	if err != nil {
		return 0, err
	}
	c.handle = h
	rank, size := c.c.Rank(), c.c.Size()
	if c.x != nil {
		rank, size = c.x.Rank(), c.x.Size()
	}
	state.Load().of(h).tell(h, rank, size)
	return h, nil
}

// like is a new communicator made of c, with its error handler.
func (c *comm) like(made *mpi.Comm, err error) (*comm, error) {
	if err != nil || made == nil {
		return nil, err
	}
	x := newComm(made, "")
	x.session = c.session
	x.handler.Store(c.handler.Load())
	return x, nil
}

// likeX is like of an intercommunicator.
func (c *comm) likeX(made *mpi.Intercomm, err error) (*comm, error) {
	if err != nil || made == nil {
		return nil, err
	}
	x := newComm(made.Local(), "")
	x.x, x.m, x.session = made, made.Messages(), c.session
	x.handler.Store(c.handler.Load())
	return x, nil
}

func (a *call) commRank() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	return a.setInt(1, c.c.Rank())
}

func (a *call) commSize() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	return a.setInt(1, c.c.Size())
}

func (a *call) commRemoteSize() error {
	c, err := a.inter(0)
	if err != nil {
		return err
	}
	return a.setInt(1, c.x.RemoteSize())
}

func (a *call) commTestInter() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	return a.setFlag(1, c.x != nil)
}

func (a *call) commGroup() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	return a.setGroup(1, c.c.Group())
}

func (a *call) commRemoteGroup() error {
	c, err := a.inter(0)
	if err != nil {
		return err
	}
	return a.setGroup(1, c.x.RemoteGroup())
}

// comparisons are the results of comparing, by those of package mpi.
var comparisons = [...]int{mpi.Identical: 201, mpi.Congruent: 202, mpi.Similar: 203, mpi.Unequal: 204}

func (a *call) commCompare() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	d, err := a.comm(1)
	if err != nil {
		return err
	}
	switch how := mpi.Identical; {
	case c == d:
		return a.setInt(2, comparisons[how])
	case (c.x == nil) != (d.x == nil):
		return a.setInt(2, comparisons[mpi.Unequal])
	case c.x != nil:
		how = max(mpi.Congruent, c.x.Group().Compare(d.x.Group()), c.x.RemoteGroup().Compare(d.x.RemoteGroup()))
		return a.setInt(2, comparisons[how])
	}
	return a.setInt(2, comparisons[max(mpi.Congruent, c.c.Group().Compare(d.c.Group()))])
}

// dup is a communicator like c, with its attributes, and the hints of an info: its own ones are not copied.
func (c *comm) dup(hints *info) (d *comm, err error) {
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

// endow gives a copy of c what is copied.
func (c *comm) endow(d *comm, hints *info) error {
	d.topology = c.topology.like(d.c)
	d.info = hints.dup()
	return c.attributes.copy(c.handle, &d.attributes)
}

// free ends one that has no handle any more.
func (c *comm) free() {
	if c.x != nil {
		c.x.Free()
		return
	}
	c.c.Free()
}

func (a *call) commDup() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	d, err := c.dup(newInfo())
	if err != nil {
		return err
	}
	return a.setComm(1, d)
}

func (a *call) commDupWithInfo() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	i, err := a.infoOrNull(1)
	if err != nil {
		return err
	}
	d, err := c.dup(i)
	if err != nil {
		return err
	}
	return a.setComm(2, d)
}

// idup begins a dup.
func (a *call) idup(hints *info, at, to int) error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	if _, err := a.out(at); err != nil {
		return err
	}
	var made, local *mpi.Comm
	// Attributes are copied before the communicator is there, by this thread: the standard lets the functions of the program run in this call only. So the handle is there, too.
	d := newComm(c.c, "")
	d.handler.Store(c.handler.Load())
	if err := c.endow(d, hints); err != nil {
		return err
	}
	h, err := comms.add(d)
	if err != nil {
		return err
	}
	d.handle = h
	if err := a.setHandle(at, h); err != nil {
		return err
	}
	r := &request{comm: c, r: c.m.Idup(&made)}
	if c.x != nil {
		r.also = c.x.Local().Idup(&local)
	}
	r.after = func(err error) error {
		if err != nil {
			return err
		}
		rank, size := made.Rank(), made.Size()
		if c.x != nil {
			d.x = c.x.With(local, made)
			d.c, d.m, rank, size = local, made, d.x.Rank(), d.x.Size()
		} else {
			d.c, d.m = made, made
		}
		d.topology = c.topology.like(d.c)
		state.Load().of(h).tell(h, rank, size)
		return nil
	}
	return a.setRequest(to, r)
}

func (a *call) commIdup() error { return a.idup(newInfo(), 1, 2) }

func (a *call) commIdupWithInfo() error {
	i, err := a.infoOrNull(1)
	if err != nil {
		return err
	}
	return a.idup(i, 2, 3)
}

func (a *call) commFree() error {
	h, err := a.handleAt(0)
	if err != nil {
		return err
	}
	if h == worldHandle || h == selfHandle {
		return wrong(errComm, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed")
	}
	c, err := commOf(h)
	if err != nil {
		return err
	}
	a.object = h
	if err := c.attributes.end(h); err != nil {
		return err
	}
	a.object = 0
	keepSlips(h)
	state.Load().of(h).forget(h)
	comms.drop(h)
	c.free()
	return a.setHandle(0, nullComm)
}

func (a *call) commDisconnect() error {
	h, err := a.handleAt(0)
	if err != nil {
		return err
	}
	c, err := commOf(h)
	if err != nil {
		return err
	}
	a.object = h
	if err := c.m.Barrier(); err != nil {
		return err
	}
	return a.commFree()
}

func (a *call) commSplit() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	color, key := a.int(1), a.int(2)
	if color < 0 && color != undefined {
		return wrong(errArg, "color %d is below 0", color)
	}
	if c.x != nil {
		d, err := c.splitX(color, key)
		if err != nil {
			return err
		}
		return a.setComm(3, d)
	}
	d, err := c.like(c.c.Split(color, key))
	if err != nil {
		return err
	}
	return a.setComm(3, d)
}

// splitX splits both groups: those with one color become a new intercommunicator, if there are some in both.
func (c *comm) splitX(color, key int) (*comm, error) {
	d, err := c.x.Split(color, key)
	return c.likeX(d, err)
}

// Kinds of MPI_Comm_split_type.
const (
	typeShared         = 221
	typeHWUnguided     = 222
	typeHWGuided       = 223
	typeResourceGuided = 224
)

func (a *call) commSplitType() error {
	c, err := a.intra(0)
	if err != nil {
		return err
	}
	what, key := a.int(1), a.int(2)
	i, err := a.infoOrNull(3)
	if err != nil {
		return err
	}
	color := undefined
	switch what {
	case undefined:
	case typeShared:
		color = engine.session.HostOf(engine.session.Rank())
	case typeHWGuided, typeResourceGuided:
		// The only resources that are known by a name are the machine, and what shares memory.
		if v, ok := i.get("mpi_hw_resource_type"); ok && v == "mpi_shared_memory" {
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
		return wrong(errArg, "%d is no kind of split", what)
	}
	d, err := c.like(c.c.Split(color, key))
	if err != nil {
		return err
	}
	return a.setComm(4, d)
}

func (a *call) commCreate() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	g, err := a.group(1)
	if err != nil {
		return err
	}
	if c.x != nil {
		d, err := c.likeX(c.x.Create(g))
		if err != nil {
			return err
		}
		return a.setComm(2, d)
	}
	d, err := c.like(c.c.Create(g))
	if err != nil {
		return err
	}
	return a.setComm(2, d)
}

func (a *call) commCreateGroup() error {
	c, err := a.intra(0)
	if err != nil {
		return err
	}
	g, err := a.group(1)
	if err != nil {
		return err
	}
	if g.Size() == 0 {
		return a.setHandle(3, nullComm)
	}
	d, err := c.like(c.c.CreateGroup(g, a.int(2)))
	if err != nil {
		return err
	}
	return a.setComm(3, d)
}

func (a *call) intercommCreate() error {
	c, err := a.intra(0)
	if err != nil {
		return err
	}
	leader := a.int(1)
	if leader < 0 || leader >= c.c.Size() {
		return wrong(errRank, "leader %d of %d", leader, c.c.Size())
	}
	peer, remote := (*mpi.Comm)(nil), a.int(3)
	if c.c.Rank() == leader {
		p, err := commOf(a.handle(2))
		if err != nil {
			return err
		}
		if peer = p.m; p.x != nil {
			remote = p.x.Far(remote)
		}
	}
	d, err := c.likeX(c.c.Intercomm(leader, peer, remote, a.int(4)))
	if err != nil {
		return err
	}
	return a.setComm(5, d)
}

func (a *call) intercommMerge() error {
	c, err := a.inter(0)
	if err != nil {
		return err
	}
	d, err := c.like(c.x.Merge(a.int(1) != 0))
	if err != nil {
		return err
	}
	return a.setComm(2, d)
}

func (a *call) commGetParent() error { return a.setHandle(0, nullComm) }

func (a *call) commSetName() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	s, err := a.string(1)
	if err == nil {
		c.mu.Lock()
		c.name = s[:min(len(s), 127)]
		c.mu.Unlock()
	}
	return err
}

func (a *call) commGetName() error {
	if a.handle(0) == nullComm {
		return a.setText(1, 2, "MPI_COMM_NULL", 128)
	}
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	c.mu.Lock()
	s := c.name
	c.mu.Unlock()
	return a.setText(1, 2, s, 128)
}

func (a *call) commSetInfo() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	i, err := a.info(1)
	if err == nil {
		c.mu.Lock()
		c.info = c.info.merged(i)
		c.mu.Unlock()
	}
	return err
}

func (a *call) commGetInfo() error {
	c, err := a.comm(0)
	if err != nil {
		return err
	}
	c.mu.Lock()
	i := c.info.dup()
	c.mu.Unlock()
	return a.setInfo(1, i)
}
