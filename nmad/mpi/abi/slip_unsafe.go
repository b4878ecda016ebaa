//go:build cgo && linux

package main

import (
	"sync/atomic"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/lane"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// slip is a receive that MPI_Irecv has begun in C (front/slips.h). Go learns of it when it takes the receive over,
// or when a call names its handle. That handle has a kind of its own, ofSlip, and contains the slip's place in
// slips.
type slip struct {
	shared  *lane.Slip               // the part that C and the engine write
	lane    *lane.Lane               // to which it belongs, for good
	request atomic.Pointer[cRequest] // what the program waits for, as Go knows it; renew replaces it
}

const (
	maxSlips   = 4096                                // of the process: PM2_SLIPS in front/call.h
	laneSlips  = 128                                 // of a lane; a power of two
	slipHandle = madeBit | handle(ofSlip)<<kindShift // PM2_SLIP in front/call.h; TestConstants compares them

	ofSlip objectKind = 15 // kind of the handle of a slip, which is a request
)

// slips are all slips of the process. Each lane to which C gets slips takes the next laneSlips places, for good.
var slips struct {
	used    atomic.Int32 // places in use, for good; changed under cacheLock
	byPlace [maxSlips]slip
}

// lendSlips lets C begin receives from a rank, if C moves the messages of that rank and there are slips left.
func (c *cComm) lendSlips(rank int) {
	w := c.ways.Load()
	if w == nil || rank < 0 || c.inter != nil {
		return
	}
	if x := w.byRank[rank].Lane.Load(); x != nil && atomic.LoadPointer(&x.Slips) == nil {
		c.newSlips(x)
	}
}

//go:noinline
func (c *cComm) newSlips(x *lane.Lane) {
	cacheLock.Lock()
	defer cacheLock.Unlock()
	first := int(slips.used.Load())
	if x.Slips != nil || first+laneSlips > maxSlips {
		return
	}
	loaned := make([]lane.Slip, laneSlips)
	s := state.Load()
	for i := range loaned {
		p := &slips.byPlace[first+i]
		p.shared, p.lane = &loaned[i], x
		p.renew()
		loaned[i].Index = uint64(first + i)
		s.slips[first+i] = uintptr(unsafe.Pointer(&loaned[i]))
	}
	slips.used.Store(int32(first + laneSlips))
	calls.Slips(c.local, x, loaned, func(i int) *mpi.Request { return &slips.byPlace[first+i].request.Load().embedded })
}

// renew gives the slip a new request, because the program may still wait for the old one.
func (p *slip) renew() {
	r := &cRequest{slip: p}
	r.req = &r.embedded
	p.request.Store(r)
}

// slipAt returns the slip that a handle names; nil if it names none.
func slipAt(h handle) *slip {
	at := uintptr(h) & (1<<placeBits - 1)
	if uintptr(h)&(1<<useShift-1) != uintptr(slipHandle)|at || at >= uintptr(slips.used.Load()) {
		return nil
	}
	return &slips.byPlace[at]
}

// handleFromInt returns the handle whose low 31 bits are n, of a slip or of another object; 0 if there is none.
func handleFromInt(n uintptr) handle {
	if p := slipAt(handle(n)); p != nil {
		return handle(p.shared.Handle.Load())
	}
	return objectFromInt(n)
}

// findRequest returns the request of a handle, be it a slip's or another one. A slip that waits for its message is
// taken over by Go first, so that its request is in one of two states: complete, or known to the engine.
func findRequest(h handle) (*cRequest, error) {
	p := slipAt(h)
	if p == nil {
		return requests.get(h)
	}
	for handle(p.shared.Handle.Load()) == h {
		switch p.shared.State.Load() {
		case lane.SlipWaiting:
			p.lane.Tend() // Go takes it over
		case lane.SlipDone:
			r := p.withComm()
			r.done, r.status = true, mpi.Status{Source: int(p.shared.Source), Tag: int(p.shared.Tag), Bytes: int(p.shared.Capacity)}
			return r, nil
		case lane.SlipGiven:
			r := p.withComm()
			r.done = false // it may be set by an earlier receive, which Go found complete and C ended
			return r, nil
		case lane.SlipFree:
			return nil, errorf(errRequest, "the request %#x is done", uintptr(h))
		}
	}
	return nil, errorf(errRequest, "the request %#x was freed, or is done", uintptr(h))
}

// withComm returns the request of the slip with its communicator set. If that was freed, keepSlips has set it.
func (p *slip) withComm() *cRequest {
	r := p.request.Load()
	if c, err := commOf(handle(p.shared.Comm)); err == nil { // else it was freed, and keepSlips has set r.comm
		r.comm = c
		calls.Adopt(c.local, &r.embedded)
	}
	return r
}

// drop frees the slip for C's next receive, after the program's request has ended.
func (p *slip) drop() {
	if r := p.request.Load(); calls.IsDone(&r.embedded) {
		r.done, r.comm = false, nil
	} else {
		p.renew()
	}
	p.shared.Handle.Store(0)
	p.shared.State.Store(lane.SlipFree) // C may use it again from here on
}

// keepSlips is called when the handle of a communicator is about to end. It has Go take over the receives under
// way there and sets their communicator. It does not note how they end, because other threads may be waiting for
// them.
func keepSlips(h handle) {
	for i := range slips.used.Load() {
		p := &slips.byPlace[i]
		if handle(p.shared.Comm) != h {
			continue
		}
		if p.shared.State.Load() == lane.SlipWaiting {
			p.lane.Tend()
		}
		if p.shared.State.Load() != lane.SlipFree { // a completed one as well: a thread that waits for it may still be using the communicator's ways
			p.withComm()
		}
	}
}
