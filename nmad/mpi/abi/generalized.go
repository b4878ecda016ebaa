//go:build cgo && linux

package main

import (
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// generalized is a generalized request: the program says when it is complete.
type generalized struct {
	queryFunc, freeFunc, cancelFunc, extra uintptr      // functions of the program, and what they get first
	req                                    *mpi.Request // completes when the program says so

	mu    sync.Mutex
	done  bool // the program has completed it; under mu
	freed bool // the program has freed it; it ends when it is complete; under mu
}

func (a *cCall) grequestStart() (*cRequest, error) {
	if a.word[0] == 0 || a.word[1] == 0 || a.word[2] == 0 {
		return nil, errorf(errArg, "a function is missing")
	}
	g := &generalized{queryFunc: a.word[0], freeFunc: a.word[1], cancelFunc: a.word[2], extra: a.word[3], req: mpi.NewRequest(nil)}
	return &cRequest{req: g.req, generalized: g}, nil
}

func (a *cCall) grequestComplete(h handle) error {
	r, err := requests.get(h)
	if err != nil {
		return err
	}
	g := r.generalized
	if g == nil {
		return errorf(errRequest, "it is no generalized request")
	}
	g.mu.Lock()
	completed, freed := g.done, g.freed
	g.done = true
	g.mu.Unlock()
	switch {
	case completed:
		return errorf(errRequest, "it was completed before")
	case freed:
		requests.drop(h)
		return g.free()
	}
	g.req.Complete(mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}, nil)
	return nil
}

// freeRequest is MPI_Request_free. The program's function is called now if the request is complete, and otherwise
// when it completes. Until then only MPI_Grequest_complete accepts the handle.
func (g *generalized) freeRequest(h handle) error {
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

// isFreed reports whether the program has freed the request.
func (g *generalized) isFreed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.freed
}

// queryStatus has the program's function fill in the status of a completed request.
func (g *generalized) queryStatus(x *cStatus) error {
	if x == nil {
		x = newStatus()
		defer release(uintptrOf(pointer(x)))
	}
	return callbackError(callQuery(g.queryFunc, g.extra, x))
}

// finish fills in the status of a completed request and calls the program's function that frees it.
func (g *generalized) finish(x *cStatus) error {
	err := g.queryStatus(x)
	if e := g.free(); err == nil {
		err = e
	}
	return err
}

func (g *generalized) free() error { return callbackError(callFree(g.freeFunc, g.extra)) }

func (g *generalized) cancel() error {
	g.mu.Lock()
	done := g.done
	g.mu.Unlock()
	return callbackError(callCancel(g.cancelFunc, g.extra, done))
}
