//go:build cgo && linux

package main

import (
	"strconv"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// cSession is a session of MPI.
type cSession struct{ object }

// session returns the session whose handle is argument i. Errors of the call go to its error handler from here on.
func (a *cCall) session(i int) (*cSession, error) {
	s, err := sessions.get(a.handle(i))
	if err == nil {
		a.object = a.handle(i)
	}
	return s, err
}

func (a *cCall) sessionInit(i *hints) error {
	h, err := a.handlerAt(1, ofSession)
	if err != nil {
		return err
	}
	if _, err := a.out(2); err != nil {
		return err
	}
	if err := job.join(); err != nil {
		return err
	}
	s := &cSession{object{kind: ofSession, info: i.Dup()}}
	s.info.Set("thread_level", "MPI_THREAD_MULTIPLE")
	s.handler.Store(h)
	if s.handle, err = sessions.add(s); err != nil {
		return err
	}
	return a.setHandle(2, s.handle)
}

func (a *cCall) sessionFinalize(h *handle) error {
	s, err := sessions.get(*h)
	if err != nil {
		return err
	}
	a.object = *h
	if err := s.buffers.flush(); err != nil {
		return err
	}
	a.object = 0
	sessions.drop(*h)
	if err := job.leave(); err != nil {
		return err
	}
	*h = sessionNullHandle
	return nil
}

// psetNames are the names of the process sets that each session has.
var psetNames = []string{mpi.SetWorld, mpi.SetSelf, mpi.SetHost}

// psetGroup returns the processes of a process set.
func psetGroup(name string) (mpi.Group, error) {
	g, err := calls.Set(job.allComm, name)
	if err != nil {
		err = errorf(errArg, "%v", err)
	}
	return g, err
}

func (a *cCall) sessionGetNumPsets(*cSession) int { return len(psetNames) }

func (a *cCall) sessionGetNthPset(_ *cSession, _ handle, n int) error {
	if n < 0 || n >= len(psetNames) {
		return errorf(errArg, "set %d of %d", n, len(psetNames))
	}
	return a.setTextInOut(3, 4, psetNames[n])
}

func (a *cCall) sessionGetPsetInfo(_ *cSession, name string) (*cInfo, error) {
	g, err := psetGroup(name)
	return newInfo("mpi_size", strconv.Itoa(g.Size())), err
}

func (a *cCall) groupFromSessionPset(s *cSession, name string) error {
	g, err := psetGroup(name)
	if err != nil {
		return err
	}
	return setNewHandle(a, 2, &groups, &cGroup{group: g, session: s})
}

// groupComm makes a communicator of the processes of g, which need no communicator in common. name keeps concurrent
// calls apart. The argument handler is the error handler of the communicator.
func (a *cCall) groupComm(g mpi.Group, name string, handler int) (*cComm, error) {
	h, err := a.handlerAt(handler, ofComm)
	if err != nil {
		return nil, err
	}
	if job.allComm == nil {
		return nil, errorf(errComm, "there is neither a session nor MPI_COMM_WORLD")
	}
	c, err := calls.FromGroup(job.allComm, g, name)
	if err != nil {
		return nil, err
	}
	x := newComm(c, "")
	x.handler.Store(h)
	return x, nil
}

// fromGroup gives c, which was made of the group at argument 0, hints and the session of the group.
func (a *cCall) fromGroup(c *cComm, i *hints) *cComm {
	c.info = i.Dup()
	if g := groups.find(a.handle(0)); g != nil {
		c.session = g.session
	}
	return c
}

func (a *cCall) commCreateFromGroup(g mpi.Group, name string, i *hints) (*cComm, error) {
	if g.Size() == 0 {
		return nil, nil
	}
	c, err := a.groupComm(g, name, 3)
	if err != nil {
		return nil, err
	}
	return a.fromGroup(c, i), nil
}

func (a *cCall) intercommCreateFromGroups(g mpi.Group, leader int, remote mpi.Group, other int, name string, i *hints) (*cComm, error) {
	if leader < 0 || leader >= g.Size() {
		return nil, errorf(errRank, "leader %d of %d", leader, g.Size())
	}
	local, err := a.groupComm(g, name, 6)
	if err != nil {
		return nil, err
	}
	defer local.free()
	peer := mpiUndefined
	if local.local.Rank() == leader {
		if other < 0 || other >= remote.Size() {
			return nil, errorf(errRank, "leader %d of %d", other, remote.Size())
		}
		peer = job.allComm.Group().Rank(other, remote)
	}
	c, err := local.deriveInter(mpi.NewIntercomm(local.local, leader, job.allComm, peer, calls.TagOf("between "+name)))
	if err != nil {
		return nil, err
	}
	return a.fromGroup(c, i), nil
}
