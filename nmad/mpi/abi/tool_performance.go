//go:build cgo && linux

package main

import (
	"sync"

	"github.com/pm2-go/pm2/nmad"
)

// Classes of performance variables.
const (
	isLevel     = 2 // MPI_T_PVAR_CLASS_LEVEL
	isCounter   = 7 // MPI_T_PVAR_CLASS_COUNTER
	isAggregate = 8 // MPI_T_PVAR_CLASS_AGGREGATE
)

// measure is a performance variable: a counter of the engine, or how much there is of something.
type measure struct {
	name    string
	class   int
	meaning string
	read    func(s *nmad.Session) uint64
}

// measures are all of them. The messages are those of the engine: a collective operation takes several, one within a
// host none.
var measures = []measure{
	{"pm2_sends", isCounter, "messages whose sending was started", of(func(s *nmad.Stats) uint64 { return s.Sends })},
	{"pm2_receives", isCounter, "receives that were started", of(func(s *nmad.Stats) uint64 { return s.Recvs })},
	{"pm2_bytes_sent", isAggregate, "bytes of messages sent", of(func(s *nmad.Stats) uint64 { return s.BytesSent })},
	{"pm2_bytes_received", isAggregate, "bytes that came into buffers of receives", of(func(s *nmad.Stats) uint64 { return s.BytesReceived })},
	{"pm2_unexpected", isCounter, "messages that came before their receive", of(func(s *nmad.Stats) uint64 { return s.Unexpected })},
	{"pm2_unexpected_bytes", isLevel, "bytes of messages that have come and have no receive yet", of(func(s *nmad.Stats) uint64 { return s.UnexpectedBytes })},
	{"pm2_rendezvous", isCounter, "messages that were announced before their bytes were sent", of(func(s *nmad.Stats) uint64 { return s.Rendezvous })},
	{"pm2_starved", isCounter, "short messages that were announced since the receiver had no memory left for them", of(func(s *nmad.Stats) uint64 { return s.Starved })},
	{"pm2_aggregates", isCounter, "packets that held several messages", of(func(s *nmad.Stats) uint64 { return s.Aggregates })},
	{"pm2_aggregated", isCounter, "messages that shared a packet with others", of(func(s *nmad.Stats) uint64 { return s.Aggregated })},
	{"pm2_links", isCounter, "links made to other processes", of(func(s *nmad.Stats) uint64 { return s.Links })},
	{"pm2_polls", isCounter, "rounds in which threads that had nothing else to do, or a clock, looked for messages", func(s *nmad.Session) uint64 { return s.Engine().Explain().Polls }},
	{"pm2_polls_found", isCounter, "of these rounds, those in which something happened", func(s *nmad.Session) uint64 { return s.Engine().Explain().Finds }},
	{"pm2_sleeps", isCounter, "times that a thread slept in the kernel for the messages of all", func(s *nmad.Session) uint64 { return s.Engine().Explain().Sleeps }},
}

// of reads a counter of the session.
func of(field func(*nmad.Stats) uint64) func(*nmad.Session) uint64 {
	return func(s *nmad.Session) uint64 {
		all := s.Stats()
		return field(&all)
	}
}

// now is the value; 0 outside of a job.
func (ms *measure) now() uint64 {
	engine.mu.Lock()
	s := engine.session
	engine.mu.Unlock()
	if s == nil {
		return 0
	}
	return ms.read(s)
}

// level says that the variable is what there is, and not what has happened since a start.
func (ms *measure) level() bool { return ms.class == isLevel }

// measuring is a session of performance variables.
type measuring struct {
	mu  sync.Mutex
	all map[handle]*measureHandle // under mu
}

// measureHandle is a handle of a performance variable: what it has counted while it was started.
type measureHandle struct {
	of      *measure
	running bool
	from    uint64 // the variable when it began to run; of one that runs
	sum     uint64 // before that
}

var (
	measurings     = table[measuring]{kind: ofMeasuring, class: toolInvalidSession}
	measureHandles = table[measureHandle]{kind: ofMeasure, class: toolInvalidHandle}
)

// value is what it has counted. A variable that is less than it was belongs to a job that the process has left.
func (h *measureHandle) value() uint64 {
	if h.of.level() {
		return h.of.now()
	}
	sum := h.sum
	if h.running {
		if v := h.of.now(); v > h.from {
			sum += v - h.from
		}
	}
	return sum
}

func (h *measureHandle) start() {
	if !h.running {
		h.from, h.running = h.of.now(), true
	}
}

func (h *measureHandle) stop() { h.sum, h.running = h.value(), false }

func (h *measureHandle) set(v uint64) { h.sum, h.from = v, h.of.now() }

func (a *cCall) tPvarGetNum() error { return a.howMany(0, len(measures)) }

func (a *cCall) tPvarGetIndex() error {
	return indexOf(a, 0, 2, measures, func(x *measure, name string) bool { return x.name == name && x.class == a.int(1) })
}

