//go:build cgo && linux

package main

import (
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// packed has n bytes moved between elements and a packed buffer of size bytes at one argument, from the position at
// another on, which goes behind them: an int, or a number of 64 bits.
func (a *cCall) packed(buffer, size, position, n int, wide bool, move func([]byte) error) error {
	read, write := a.ints, a.setInt
	if wide {
		read, write = a.addresses, a.setAint
	}
	at, err := read(position, 1)
	if err != nil {
		return err
	}
	b, err := a.room(buffer, size, at[0], n)
	if err != nil {
		return err
	}
	if err := move(b); err != nil {
		return err
	}
	return write(position, at[0]+n)
}

// room are n bytes of a packed buffer of size bytes at an argument, from a place on.
func (a *cCall) room(i, size, at, n int) ([]byte, error) {
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

func (a *cCall) pack(b mpi.Buffer, size int, _ *cComm) error {
	return a.packed(3, size, 5, b.Size(), a.wide != 0, func(to []byte) error {
		b.Pack(0, to)
		return nil
	})
}

func (a *cCall) unpack(size int, b mpi.Buffer, _ *cComm) error {
	return a.packed(0, size, 2, b.Size(), a.wide != 0, func(from []byte) error {
		b.Unpack(0, from)
		return nil
	})
}

func (a *cCall) packSize(n elementCount, t *committed, _ *cComm) int { return n * t.t.Size() }

// external checks the name of a representation.
func (a *cCall) external() error {
	s, err := a.string(0)
	if err == nil && s != "external32" {
		err = wrong(errArg, "%q is no representation: external32 is", s)
	}
	return err
}

func (a *cCall) packExternal(b mpi.Buffer, size int) error {
	if err := a.external(); err != nil {
		return err
	}
	return a.packed(4, size, 6, b.ExternalSize(), true, b.PackExternal)
}

func (a *cCall) unpackExternal(size int, b mpi.Buffer) error {
	if err := a.external(); err != nil {
		return err
	}
	return a.packed(1, size, 3, b.ExternalSize(), true, func(from []byte) error {
		b.UnpackExternal(from)
		return nil
	})
}

func (a *cCall) packExternalSize(n elementCount, t *committed) (int, error) {
	return n * t.t.ExternalSize(), a.external()
}

// generalized is a request that the program ends.
type generalized struct {
	query, free_, cancel_, extra uintptr
	r                            *mpi.Request

	mu    sync.Mutex
	done  bool // under mu: the program has completed it
	freed bool // under mu: it was freed before, and ends when it is completed
}

func (a *cCall) grequestStart() (*cRequest, error) {
	if a.word[0] == 0 || a.word[1] == 0 || a.word[2] == 0 {
		return nil, wrong(errArg, "a function is missing")
	}
	g := &generalized{query: a.word[0], free_: a.word[1], cancel_: a.word[2], extra: a.word[3], r: mpi.NewRequest(nil)}
	return &cRequest{r: g.r, general: g}, nil
}

func (a *cCall) grequestComplete(h handle) error {
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

// drop is MPI_Request_free: the program's function is called now if it was completed, and else when it is. Until then
// only MPI_Grequest_complete takes its handle.
func (g *generalized) drop(h handle) error {
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
func (g *generalized) look(x *cStatus) error {
	if x == nil {
		x = scratch()
		defer release(number(pointer(x)))
	}
	return failed(callQuery(g.query, g.extra, x))
}

// ends ends one that is done.
func (g *generalized) ends(x *cStatus) error {
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
func (a *cCall) parted(receives bool) (e envelope, parts int, err error) {
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
	t, err := a.committed(3)
	if err != nil {
		return
	}
	e.b, err = a.elementsAt(0, n*parts, t)
	return
}

// partedInit makes a partitioned message.
func (a *cCall) partedInit(receives bool, init func(*mpi.Comm, mpi.Buffer, int, int, int) (*mpi.Partitioned, error)) (*cRequest, error) {
	e, n, err := a.parted(receives)
	if err != nil {
		return nil, err
	}
	p, err := init(e.c.m, e.b, n, e.rank, e.tag)
	if err != nil {
		return nil, err
	}
	return &cRequest{comm: e.c, r: p.Request, parts: p, sends: !receives, persistent: true}, nil
}

func (a *cCall) psendInit() (*cRequest, error) { return a.partedInit(false, mpi.NewPartitionedSend) }
func (a *cCall) precvInit() (*cRequest, error) { return a.partedInit(true, mpi.NewPartitionedReceive) }

// partitioned is the request of a partitioned message.
type partitioned = cRequest

// partitioned is an argument that is one.
func (a *cCall) partitioned(i int) (*partitioned, error) {
	r, err := a.request(a.handle(i))
	if err == nil && (r == nil || r.parts == nil) {
		err = wrong(errRequest, "it is no request of a partitioned message")
	}
	return r, err
}

func (a *cCall) pready(part int, r *partitioned) error { return r.parts.Ready(part) }

func (a *cCall) preadyRange(low, high int, r *partitioned) error {
	for i := low; i <= high; i++ {
		if err := r.parts.Ready(i); err != nil {
			return err
		}
	}
	return nil
}

func (a *cCall) preadyList(n int, r *partitioned) error {
	parts, err := a.ints(1, n)
	if err != nil {
		return err
	}
	return r.parts.Ready(parts...)
}

func (a *cCall) parrived(r *partitioned, part int) (bool, error) {
	if r.idle() {
		return true, nil
	}
	return r.parts.Arrived(part)
}
