//go:build cgo && linux

package main

import (
	"sync"

	"github.com/pm2-go/pm2/nmad"
)

// measure is a performance variable.
type measure struct {
	name    string
	class   int                          // MPI_T_PVAR_CLASS_...
	meaning string                       // for people
	read    func(s *nmad.Session) uint64 // returns the value
}

// measures are all performance variables. They count the messages of the engine: a collective operation takes
// several of them, and one within a host none.
var measures = []measure{
	{"pm2_sends", mpiTPvarClassCounter, "messages whose sending was started", sessionStat(func(s *nmad.Stats) uint64 { return s.Sends })},
	{"pm2_receives", mpiTPvarClassCounter, "receives that were started", sessionStat(func(s *nmad.Stats) uint64 { return s.Recvs })},
	{"pm2_bytes_sent", mpiTPvarClassAggregate, "bytes of messages sent", sessionStat(func(s *nmad.Stats) uint64 { return s.BytesSent })},
	{"pm2_bytes_received", mpiTPvarClassAggregate, "bytes that came into buffers of receives", sessionStat(func(s *nmad.Stats) uint64 { return s.BytesReceived })},
	{"pm2_unexpected", mpiTPvarClassCounter, "messages that came before their receive", sessionStat(func(s *nmad.Stats) uint64 { return s.Unexpected })},
	{"pm2_unexpected_bytes", mpiTPvarClassLevel, "bytes of messages that have come and have no receive yet", sessionStat(func(s *nmad.Stats) uint64 { return s.UnexpectedBytes })},
	{"pm2_rendezvous", mpiTPvarClassCounter, "messages that were announced before their bytes were sent", sessionStat(func(s *nmad.Stats) uint64 { return s.Rendezvous })},
	{"pm2_starved", mpiTPvarClassCounter, "short messages that were announced since the receiver had no memory left for them", sessionStat(func(s *nmad.Stats) uint64 { return s.Starved })},
	{"pm2_aggregates", mpiTPvarClassCounter, "packets that held several messages", sessionStat(func(s *nmad.Stats) uint64 { return s.Aggregates })},
	{"pm2_aggregated", mpiTPvarClassCounter, "messages that shared a packet with others", sessionStat(func(s *nmad.Stats) uint64 { return s.Aggregated })},
	{"pm2_links", mpiTPvarClassCounter, "links made to other processes", sessionStat(func(s *nmad.Stats) uint64 { return s.Links })},
	{"pm2_polls", mpiTPvarClassCounter, "rounds in which threads that had nothing else to do, or a clock, looked for messages", func(s *nmad.Session) uint64 { return s.Engine().Explain().Polls }},
	{"pm2_polls_found", mpiTPvarClassCounter, "of these rounds, those in which something happened", func(s *nmad.Session) uint64 { return s.Engine().Explain().Finds }},
	{"pm2_sleeps", mpiTPvarClassCounter, "times that a thread slept in the kernel for the messages of all", func(s *nmad.Session) uint64 { return s.Engine().Explain().Sleeps }},
}

// sessionStat returns a function that reads a counter of the session.
func sessionStat(field func(*nmad.Stats) uint64) func(*nmad.Session) uint64 {
	return func(s *nmad.Session) uint64 {
		all := s.Stats()
		return field(&all)
	}
}

// value returns the value of the variable; 0 outside of a job.
func (ms *measure) value() uint64 {
	job.mu.Lock()
	s := job.session
	job.mu.Unlock()
	if s == nil {
		return 0
	}
	return ms.read(s)
}

// isLevel reports whether the variable is a level, which is always running, and not a counter, which counts while
// started.
func (ms *measure) isLevel() bool { return ms.class == mpiTPvarClassLevel }

// pvarSession is a session of performance variables (MPI_T_pvar_session).
type pvarSession struct {
	mu  sync.Mutex
	all map[handle]*measureHandle // its handles; nil: it was freed; under mu
}

// measureHandle is a handle of a performance variable. It counts while it is started. The session's mu guards it.
type measureHandle struct {
	variable   *measure
	running    bool   // it was started
	startValue uint64 // of the variable when the handle was started
	total      uint64 // counted up to then
}

var (
	pvarSessions   = table[pvarSession]{kind: ofPvarSession, class: tErrInvalidSession}
	measureHandles = table[measureHandle]{kind: ofMeasure, class: tErrInvalidHandle}
)

// value returns what the handle has counted. If the variable has decreased, the process has left the job that it
// counted for.
func (h *measureHandle) value() uint64 {
	if h.variable.isLevel() {
		return h.variable.value()
	}
	sum := h.total
	if h.running {
		if v := h.variable.value(); v > h.startValue {
			sum += v - h.startValue
		}
	}
	return sum
}

func (h *measureHandle) start() {
	if !h.running {
		h.startValue, h.running = h.variable.value(), true
	}
}

func (h *measureHandle) stop() { h.total, h.running = h.value(), false }

func (h *measureHandle) set(v uint64) { h.total, h.startValue = v, h.variable.value() }

func (a *cCall) tPvarGetNum() error { return a.setToolCount(0, len(measures)) }

func (a *cCall) tPvarGetIndex() error {
	return setIndexOf(a, 0, 2, measures, func(x *measure, name string) bool { return x.name == name && x.class == a.int(1) })
}

