//go:build cgo && linux

package main

import (
	"errors"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// look writes the status of a request that is done, and stays. The error is that of the program's function of a generalized one.
func (r *request) look(x *status, s mpi.Status, err error) error {
	if x != nil {
		if r.sends {
			x.empty()
		} else {
			x.received(r.comm, s, nil)
		}
		if errors.Is(err, nmad.ErrCanceled) {
			x.cancelled = 1
		}
	}
	if r.general != nil {
		return r.general.look(x)
	}
	return nil
}

// requestGetStatus looks at a request that stays.
func (a *call) requestGetStatus() error {
	r, err := a.request(a.handle(0))
	if err != nil {
		return err
	}
	if r.idle() {
		a.status(2).empty()
		return a.setFlag(1, true)
	}
	done, s, err := r.test()
	if !done {
		return a.setFlag(1, false)
	}
	return errors.Join(r.look(a.status(2), s, err), a.setFlag(1, true))
}

// lookAt is look for the status of a place, if there are statuses.
func (r *request) lookAt(x []status, i int, s mpi.Status, err error) error {
	if x == nil {
		return r.look(nil, s, err)
	}
	err = r.look(&x[i], s, err)
	x[i].failed = int32(codeOf(err))
	return err
}

// requestGetStatusAll and the two behind it look at several requests that stay.
func (a *call) requestGetStatusAll() error {
	_, rs, err := a.all(0, 1)
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
	x := a.statuses(3, len(rs))
	for i, r := range rs {
		if !r.idle() {
			_, s, e := r.test()
			err = errors.Join(err, r.lookAt(x, i, s, e))
		} else if x != nil {
			x[i].empty()
		}
	}
	return errors.Join(err, a.setFlag(2, true))
}

func (a *call) requestGetStatusAny() error {
	_, rs, err := a.all(0, 1)
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
			return errors.Join(r.look(a.status(4), s, err), a.setInt(2, i), a.setFlag(3, true))
		}
	}
	if !some {
		a.status(4).empty()
	}
	return errors.Join(a.setInt(2, undefined), a.setFlag(3, !some))
}

func (a *call) requestGetStatusSome() error {
	_, rs, err := a.all(0, 1)
	if err != nil {
		return err
	}
	places, err := a.narrow(3, len(rs))
	if err != nil {
		return err
	}
	x, n, some := a.statuses(4, len(rs)), 0, false
	for i, r := range rs {
		if r.idle() {
			continue
		}
		some = true
		if done, s, e := r.test(); done {
			places[n] = int32(i)
			err = errors.Join(err, r.lookAt(x, n, s, e))
			n++
		}
	}
	if !some {
		n = undefined
	}
	return errors.Join(err, a.setInt(2, n))
}
