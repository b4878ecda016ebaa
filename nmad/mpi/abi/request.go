//go:build cgo && linux

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// cRequest is a request. A persistent one stays after its end, and is not active until it is started; the others end
// with the call that finds them done. Only one thread at a time waits for a request, as the standard asks.
type cRequest struct {
	handle     handle
	comm       *cComm       // nil: of none
	object     *object      // whose error handler is told; nil: that of comm
	r          *mpi.Request // nil: it is done as soon as it is active
	also       *mpi.Request // a send that belongs to it; nil: none
	done       bool         // it is done from the start
	status     mpi.Status   // of one that is done
	sends      bool         // it is no receive: its status is empty, but for whether it was cancelled
	persistent bool
	active     bool         // of a persistent one
	begin      func() error // what a start does before that of r
	after      func(error) error
	parts      *mpi.Partitioned
	general    *generalized
	own        mpi.Request // r of one that is of spare, or of a slip
	slip       *slip       // nil: C has not begun it
}

// setRequest takes a request in, and writes its handle.
func (a *cCall) setRequest(i int, r *cRequest) (err error) {
	if _, err = a.out(i); err != nil {
		return err
	}
	if r.handle, err = requests.add(r); err != nil {
		return err
	}
	return a.setHandle(i, r.handle)
}

// request is an argument that is one; nil: it is MPI_REQUEST_NULL.
func (a *cCall) request(h handle) (*cRequest, error) {
	if h == nullRequest {
		return nil, nil
	}
	r, err := find(h)
	if err == nil && r.general != nil && r.general.ended() {
		return nil, wrong(errRequest, "the generalized request %#x was freed", uintptr(h))
	}
	switch {
	case err != nil || a.object != 0:
	case r.object != nil:
		a.object = r.object.handle
	case r.comm != nil:
		a.object = r.comm.handle
	}
	return r, err
}

// idle says that a request is nothing to wait for.
func (r *cRequest) idle() bool { return r == nil || r.persistent && !r.active }

// wait waits for the end of one that is not idle.
func (r *cRequest) wait() (s mpi.Status, err error) {
	if r.done {
		return r.status, nil
	}
	s, err = r.r.Wait()
	if r.also != nil {
		if _, e := r.also.Wait(); err == nil {
			err = e
		}
	}
	return s, err
}

// test says whether one that is not idle is done.
func (r *cRequest) test() (done bool, s mpi.Status, err error) {
	if r.done {
		return true, r.status, nil
	}
	if r.also != nil {
		if over, _, _ := r.also.Test(); !over {
			return false, s, nil
		}
	}
	return r.r.Test()
}

// tells writes the status of a request that is done, unless it is ignored, and whether it was cancelled, which is no error.
func (r *cRequest) tells(x *cStatus, s mpi.Status, err error) error {
	cancelled := errors.Is(err, nmad.ErrCanceled)
	if cancelled {
		err = nil
	}
	if x == nil {
		return err
	}
	if r.sends {
		x.empty()
	} else {
		x.received(s, nil)
	}
	if cancelled {
		x.cancelled = 1
	}
	return err
}

// ends ends a request that is done, writes its status, and gives up the handle at its place unless the request is
// persistent. The error is that of the operation.
func (r *cRequest) ends(at *handle, x *cStatus, s mpi.Status, err error) error {
	err = r.tells(x, s, err)
	if r.after != nil {
		err = r.after(err)
	}
	if r.general != nil {
		err = r.general.ends(x)
	}
	if r.persistent {
		r.active = false
		return err
	}
	*at = nullRequest
	if r.drop() && err == nil {
		r.again()
	}
	return err
}

// look writes the status of a request that is done and stays. The error is that of the program's function of a
// generalized request.
func (r *cRequest) look(x *cStatus, s mpi.Status, err error) error {
	_ = r.tells(x, s, err)
	if r.general != nil {
		return r.general.look(x)
	}
	return nil
}

func (a *cCall) wait(h *handle, x *cStatus) error {
	r, err := a.request(*h)
	if err != nil {
		return err
	}
	if r.idle() {
		x.empty()
		return nil
	}
	s, err := r.wait()
	return r.ends(h, x, s, err)
}

func (a *cCall) test(h *handle, x *cStatus) error { return a.tested(*h, h, x) }

func (a *cCall) requestGetStatus(h handle, x *cStatus) error { return a.tested(h, nil, x) }

