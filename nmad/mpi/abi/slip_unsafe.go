//go:build cgo && linux

package main

import (
	"sync/atomic"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/lane"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// slip is a short receive that C begins (front/slips.h). C alone knows it until its message is there, Go takes it
// over, or a call looks at it. Its handle is of a kind of its own, and contains its place.
type slip struct {
	it      *lane.Slip
	lane    *lane.Lane
	request atomic.Pointer[cRequest] // what it is for Go; another one once the program has freed it while it was under way
}

const (
	mostSlips  = 4096                                // of the process
	laneSlips  = 128                                 // of a lane; a power of two
	slipHandle = madeBit | handle(ofSlip)<<kindShift // PM2_SLIP of front/call.h; TestConstants compares them

	ofSlip objectKind = 15 // a request, in place of ofRequest
)

// slips are all slips, by their places. A place that is in use stays in use.
var slips struct {
	used atomic.Int32 // changed under telling
	all  [mostSlips]slip
}

// lend lets C begin receives from a rank, if C moves the messages of that rank and there are slips left.
func (c *cComm) lend(rank int) {
	w := c.ways.Load()
	if w == nil || rank < 0 || c.x != nil {
		return
	}
	if x := w.all[rank].Lane.Load(); x != nil && atomic.LoadPointer(&x.Slips) == nil {
		c.lendOver(x)
	}
}

//go:noinline
func (c *cComm) lendOver(x *lane.Lane) {
	telling.Lock()
	defer telling.Unlock()
	first := int(slips.used.Load())
	if x.Slips != nil || first+laneSlips > mostSlips {
		return
	}
	loaned := make([]lane.Slip, laneSlips)
	s := state.Load()
	for i := range loaned {
		p := &slips.all[first+i]
		p.it, p.lane = &loaned[i], x
		p.renew()
		loaned[i].Place = uint64(first + i)
		s.slips[first+i] = uintptr(unsafe.Pointer(&loaned[i]))
	}
	slips.used.Store(int32(first + laneSlips))
	calls.Slips(c.c, x, loaned, func(i int) *mpi.Request { return &slips.all[first+i].request.Load().own })
}

func (p *slip) renew() {
	r := &cRequest{slip: p}
	r.r = &r.own
	p.request.Store(r)
}

// slipAt is the slip that a handle names; nil: it names none.
func slipAt(h handle) *slip {
	at := uintptr(h) & (1<<placeBits - 1)
	if uintptr(h)&(1<<useShift-1) != uintptr(slipHandle)|at || at >= uintptr(slips.used.Load()) {
		return nil
	}
	return &slips.all[at]
}

// numbered is fromNumber that knows slips, too.
func numbered(n uintptr) handle {
	if p := slipAt(handle(n)); p != nil {
		return handle(p.it.Handle.Load())
	}
	return fromNumber(n)
}

// find returns the request of a handle, a slip's or another one.
func find(h handle) (*cRequest, error) {
	p := slipAt(h)
	if p == nil {
		return requests.get(h)
	}
	for handle(p.it.Handle.Load()) == h {
		switch p.it.State.Load() {
		case lane.SlipWaiting:
			p.lane.Tend() // takes it in
		case lane.SlipDone:
			r := p.withComm()
			r.done, r.status = true, mpi.Status{Source: int(p.it.Source), Tag: int(p.it.Tag), Bytes: int(p.it.Room)}
			return r, nil
		case lane.SlipGiven:
			r := p.withComm()
			r.done = false // it may be set from a receive whose end was looked at here, and that C has ended
			return r, nil
		case lane.SlipFree:
			return nil, wrong(errRequest, "the request %#x is done", uintptr(h))
		}
	}
	return nil, wrong(errRequest, "the request %#x was freed, or is done", uintptr(h))
}

// withComm returns the request of the slip, with its communicator.
func (p *slip) withComm() *cRequest {
	r := p.request.Load()
	if c, err := commOf(handle(p.it.Comm)); err == nil { // else it was freed, and keepSlips has noted it
		r.comm = c
		calls.Adopt(c.c, &r.own)
	}
	return r
}

// drop ends a slip that the program does not know any more.
func (p *slip) drop() {
	if r := p.request.Load(); calls.IsDone(&r.own) {
		r.done, r.comm = false, nil
	} else {
		p.renew()
	}
	p.it.Handle.Store(0)
	p.it.State.Store(lane.SlipFree) // C may use it again from here on
}

// keepSlips is called as the handle of a communicator is about to end. It gives the receives under way there their
// communicator, and makes them known to Go. It does not note how they end, since other threads may be waiting for
// them.
func keepSlips(h handle) {
	for i := range slips.used.Load() {
		p := &slips.all[i]
		if handle(p.it.Comm) != h {
			continue
		}
		if p.it.State.Load() == lane.SlipWaiting {
			p.lane.Tend()
		}
		if p.it.State.Load() != lane.SlipFree { // one that is over, too: a thread that waits for it may be looking at the communicator's ways just now
			p.withComm()
		}
	}
}
