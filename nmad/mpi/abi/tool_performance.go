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

// start, stop and set change a handle of a counter; they cannot fail.
func (h *measureHandle) start() error {
	if !h.running {
		h.startValue, h.running = h.variable.value(), true
	}
	return nil
}

func (h *measureHandle) stop() error {
	h.total, h.running = h.value(), false
	return nil
}

func (h *measureHandle) set(v uint64) error {
	h.total, h.startValue = v, h.variable.value()
	return nil
}

func (a *cCall) tPvarGetNum() int { return len(measures) }

func (a *cCall) tPvarGetIndex(name string, class int) (int, error) {
	return indexOf(measures, name, func(x measure) bool { return x.name == name && x.class == class })
}

func (a *cCall) tPvarGetInfo(index int) error {
	x, err := elementAt(measures, index)
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

func (a *cCall) tPvarSessionCreate() (handle, error) {
	return pvarSessions.add(&pvarSession{all: map[handle]*measureHandle{}})
}

func (a *cCall) tPvarSessionFree(at *handle) error {
	s, err := pvarSessions.get(*at)
	if err != nil {
		return err
	}
	pvarSessions.drop(*at)
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.all {
		measureHandles.drop(h)
	}
	s.all = nil
	*at = 0
	return nil
}

func (a *cCall) tPvarHandleAlloc(s *pvarSession, index int) (h handle, count int, err error) {
	x, err := elementAt(measures, index)
	if err != nil {
		return 0, 0, err
	}
	m := &measureHandle{variable: x}
	if h, err = measureHandles.add(m); err != nil {
		return 0, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		measureHandles.drop(h)
		return 0, 0, errorf(tErrInvalidSession, "it was freed")
	}
	s.all[h] = m
	return h, 1, nil
}

// measure returns the handle h of the session. The caller holds mu.
func (s *pvarSession) measure(h handle) (*measureHandle, error) {
	if m := s.all[h]; m != nil {
		return m, nil
	}
	return nil, errorf(tErrInvalidHandle, "%#x is no handle of a performance variable of this session", uintptr(h))
}

func (a *cCall) tPvarHandleFree(s *pvarSession, at *handle) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.measure(*at); err != nil {
		return err
	}
	delete(s.all, *at)
	measureHandles.drop(*at)
	*at = 0
	return nil
}

// change calls do for the handle h of the session, which must be of a counter; wrong is the class of the error that it
// is not. With each, MPI_T_PVAR_ALL_HANDLES stands for all handles that are of counters.
func (s *pvarSession) change(h handle, each bool, wrong errorClass, do func(m *measureHandle) error) error {
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
	m, err := s.measure(h)
	if err != nil {
		return err
	}
	if m.variable.isLevel() {
		return errorf(wrong, "%s is there all the time, and cannot be changed", m.variable.name)
	}
	return do(m)
}

func (a *cCall) tPvarStart(s *pvarSession, h handle) error {
	return s.change(h, true, tErrPvarNoStartstop, (*measureHandle).start)
}

func (a *cCall) tPvarStop(s *pvarSession, h handle) error {
	return s.change(h, true, tErrPvarNoStartstop, (*measureHandle).stop)
}

func (a *cCall) tPvarReset(s *pvarSession, h handle) error {
	return s.change(h, true, tErrPvarNoWrite, func(m *measureHandle) error { return m.set(0) })
}

func (a *cCall) tPvarRead(s *pvarSession, h handle) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.measure(h)
	if err != nil {
		return err
	}
	return a.setAint(2, int(m.value()))
}

func (a *cCall) tPvarReadreset(s *pvarSession, h handle) error {
	return s.change(h, false, tErrPvarNoWrite, func(m *measureHandle) error {
		if err := a.setAint(2, int(m.value())); err != nil {
			return err
		}
		return m.set(0)
	})
}

func (a *cCall) tPvarWrite(s *pvarSession, h handle) error {
	return s.change(h, false, tErrPvarNoWrite, func(m *measureHandle) error {
		v, err := a.addresses(2, 1)
		if err != nil {
			return err
		}
		return m.set(uint64(v[0]))
	})
}
