//go:build cgo && linux

package main

import (
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// position is a place in a packed buffer, at an argument: an int, or a number of 64 bits.
func (a *call) position(i int, wide bool) (int, func(int) error, error) {
	if wide {
		p, err := a.addresses(i, 1)
		if err != nil {
			return 0, nil, err
		}
		return p[0], func(v int) error { return a.setAint(i, v) }, nil
	}
	p, err := a.ints(i, 1)
	if err != nil {
		return 0, nil, err
	}
	return p[0], func(v int) error { return a.setInt(i, v) }, nil
}

// room are n bytes of a packed buffer of size bytes at an argument, from a place on.
func (a *call) room(i, size, at, n int) ([]byte, error) {
	if at < 0 || n < 0 || at > size-n {
		return nil, wrong(errArg, "%d B from %d on are not in a packed buffer of %d", n, at, size)
	}
	if n == 0 {
		return nil, nil // and no address need be there
	}
	if a.word[i] == 0 {
		return nil, wrong(errBuffer, "argument %d is no address", i+1)
	}
	return memory(a.ptr(i), size)[at : at+n : at+n], nil
}

func (a *call) pack() error {
	if _, err := a.comm(6); err != nil {
		return err
	}
	b, _, err := a.buffer(0, 1, 2)
	if err != nil {
		return err
	}
	at, set, err := a.position(5, a.wide != 0)
	if err != nil {
		return err
	}
	to, err := a.room(3, a.int(4), at, b.Size())
	if err != nil {
		return err
	}
	b.Pack(0, to)
	return set(at + b.Size())
}

func (a *call) unpack() error {
	if _, err := a.comm(6); err != nil {
		return err
	}
	b, _, err := a.buffer(3, 4, 5)
	if err != nil {
		return err
	}
	at, set, err := a.position(2, a.wide != 0)
	if err != nil {
		return err
	}
	from, err := a.room(0, a.int(1), at, b.Size())
	if err != nil {
		return err
	}
	b.Unpack(0, from)
	return set(at + b.Size())
}

func (a *call) packSize() error {
	if _, err := a.comm(2); err != nil {
		return err
	}
	n, err := a.count(0)
	if err != nil {
		return err
	}
	t, err := ready(a.handle(1))
	if err != nil {
		return err
	}
	return a.setCount(3, n*t.t.Size())
}

// external checks the name of a representation.
func (a *call) external() error {
	s, err := a.string(0)
	if err == nil && s != "external32" {
		err = wrong(errArg, "%q is no representation: external32 is", s)
	}
	return err
}

func (a *call) packExternal() error {
	if err := a.external(); err != nil {
		return err
	}
	b, _, err := a.buffer(1, 2, 3)
	if err != nil {
		return err
	}
	at, set, err := a.position(6, true)
	if err != nil {
		return err
	}
	to, err := a.room(4, a.int(5), at, b.ExternalSize())
	if err != nil {
		return err
	}
	if err := b.PackExternal(to); err != nil {
		return err
	}
	return set(at + b.ExternalSize())
}

func (a *call) unpackExternal() error {
	if err := a.external(); err != nil {
		return err
	}
	b, _, err := a.buffer(4, 5, 6)
	if err != nil {
		return err
	}
	at, set, err := a.position(3, true)
	if err != nil {
		return err
	}
	from, err := a.room(1, a.int(2), at, b.ExternalSize())
	if err != nil {
		return err
	}
	b.UnpackExternal(from)
	return set(at + b.ExternalSize())
}

func (a *call) packExternalSize() error {
	if err := a.external(); err != nil {
		return err
	}
	n, err := a.count(1)
	if err != nil {
		return err
	}
	t, err := ready(a.handle(2))
	if err != nil {
		return err
	}
	return a.setAint(3, n*t.t.ExternalSize())
}

// generalized is a request that the program ends.
type generalized struct {
	query, free_, cancel_, extra uintptr
	r                            *mpi.Request

	mu    sync.Mutex
	done  bool // under mu: the program has completed it
	freed bool // under mu: it was freed before, and ends when it is completed
}

func (a *call) grequestStart() error {
	if a.word[0] == 0 || a.word[1] == 0 || a.word[2] == 0 {
		return wrong(errArg, "a function is missing")
	}
	g := &generalized{query: a.word[0], free_: a.word[1], cancel_: a.word[2], extra: a.word[3], r: mpi.NewRequest(nil)}
	return a.setRequest(4, &request{r: g.r, general: g})
}

func (a *call) grequestComplete() error {
	h := a.handle(0)
	if h == nullRequest {
		return wrong(errRequest, "it is MPI_REQUEST_NULL")
	}
	r, err := requests.get(h)
	if err != nil {
		return err
	}
	g := r.general
	if g == nil {
		return wrong(errRequest, "it is no generalized request")
	}
	g.mu.Lock()
	again, freed := g.done, g.freed
	g.done = true
	g.mu.Unlock()
	switch {
	case again:
		return wrong(errRequest, "it was completed before")
	case freed:
		requests.drop(h)
		return g.free()
	}
	g.r.Complete(mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}, nil)
	return nil
}

