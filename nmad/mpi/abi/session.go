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

func (a *cCall) sessionInit() error {
	return a.tellHandler(1, ofSession, sessionNullHandle, a.openSession())
}

// openSession is MPI_Session_init.
func (a *cCall) openSession() error {
	i, err := a.hints(0)
	if err != nil {
		return err
	}
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

// groupComm makes a communicator of the processes of g, which need no communicator in common. name keeps
// concurrent calls apart.
func (a *cCall) groupComm(g mpi.Group, name string, h *cErrhandler) (*cComm, error) {
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

func (a *cCall) commCreateFromGroup() error {
	return a.tellHandler(3, ofComm, commNullHandle, a.commFromGroup())
}

// namedGroup has the arguments of MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups.
type namedGroup struct {
	group   mpi.Group
	name    string
	hints   *cInfo
	handler *cErrhandler
	session *cSession // from which the group comes; nil: none
}

// namedGroup reads the group, name, hints and error handler at the given arguments.
func (a *cCall) namedGroup(group, name, hints, h int) (x namedGroup, err error) {
	if x.group, err = a.group(group); err != nil {
		return
	}
	if x.name, err = a.string(name); err != nil {
		return
	}
	if x.hints, err = a.hints(hints); err != nil {
		return
	}
	if g := groups.find(a.handle(group)); g != nil {
		x.session = g.session
	}
	x.handler, err = a.handlerAt(h, ofComm)
	return
}

// commFromGroup is MPI_Comm_create_from_group.
func (a *cCall) commFromGroup() error {
	x, err := a.namedGroup(0, 1, 2, 3)
	if err != nil {
		return err
	}
	if x.group.Size() == 0 {
		return a.setHandle(4, commNullHandle)
	}
	c, err := a.groupComm(x.group, x.name, x.handler)
	if err != nil {
		return err
	}
	c.info, c.session = x.hints.Dup(), x.session
	return a.setComm(4, c)
}

func (a *cCall) intercommCreateFromGroups() error {
	return a.tellHandler(6, ofComm, commNullHandle, a.intercommFromGroups())
}

// intercommFromGroups is MPI_Intercomm_create_from_groups.
func (a *cCall) intercommFromGroups() error {
	x, err := a.namedGroup(0, 4, 5, 6)
	if err != nil {
		return err
	}
	remote, err := a.group(2)
	if err != nil {
		return err
	}
	leader, other := a.int(1), a.int(3)
	if leader < 0 || leader >= x.group.Size() {
		return errorf(errRank, "leader %d of %d", leader, x.group.Size())
	}
	local, err := a.groupComm(x.group, x.name, x.handler)
	if err != nil {
		return err
	}
	defer local.free()
	peer := mpiUndefined
	if local.local.Rank() == leader {
		if other < 0 || other >= remote.Size() {
			return errorf(errRank, "leader %d of %d", other, remote.Size())
		}
		peer = job.allComm.Group().Rank(other, remote)
	}
	c, err := local.deriveInter(mpi.NewIntercomm(local.local, leader, job.allComm, peer, calls.TagOf("between "+x.name)))
	if err != nil {
		return err
	}
	c.info, c.session = x.hints.Dup(), x.session
	return a.setComm(7, c)
}
