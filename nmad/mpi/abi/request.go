//go:build cgo && linux

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// cRequest is a request. One that is not persistent ends with the call that finds it complete. A persistent one
// stays, and is inactive until it is started. Only one thread at a time may wait for a request, as the standard
// demands; so the fields need no lock.
type cRequest struct {
	handle      handle            // by which the program names it
	comm        *cComm            // of the message; nil: none
	object      *object           // whose error handler gets errors; nil: that of comm does
	req         *mpi.Request      // the operation; nil: it completes when it is started
	sendHalf    *mpi.Request      // the send of an MPI_Isendrecv, whose receive is req; nil: none
	done        bool              // it was complete from the start
	status      mpi.Status        // of the receive, if done
	noStatus    bool              // it is not a receive: its status is empty, and it cannot be canceled
	persistent  bool              // it stays when it is complete
	active      bool              // persistent: it was started and has not ended
	onStart     func() error      // what start does before it starts req; nil: nothing
	onEnd       func(error) error // what finish does with the error of the operation; nil: nothing
	partitioned *mpi.Partitioned  // of a partitioned message, whose request is req; nil: it is none
	generalized *generalized      // of a generalized request; nil: it is none
	embedded    mpi.Request       // req points to it in a request of requestPool, and in one of a slip
	slip        *slip             // the receive that C has begun; nil: Go has begun the request
}

// setRequest gives r a handle and writes that to argument i.
func (a *cCall) setRequest(i int, r *cRequest) (err error) {
	if _, err = a.out(i); err != nil {
		return err
	}
	if r.handle, err = requests.add(r); err != nil {
		return err
	}
	return a.setHandle(i, r.handle)
}