func (a *cCall) tPvarGetInfo() error {
	x, err := elementAt(a, 0, measures)
	if err != nil {
		return err
	}
	if err := a.setOptionalText(1, x.name); err != nil {
		return err
	}
	a.setOptionalInt(3, mpiTVerbosityUserBasic)
	a.setOptionalInt(4, x.class)
	a.setOptionalHandle(5, unsignedLongLongHandle)
	a.setOptionalHandle(6, tEnumNullHandle)
	if err := a.setOptionalText(7, x.meaning); err != nil {
		return err
	}
	a.setOptionalInt(9, mpiTBindNoObject)
	always := 0
	if x.isLevel() {
		always = 1
	}
	a.setOptionalInt(10, always) // it cannot be written, nor reset
	a.setOptionalInt(11, always) // it cannot be started, nor stopped
	a.setOptionalInt(12, 1-always)
	return nil
}

func (a *cCall) tPvarSessionCreate() error {
	if a.word[0] == 0 {
		return a.toolError(tErrInvalid)
	}
	if err := a.toolError(success); err != nil {
		return err
	}
	h, err := pvarSessions.add(&pvarSession{all: map[handle]*measureHandle{}})
	if err != nil {
		return err
	}
	return a.setHandle(0, h)
}

// pvarSessionOf returns the session of a handle.
func (a *cCall) pvarSessionOf(h handle) (*pvarSession, error) {
	if err := a.toolError(success); err != nil {
		return nil, err
	}
	return pvarSessions.get(h)
}

func (a *cCall) tPvarSessionFree() error {
	h, err := a.handleAt(0)
	if err != nil {
		return a.toolError(tErrInvalid)
	}
	s, err := a.pvarSessionOf(*h)
	if err != nil {
		return err
	}
	pvarSessions.drop(*h)
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.all {
		measureHandles.drop(h)
	}
	s.all = nil
	*h = 0
	return nil
}

func (a *cCall) tPvarHandleAlloc() error {
	s, err := a.pvarSessionOf(a.handle(0))
	if err != nil {
		return err
	}
	x, err := elementAt(a, 1, measures)
	if err != nil {
		return err
	}
	if a.word[3] == 0 || a.word[4] == 0 {
		return a.toolError(tErrInvalid)
	}
	m := &measureHandle{variable: x}
	h, err := measureHandles.add(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		measureHandles.drop(h)
		return a.toolError(tErrInvalidSession)
	}
	s.all[h] = m
	if err := a.setHandle(3, h); err != nil {
		return err
	}
	return a.setInt(4, 1)
}

// withMeasure calls do for the handle h of the session at argument 0. With each, MPI_T_PVAR_ALL_HANDLES stands for
// all handles of the session that are of counters.
func (a *cCall) withMeasure(h handle, each bool, do func(m *measureHandle) error) error {
	s, err := a.pvarSessionOf(a.handle(0))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if each && h == tPvarAllHandlesHandle {
		for _, m := range s.all {
			if !m.variable.isLevel() {
				_ = do(m) // the standard leaves out variables that cannot be started, stopped or reset
			}
		}
		return nil
	}
	m := s.all[h]
	if m == nil {
		return errorf(tErrInvalidHandle, "%#x is no handle of a performance variable of this session", uintptr(h))
	}
	return do(m)
}

func (a *cCall) tPvarHandleFree() error {
	h, err := a.handleAt(1)
	if err != nil {
		return a.toolError(tErrInvalid)
	}
	s, err := a.pvarSessionOf(a.handle(0))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[*h] == nil {
		return errorf(tErrInvalidHandle, "%#x is no handle of a performance variable of this session", uintptr(*h))
	}
	delete(s.all, *h)
	measureHandles.drop(*h)
	*h = 0
	return nil
}

// startOrStop starts or stops the handle at argument 1 by do.
func (a *cCall) startOrStop(do func(m *measureHandle)) error {
	return a.withMeasure(a.handle(1), true, func(m *measureHandle) error {
		if m.variable.isLevel() {
			return errorf(tErrPvarNoStartstop, "%s is there all the time", m.variable.name)
		}
		do(m)
		return nil
	})
}

func (a *cCall) tPvarStart() error { return a.startOrStop((*measureHandle).start) }
func (a *cCall) tPvarStop() error  { return a.startOrStop((*measureHandle).stop) }

// changeMeasure changes what the handle at argument 1 has counted, by do.
func (a *cCall) changeMeasure(each bool, do func(m *measureHandle) error) error {
	return a.withMeasure(a.handle(1), each, func(m *measureHandle) error {
		if m.variable.isLevel() {
			return errorf(tErrPvarNoWrite, "%s cannot be changed", m.variable.name)
		}
		return do(m)
	})
}

func (a *cCall) tPvarReset() error {
	return a.changeMeasure(true, func(m *measureHandle) error {
		m.set(0)
		return nil
	})
}

func (a *cCall) tPvarRead() error {
	return a.withMeasure(a.handle(1), false, func(m *measureHandle) error { return a.setMeasure(2, m) })
}

func (a *cCall) tPvarReadreset() error {
	return a.changeMeasure(false, func(m *measureHandle) error {
		if err := a.setMeasure(2, m); err != nil {
			return err
		}
		m.set(0)
		return nil
	})
}

func (a *cCall) tPvarWrite() error {
	return a.changeMeasure(false, func(m *measureHandle) error {
		v, err := a.addresses(2, 1)
		if err != nil {
			return a.toolError(tErrInvalid)
		}
		m.set(uint64(v[0]))
		return nil
	})
}

// setMeasure writes what a handle has counted to argument i.
func (a *cCall) setMeasure(i int, m *measureHandle) error {
	if a.word[i] == 0 {
		return a.toolError(tErrInvalid)
	}
	return a.setAint(i, int(m.value()))
}