// over is MPI_Request_free: the program's function is called now if it was completed, and else when it is. Until then only MPI_Grequest_complete takes its handle.
func (g *generalized) over(h handle) error {
	g.mu.Lock()
	done := g.done
	g.freed = true
	g.mu.Unlock()
	if !done {
		return nil
	}
	requests.drop(h)
	return g.free()
}

// ended says that it was freed.
func (g *generalized) ended() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.freed
}

// look has the program fill in the status of one that is done.
func (g *generalized) look(x *status) error {
	if x == nil {
		x = scratch()
		defer release(number(pointer(x)))
	}
	return failed(callQuery(g.query, g.extra, x))
}

// ends ends one that is done.
func (g *generalized) ends(x *status) error {
	err := g.look(x)
	if e := g.free(); err == nil {
		err = e
	}
	return err
}

func (g *generalized) free() error { return failed(callFree(g.free_, g.extra)) }

func (g *generalized) cancel() error {
	g.mu.Lock()
	done := g.done
	g.mu.Unlock()
	return failed(callCancel(g.cancel_, g.extra, done))
}

// parted are the arguments of a partitioned message.
func (a *call) parted(receives bool) (e envelope, parts int, err error) {
	if e.c, err = a.comm(6); err != nil {
		return
	}
	if e.rank, e.tag, err = e.c.peer(a.int(4), a.int(5), receives); err != nil {
		return
	}
	if parts = a.int(1); parts < 1 {
		err = wrong(errArg, "%d parts", parts)
		return
	}
	n, err := a.count(2)
	if err != nil {
		return
	}
	t, err := ready(a.handle(3))
	if err != nil {
		return
	}
	e.b, err = a.elementsAt(0, n*parts, t)
	return
}

func (a *call) psendInit() error {
	e, n, err := a.parted(false)
	if err != nil {
		return err
	}
	p, err := e.c.m.PsendInit(e.b, n, e.rank, e.tag)
	if err != nil {
		return err
	}
	return a.setRequest(8, &request{comm: e.c, r: p.Request, parts: p, sends: true, persistent: true})
}

func (a *call) precvInit() error {
	e, n, err := a.parted(true)
	if err != nil {
		return err
	}
	p, err := e.c.m.PrecvInit(e.b, n, e.rank, e.tag)
	if err != nil {
		return err
	}
	return a.setRequest(8, &request{comm: e.c, r: p.Request, parts: p, persistent: true})
}

// partitioned is an argument that is the request of a partitioned message.
func (a *call) partitioned(i int) (*request, error) {
	r, err := a.request(a.handle(i))
	if err != nil {
		return nil, err
	}
	if r == nil || r.parts == nil {
		return nil, wrong(errRequest, "it is no request of a partitioned message")
	}
	return r, nil
}

// readyParts says that parts may leave.
func (a *call) readyParts(i int, parts ...int) error {
	r, err := a.partitioned(i)
	if err != nil {
		return err
	}
	return r.parts.Ready(parts...)
}

func (a *call) pready() error { return a.readyParts(1, a.int(0)) }

func (a *call) preadyRange() error {
	for i := a.int(0); i <= a.int(1); i++ {
		if err := a.readyParts(2, i); err != nil {
			return err
		}
	}
	return nil
}

func (a *call) preadyList() error {
	parts, err := a.ints(1, a.int(0))
	if err != nil {
		return err
	}
	return a.readyParts(2, parts...)
}

func (a *call) parrived() error {
	r, err := a.partitioned(0)
	if err != nil {
		return err
	}
	if r.idle() {
		return a.setFlag(2, true)
	}
	there, err := r.parts.Arrived(a.int(1))
	if err != nil {
		return err
	}
	return a.setFlag(2, there)
}