// request returns the request of h; nil for MPI_REQUEST_NULL. Errors of the call go to the handler of the
// request's object, unless the call has one already.
func (a *cCall) request(h handle) (*cRequest, error) {
	if h == requestNullHandle {
		return nil, nil
	}
	r, err := findRequest(h)
	if err == nil && r.generalized != nil && r.generalized.isFreed() {
		return nil, errorf(errRequest, "the generalized request %#x was freed", uintptr(h))
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

// idle reports whether a wait for r returns at once with an empty status: r is MPI_REQUEST_NULL or inactive.
func (r *cRequest) idle() bool { return r == nil || r.persistent && !r.active }

// wait blocks until r, which is not idle, is complete.
func (r *cRequest) wait() (s mpi.Status, err error) {
	if r.done {
		return r.status, nil
	}
	s, err = r.req.Wait()
	if r.sendHalf != nil {
		if _, e := r.sendHalf.Wait(); err == nil {
			err = e
		}
	}
	return s, err
}

// test reports whether r, which is not idle, is complete. It polls once and does not block.
func (r *cRequest) test() (done bool, s mpi.Status, err error) {
	if r.done {
		return true, r.status, nil
	}
	if r.sendHalf != nil {
		if over, _, _ := r.sendHalf.Test(); !over {
			return false, s, nil
		}
	}
	return r.req.Test()
}

// writeStatus fills in the status x of a completed request, unless x is nil. Cancellation goes into the status and
// is no error.
func (r *cRequest) writeStatus(x *cStatus, s mpi.Status, err error) error {
	canceled := errors.Is(err, nmad.ErrCanceled)
	if canceled {
		err = nil
	}
	if x == nil {
		return err
	}
	if r.noStatus {
		x.empty()
	} else {
		x.received(s, nil)
	}
	if canceled {
		x.canceled = 1
	}
	return err
}

// finish ends the completed request r: it writes the status and, unless r is persistent, frees the handle and sets
// it to MPI_REQUEST_NULL. The error is that of the operation.
func (r *cRequest) finish(at *handle, x *cStatus, s mpi.Status, err error) error {
	err = r.writeStatus(x, s, err)
	if r.onEnd != nil {
		err = r.onEnd(err)
	}
	if r.generalized != nil {
		err = r.generalized.finish(x)
	}
	if r.persistent {
		r.active = false
		return err
	}
	*at = requestNullHandle
	if r.drop() && err == nil {
		r.recycle()
	}
	return err
}

// peek writes the status of a completed request and leaves the request as it is. The error can only come from the
// program's function of a generalized request.
func (r *cRequest) peek(x *cStatus, s mpi.Status, err error) error {
	_ = r.writeStatus(x, s, err)
	if r.generalized != nil {
		return r.generalized.queryStatus(x)
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
	return r.finish(h, x, s, err)
}

func (a *cCall) test(h *handle, x *cStatus) error { return a.testRequest(*h, h, x) }

func (a *cCall) requestGetStatus(h handle, x *cStatus) error { return a.testRequest(h, nil, x) }

// testRequest writes whether the request of h is complete. If it is, and place is not nil, the request ends, and
// *place, of its handle, becomes MPI_REQUEST_NULL.
func (a *cCall) testRequest(h handle, place *handle, x *cStatus) error {
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
	case done && place == nil:
		err = r.peek(x, s, err)
	case done:
		err = r.finish(place, x, s, err)
	}
	if e := a.setFlag(1, done); err == nil {
		err = e
	}
	return err
}

// requestList returns the handles at argument 1, as many as argument 0 says, and their requests.
func (a *cCall) requestList() ([]handle, []*cRequest, error) {
	n, err := a.count(0)
	if err != nil {
		return nil, nil, err
	}
	hs, err := a.handles(1, n)
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

// givenTwice returns the error of the handle at index i, which was right when the call began, and has the error err
// now: the program has given the handle twice, and the call has ended its request.
func givenTwice(hs []handle, i int, err error) error {
	return fmt.Errorf("request %d of %d is given twice: %w", i, len(hs), err)
}

// completions collects the results of a call for several requests.
type completions struct {
	handles  []handle  // of the call, in the program's memory
	statuses []cStatus // in the program's memory; nil: the program ignores them
	keep     bool      // the requests do not end
	err      error     // the first error
	index    int       // of the request that has it
}

// done ends the completed request r at index i, or with keep only looks at it, and writes the status at index at.
func (m *completions) done(i, at int, r *cRequest, s mpi.Status, err error) {
	var x *cStatus
	if m.statuses != nil {
		x = &m.statuses[at]
	}
	if m.keep {
		err = r.peek(x, s, err)
	} else {
		err = r.finish(&m.handles[i], x, s, err)
	}
	if x != nil {
		x.errorCode = int32(codeOf(err))
	}
	if err != nil && m.err == nil {
		m.err, m.index = err, i
	}
}

// idle empties the status at index i, whose request is idle.
func (m *completions) idle(i int) {
	if m.statuses != nil {
		m.statuses[i].empty()
	}
}

// outcome returns the error of the call: MPI_ERR_IN_STATUS with the text of the first error. With keep it is that
// error.
func (m *completions) outcome() error {
	if m.err == nil || m.keep {
		return m.err
	}
	return errorf(errInStatus, "request %d of %d: %v (%s)", m.index, len(m.handles), m.err, codeText(codeOf(m.err)))
}

func (a *cCall) waitall(n elementCount) error {
	hs, err := a.handles(1, n)
	if err != nil {
		return err
	}
	for _, h := range hs { // refuse wrong handles before any request ends
		if _, err := a.request(h); err != nil {
			return err
		}
	}
	return a.waitEach(&completions{handles: hs, statuses: a.statuses(2, n)})
}

// waitEach waits for all requests, ends them, or with keep only looks at them, and returns the error of the call.
func (a *cCall) waitEach(m *completions) error {
	for i := range m.handles {
		r, err := a.request(m.handles[i])
		if err != nil {
			return givenTwice(m.handles, i, err)
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

// completeAll ends all requests if all are complete, and writes whether they are. With keep they do not end.
func (a *cCall) completeAll(keep bool) error {
	hs, rs, err := a.requestList()
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
	if err := a.setFlag(2, true); err != nil {
		return err
	}
	return a.waitEach(&completions{handles: hs, statuses: a.statuses(3, len(hs)), keep: keep})
}

func (a *cCall) testall() error             { return a.completeAll(false) }
func (a *cCall) requestGetStatusAll() error { return a.completeAll(true) }

// waitOne waits until one of the requests is complete and returns its index; -1 if all are idle.
func waitOne(rs []*cRequest) (int, error) {
	waits := make([]*mpi.Request, len(rs))
	some := false
	for i, r := range rs {
		switch {
		case r.idle():
		case r.done:
			return i, nil
		default:
			waits[i], some = r.req, true
		}
	}
	if !some {
		return -1, nil
	}
	for {
		i, _, _ := mpi.WaitAny(waits...)
		if i < 0 {
			return -1, errorf(errIntern, "none of %d requests ended", len(rs))
		}
		sendHalf := rs[i].sendHalf
		if sendHalf == nil || waits[i] == sendHalf {
			return i, nil
		}
		waits[i] = sendHalf // wait for the send of the exchange, too; another request may complete before
	}
}

func (a *cCall) waitany() error {
	hs, rs, err := a.requestList()
	if err != nil {
		return err
	}
	i, err := waitOne(rs)
	if err != nil {
		return err
	}
	if i < 0 {
		a.status(3).empty()
		return a.setInt(2, mpiUndefined)
	}
	if err := a.setInt(2, i); err != nil {
		return err
	}
	s, err := rs[i].wait()
	return rs[i].finish(&hs[i], a.status(3), s, err)
}

// completeAny ends one completed request, if there is one. With keep it does not end.
func (a *cCall) completeAny(keep bool) error {
	hs, rs, err := a.requestList()
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
			if keep {
				return r.peek(a.status(4), s, err)
			}
			return r.finish(&hs[i], a.status(4), s, err)
		}
	}
	if !some {
		a.status(4).empty()
	}
	return errors.Join(a.setInt(2, mpiUndefined), a.setFlag(3, !some))
}

func (a *cCall) testany() error             { return a.completeAny(false) }
func (a *cCall) requestGetStatusAny() error { return a.completeAny(true) }

// completeSome ends all completed requests. With wait it blocks until there is at least one. With keep they do not
// end.
func (a *cCall) completeSome(wait, keep bool) error {
	hs, rs, err := a.requestList()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(rs, func(r *cRequest) bool { return !r.idle() }) {
		return a.setInt(2, mpiUndefined)
	}
	if wait {
		if _, err := waitOne(rs); err != nil {
			return err
		}
	}
	displs, err := list[int32](a, 3, len(rs))
	if err != nil {
		return err
	}
	m, n := completions{handles: hs, statuses: a.statuses(4, len(hs)), keep: keep}, 0
	for i, r := range rs {
		if r.idle() {
			continue
		}
		if _, err := findRequest(hs[i]); err != nil {
			return givenTwice(hs, i, err)
		}
		if done, s, err := r.test(); done {
			displs[n] = int32(i)
			m.done(i, n, r, s, err)
			n++
		}
	}
	if err := a.setInt(2, n); err != nil {
		return err
	}
	return m.outcome()
}

func (a *cCall) waitsome() error             { return a.completeSome(true, false) }
func (a *cCall) testsome() error             { return a.completeSome(false, false) }
func (a *cCall) requestGetStatusSome() error { return a.completeSome(false, true) }

// requestNotNull returns the request of *h. It refuses MPI_REQUEST_NULL.
func (a *cCall) requestNotNull(h *handle) (*cRequest, error) {
	r, err := a.request(*h)
	if r == nil && err == nil {
		err = errorf(errRequest, "it is MPI_REQUEST_NULL")
	}
	return r, err
}

func (a *cCall) requestFree(h *handle) error {
	r, err := a.requestNotNull(h)
	if err != nil {
		return err
	}
	old := *h
	*h = requestNullHandle
	if r.generalized != nil {
		return r.generalized.freeRequest(old)
	}
	r.drop()
	return nil
}

func (a *cCall) cancel(h *handle) error {
	r, err := a.requestNotNull(h)
	switch {
	case err != nil:
		return err
	case r.generalized != nil:
		return r.generalized.cancel()
	case r.idle():
		return errorf(errRequest, "the request was not started")
	case r.req != nil && !r.noStatus:
		r.req.Cancel()
	}
	return nil
}

// start starts a persistent request.
func (r *cRequest) start() error {
	switch {
	case r == nil || !r.persistent:
		return errorf(errRequest, "it is no persistent request")
	case r.active:
		return errorf(errRequest, "the request was started before, and has not ended")
	}
	if r.onStart != nil {
		if err := r.onStart(); err != nil {
			return err
		}
	}
	var err error
	switch {
	case r.partitioned != nil:
		err = r.partitioned.Start()
	case r.req != nil:
		err = r.req.Start()
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
	_, rs, err := a.requestList()
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