// tested writes whether a request is done; at is its place, if one that is does not stay.
func (a *cCall) tested(h handle, at *handle, x *cStatus) error {
	r, err := a.request(h)
	if err != nil {
		return err
	}
	if r.idle() {
		x.empty()
		return a.setFlag(1, true)
	}
	done, s, err := r.test()
	switch {
	case done && at == nil:
		err = r.look(x, s, err)
	case done:
		err = r.ends(at, x, s, err)
	}
	if e := a.setFlag(1, done); err == nil {
		err = e
	}
	return err
}

// all are the requests at an argument.
func (a *cCall) all(count, at int) ([]handle, []*cRequest, error) {
	n, err := a.count(count)
	if err != nil {
		return nil, nil, err
	}
	hs, err := a.handles(at, n)
	if err != nil {
		return nil, nil, err
	}
	rs := make([]*cRequest, n)
	for i, h := range hs {
		if rs[i], err = a.request(h); err != nil {
			return nil, nil, err
		}
	}
	return hs, rs, nil
}

// twice says that this call has ended a request already, so that its handle may be another one's by now: the request
// stands at two places.
func twice(hs []handle, i int) error {
	if _, err := find(hs[i]); err != nil {
		return fmt.Errorf("request %d of %d, which stands there twice: %w", i, len(hs), err)
	}
	return nil
}

// endings collects how several requests end, or, if they stay, stand.
type endings struct {
	hs    []handle
	x     []cStatus // nil: they are ignored
	stay  bool
	first error // nil: none has failed
	at    int   // the place of its request
}

// done ends the request of a place, unless it stays. Its status has another place.
func (m *endings) done(i, at int, r *cRequest, s mpi.Status, err error) {
	var x *cStatus
	if m.x != nil {
		x = &m.x[at]
	}
	if m.stay {
		err = r.look(x, s, err)
	} else {
		err = r.ends(&m.hs[i], x, s, err)
	}
	if x != nil {
		x.failed = int32(codeOf(err))
	}
	if err != nil && m.first == nil {
		m.first, m.at = err, i
	}
}

// idle empties the status of the place of a request that is nothing to wait for.
func (m *endings) idle(i int) {
	if m.x != nil {
		m.x[i].empty()
	}
}

// outcome is the error of the call.
func (m *endings) outcome() error {
	if m.first == nil || m.stay {
		return m.first
	}
	return wrong(errInStatus, "request %d of %d: %v (%s)", m.at, len(m.hs), m.first, codeText(codeOf(m.first)))
}

func (a *cCall) waitall(n elementCount) error {
	hs, err := a.handles(1, n)
	if err != nil {
		return err
	}
	for _, h := range hs { // before any ends
		if _, err := a.request(h); err != nil {
			return err
		}
	}
	m := endings{hs: hs, x: a.statuses(2, n)}
	for i := range hs {
		r, err := a.request(hs[i])
		if err != nil {
			return err
		}
		if r.idle() {
			m.idle(i)
			continue
		}
		s, err := r.wait()
		m.done(i, i, r, s, err)
	}
	return m.outcome()
}

// every ends all requests if all are done. Those that stay are not ended.
func (a *cCall) every(stay bool) error {
	hs, rs, err := a.all(0, 1)
	if err != nil {
		return err
	}
	for _, r := range rs {
		if r.idle() {
			continue
		}
		if done, _, _ := r.test(); !done {
			return a.setFlag(2, false)
		}
	}
	m := endings{hs: hs, x: a.statuses(3, len(hs)), stay: stay}
	for i, r := range rs {
		if r.idle() {
			m.idle(i)
			continue
		}
		if err := twice(hs, i); err != nil {
			return err
		}
		s, err := r.wait()
		m.done(i, i, r, s, err)
	}
	if err := a.setFlag(2, true); err != nil {
		return err
	}
	return m.outcome()
}

func (a *cCall) testall() error             { return a.every(false) }
func (a *cCall) requestGetStatusAll() error { return a.every(true) }

// one returns the place of a request that is done; below 0: no request there is to be waited for.
func one(rs []*cRequest) (int, error) {
	waits := make([]*mpi.Request, len(rs))
	some := false
	for i, r := range rs {
		switch {
		case r.idle():
		case r.done:
			return i, nil
		default:
			waits[i], some = r.r, true
		}
	}
	if !some {
		return -1, nil
	}
	for {
		i, _, _ := mpi.WaitAny(waits...)
		if i < 0 {
			return -1, wrong(errIntern, "none of %d requests ended", len(rs))
		}
		also := rs[i].also
		if also == nil || waits[i] == also {
			return i, nil
		}
		waits[i] = also // the other half of an exchange, which may be over later than another request
	}
}