func (a *cCall) tPvarGetInfo() error {
	x, err := indexed(a, 0, measures)
	if err != nil {
		return err
	}
	if err := a.mayText(1, x.name); err != nil {
		return err
	}
	a.mayInt(3, forUsers)
	a.mayInt(4, x.class)
	a.mayHandle(5, countType)
	a.mayHandle(6, noEnum)
	if err := a.mayText(7, x.meaning); err != nil {
		return err
	}
	a.mayInt(9, bindNone)
	always := 0
	if x.level() {
		always = 1
	}
	a.mayInt(10, always) // it cannot be written, nor reset
	a.mayInt(11, always) // it cannot be started, nor stopped
	a.mayInt(12, 1-always)
	return nil
}

func (a *cCall) tPvarSessionCreate() error {
	if a.word[0] == 0 {
		return a.tool(toolInvalid)
	}
	if err := a.tool(success); err != nil {
		return err
	}
	h, err := measurings.add(&measuring{all: map[handle]*measureHandle{}})
	if err != nil {
		return err
	}
	return a.setHandle(0, h)
}

// measuring is the session of a handle.
func (a *cCall) measuring(h handle) (*measuring, error) {
	if err := a.tool(success); err != nil {
		return nil, err
	}
	return measurings.get(h)
}

func (a *cCall) tPvarSessionFree() error {
	h, err := a.handleAt(0)
	if err != nil {
		return a.tool(toolInvalid)
	}
	s, err := a.measuring(*h)
	if err != nil {
		return err
	}
	measurings.drop(*h)
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
	s, err := a.measuring(a.handle(0))
	if err != nil {
		return err
	}
	x, err := indexed(a, 1, measures)
	if err != nil {
		return err
	}
	if a.word[3] == 0 || a.word[4] == 0 {
		return a.tool(toolInvalid)
	}
	m := &measureHandle{of: x}
	h, err := measureHandles.add(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		measureHandles.drop(h)
		return a.tool(toolInvalidSession)
	}
	s.all[h] = m
	if err := a.setHandle(3, h); err != nil {
		return err
	}
	return a.setInt(4, 1)
}

// measured calls do for the handle at an argument, of the session at the first one, or for all of its that do allows.
func (a *cCall) measured(h handle, each bool, do func(m *measureHandle) error) error {
	s, err := a.measuring(a.handle(0))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if each && h == allMeasures {
		for _, m := range s.all {
			if !m.of.level() {
				_ = do(m) // what is not to be started, stopped or reset is left out, as the standard says
			}
		}
		return nil
	}
	m := s.all[h]
	if m == nil {
		return wrong(toolInvalidHandle, "%#x is no handle of a performance variable of this session", uintptr(h))
	}
	return do(m)
}

// allMeasures is MPI_T_PVAR_ALL_HANDLES.
const allMeasures handle = 1

func (a *cCall) tPvarHandleFree() error {
	h, err := a.handleAt(1)
	if err != nil {
		return a.tool(toolInvalid)
	}
	s, err := a.measuring(a.handle(0))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[*h] == nil {
		return wrong(toolInvalidHandle, "%#x is no handle of a performance variable of this session", uintptr(*h))
	}
	delete(s.all, *h)
	measureHandles.drop(*h)
	*h = 0
	return nil
}

// starts starts, or stops, what the program does not have all the time.
func (a *cCall) starts(do func(m *measureHandle)) error {
	return a.measured(a.handle(1), true, func(m *measureHandle) error {
		if m.of.level() {
			return wrong(toolNoStartStop, "%s is there all the time", m.of.name)
		}
		do(m)
		return nil
	})
}

func (a *cCall) tPvarStart() error { return a.starts((*measureHandle).start) }
func (a *cCall) tPvarStop() error  { return a.starts((*measureHandle).stop) }

// sets changes what a handle has counted.
func (a *cCall) sets(each bool, do func(m *measureHandle) error) error {
	return a.measured(a.handle(1), each, func(m *measureHandle) error {
		if m.of.level() {
			return wrong(toolNoWrite, "%s cannot be changed", m.of.name)
		}
		return do(m)
	})
}

func (a *cCall) tPvarReset() error {
	return a.sets(true, func(m *measureHandle) error {
		m.set(0)
		return nil
	})
}

func (a *cCall) tPvarRead() error {
	return a.measured(a.handle(1), false, func(m *measureHandle) error { return a.setMeasure(2, m) })
}

func (a *cCall) tPvarReadreset() error {
	return a.sets(false, func(m *measureHandle) error {
		if err := a.setMeasure(2, m); err != nil {
			return err
		}
		m.set(0)
		return nil
	})
}

func (a *cCall) tPvarWrite() error {
	return a.sets(false, func(m *measureHandle) error {
		v, err := a.addresses(2, 1)
		if err != nil {
			return a.tool(toolInvalid)
		}
		m.set(uint64(v[0]))
		return nil
	})
}

// setMeasure writes what a handle has counted.
func (a *cCall) setMeasure(i int, m *measureHandle) error {
	if a.word[i] == 0 {
		return a.tool(toolInvalid)
	}
	return a.setAint(i, int(m.value()))
}
