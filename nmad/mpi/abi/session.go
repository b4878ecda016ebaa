//go:build cgo && linux

package main

import (
	"github.com/pm2-go/pm2/nmad/mpi"
)

// cSession is a session of MPI.
type cSession struct{ object }

const nullSession handle = 0x120

// session is an argument that is one.
func (a *cCall) session(i int) (*cSession, error) {
	if a.handle(i) == nullSession {
		return nil, wrong(errSession, "it is MPI_SESSION_NULL")
	}
	s, err := sessions.get(a.handle(i))
	if err == nil {
		a.object = a.handle(i)
	}
	return s, err
}

func (a *cCall) sessionInit() error {
	return a.tells(1, ofSession, nullSession, a.openSession())
}

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
	if err := engine.join(); err != nil {
		return err
	}
	s := &cSession{object{what: ofSession, info: i.Dup()}}
	s.info.Set("thread_level", "MPI_THREAD_MULTIPLE")
	s.handler.Store(h)
	if s.handle, err = sessions.add(s); err != nil {
		return err
	}
	return a.setHandle(2, s.handle)
}

func (a *cCall) sessionFinalize(h *handle) error {
	if *h == nullSession {
		return wrong(errSession, "it is MPI_SESSION_NULL")
	}
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
	if err := engine.leave(); err != nil {
		return err
	}
	*h = nullSession
	return nil
}

// sets are the names of processes.
var sets = []string{mpi.SetWorld, mpi.SetSelf, mpi.SetHost}

// groupOf is the processes that have a name.
func groupOf(name string) (mpi.Group, error) {
	g, err := calls.Set(engine.all, name)
	if err != nil {
		err = wrong(errArg, "%v", err)
	}
	return g, err
}

func (a *cCall) sessionGetNumPsets(*cSession) int { return len(sets) }

func (a *cCall) sessionGetNthPset(_ *cSession, _ handle, n int) error {
	if n < 0 || n >= len(sets) {
		return wrong(errArg, "set %d of %d", n, len(sets))
	}
	return a.fill(3, 4, sets[n])
}

func (a *cCall) sessionGetPsetInfo(_ *cSession, name string) (*cInfo, error) {
	g, err := groupOf(name)
	return newInfo("mpi_size", decimal(g.Size())), err
}

func (a *cCall) groupFromSessionPset(s *cSession, name string) error {
	g, err := groupOf(name)
	if err != nil {
		return err
	}
	return setNew(a, 2, &groups, &cGroup{g: g, session: s})
}

// groupComm is a communicator of the processes of a group, without one that they have before.
func (a *cCall) groupComm(g mpi.Group, name string, h *cErrhandler) (*cComm, error) {
	if engine.all == nil {
		return nil, wrong(errComm, "there is neither a session nor MPI_COMM_WORLD")
	}
	c, err := calls.FromGroup(engine.all, g, name)
	if err != nil {
		return nil, err
	}
	x := newComm(c, "")
	x.handler.Store(h)
	return x, nil
}

func (a *cCall) commCreateFromGroup() error {
	return a.tells(3, ofComm, nullComm, a.commFromGroup())
}

// namedGroup has the arguments of what makes a communicator of a group: which, its name, hints, and the error handler
// of what is made.
type namedGroup struct {
	group   mpi.Group
	name    string
	hints   *cInfo
	handler *cErrhandler
	session *cSession // that the group is of; nil: none
}

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

func (a *cCall) commFromGroup() error {
	x, err := a.namedGroup(0, 1, 2, 3)
	if err != nil {
		return err
	}
	if x.group.Size() == 0 {
		return a.setHandle(4, nullComm)
	}
	c, err := a.groupComm(x.group, x.name, x.handler)
	if err != nil {
		return err
	}
	c.info, c.session = x.hints.Dup(), x.session
	return a.setComm(4, c)
}

func (a *cCall) intercommCreateFromGroups() error {
	return a.tells(6, ofComm, nullComm, a.intercommFromGroups())
}

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
		return wrong(errRank, "leader %d of %d", leader, x.group.Size())
	}
	local, err := a.groupComm(x.group, x.name, x.handler)
	if err != nil {
		return err
	}
	defer local.free()
	peer := undefined
	if local.c.Rank() == leader {
		if other < 0 || other >= remote.Size() {
			return wrong(errRank, "leader %d of %d", other, remote.Size())
		}
		peer = engine.all.Group().Rank(other, remote)
	}
	c, err := local.likeX(mpi.NewIntercomm(local.c, leader, engine.all, peer, calls.TagOf("between "+x.name)))
	if err != nil {
		return err
	}
	c.info, c.session = x.hints.Dup(), x.session
	return a.setComm(7, c)
}