func (a *cCall) waitany() error {
	hs, rs, err := a.all(0, 1)
	if err != nil {
		return err
	}
	i, err := one(rs)
	if err != nil {
		return err
	}
	if i < 0 {
		a.status(3).empty()
		return a.setInt(2, undefined)
	}
	if err := a.setInt(2, i); err != nil {
		return err
	}
	s, err := rs[i].wait()
	return rs[i].ends(&hs[i], a.status(3), s, err)
}

// any ends one request that is done, unless it stays.
func (a *cCall) any(stay bool) error {
	hs, rs, err := a.all(0, 1)
	if err != nil {
		return err
	}
	some := false
	for i, r := range rs {
		if r.idle() {
			continue
		}
		some = true
		if done, s, err := r.test(); done {
			if err := errors.Join(a.setInt(2, i), a.setFlag(3, true)); err != nil {
				return err
			}
			if stay {
				return r.look(a.status(4), s, err)
			}
			return r.ends(&hs[i], a.status(4), s, err)
		}
	}
	if !some {
		a.status(4).empty()
	}
	return errors.Join(a.setInt(2, undefined), a.setFlag(3, !some))
}

func (a *cCall) testany() error             { return a.any(false) }
func (a *cCall) requestGetStatusAny() error { return a.any(true) }

// several ends all requests that are done, at least one if they are waited for, unless they stay.
func (a *cCall) several(wait, stay bool) error {
	hs, rs, err := a.all(0, 1)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(rs, func(r *cRequest) bool { return !r.idle() }) {
		return a.setInt(2, undefined)
	}
	if wait {
		if _, err := one(rs); err != nil {
			return err
		}
	}
	places, err := list[int32](a, 3, len(rs))
	if err != nil {
		return err
	}
	m, n := endings{hs: hs, x: a.statuses(4, len(hs)), stay: stay}, 0
	for i, r := range rs {
		if r.idle() {
			continue
		}
		if err := twice(hs, i); err != nil {
			return err
		}
		if done, s, err := r.test(); done {
			places[n] = int32(i)
			m.done(i, n, r, s, err)
			n++
		}
	}
	if err := a.setInt(2, n); err != nil {
		return err
	}
	return m.outcome()
}

func (a *cCall) waitsome() error             { return a.several(true, false) }
func (a *cCall) testsome() error             { return a.several(false, false) }
func (a *cCall) requestGetStatusSome() error { return a.several(false, true) }

// requestAt is an argument that is the address of a request; MPI_REQUEST_NULL is wrong there.
func (a *cCall) requestAt(h *handle) (*cRequest, error) {
	r, err := a.request(*h)
	if r == nil && err == nil {
		err = wrong(errRequest, "it is MPI_REQUEST_NULL")
	}
	return r, err
}

func (a *cCall) requestFree(h *handle) error {
	r, err := a.requestAt(h)
	if err != nil {
		return err
	}
	was := *h
	*h = nullRequest
	if r.general != nil {
		return r.general.drop(was)
	}
	r.drop()
	return nil
}

func (a *cCall) cancel(h *handle) error {
	r, err := a.requestAt(h)
	switch {
	case err != nil:
		return err
	case r.general != nil:
		return r.general.cancel()
	case r.idle():
		return wrong(errRequest, "the request was not started")
	case r.r != nil && !r.sends:
		r.r.Cancel()
	}
	return nil
}

// start starts a persistent request.
func (r *cRequest) start() error {
	switch {
	case r == nil || !r.persistent:
		return wrong(errRequest, "it is no persistent request")
	case r.active:
		return wrong(errRequest, "the request was started before, and has not ended")
	}
	if r.begin != nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	var err error
	switch {
	case r.parts != nil:
		err = r.parts.Start()
	case r.r != nil:
		err = r.r.Start()
	}
	r.active = err == nil
	return err
}

func (a *cCall) start(h *handle) error {
	r, err := a.request(*h)
	if err != nil {
		return err
	}
	return r.start()
}

func (a *cCall) startall() error {
	_, rs, err := a.all(0, 1)
	if err != nil {
		return err
	}
	for _, r := range rs {
		if err := r.start(); err != nil {
			return err
		}
	}
	return nil
}
