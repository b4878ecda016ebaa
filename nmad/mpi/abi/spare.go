//go:build cgo && linux

package main

import "sync"

// spare are requests of messages, to be used again.
var spare = sync.Pool{New: func() any { return &cRequest{} }}

// fresh returns a request of spare.
func fresh(c *cComm, sends bool) *cRequest {
	r := spare.Get().(*cRequest)
	r.comm, r.sends, r.r = c, sends, &r.own
	return r
}

// sent is the request that all sends share which were over when C had begun them. front/messages.h knows its handle,
// sentHandle, and ends it without Go. It is never freed.
var sent = cRequest{handle: sentHandle, done: true, sends: true}

// sentHandle names the first place of the table of requests. TestConstants compares it with PM2_SENT.
const sentHandle handle = madeBit | handle(ofRequest)<<kindShift

// drop ends a request that the program does not know any more. false: another thread has ended it already, which a
// program must not do.
func (r *cRequest) drop() bool {
	switch {
	case r == &sent:
	case r.slip != nil:
		r.slip.drop()
	default:
		return requests.drop(r.handle)
	}
	return true
}

// again gives a request that is over back to spare, if it came from there. A request that could not be waited for may
// still be under way, and is not given back.
func (r *cRequest) again() {
	if r.r == &r.own && r.slip == nil {
		spare.Put(r)
	}
}
