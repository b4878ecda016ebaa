//go:build cgo && linux

package main

import "sync"

// spare are requests of messages to be used again.
var spare = sync.Pool{New: func() any { return &request{} }}

// fresh is one of spare.
func fresh(c *comm, sends bool) *request {
	r := spare.Get().(*request)
	r.comm, r.sends, r.r = c, sends, &r.own
	return r
}

// sent is the request that all sends share which were over when C had begun them: front/messages.h knows its handle,
// sentHandle, and ends it. It stays.
var sent = request{handle: sentHandle, done: true, sends: true}

// sentHandle is that of the first place of the table.
const sentHandle handle = madeBit | handle(ofRequest)<<kindShift

// over ends a request that the program does not know any more, and says whether it did: false, if another thread has,
// as a program's must not.
func (r *request) over() bool {
	switch {
	case r == &sent:
	case r.slip != nil:
		r.slip.over()
	default:
		return requests.drop(r.handle)
	}
	return true
}

// again has a request that is over used again, if it is of spare. One that could not be waited for may be under way
// still, and is not.
func (r *request) again() {
	if r.r == &r.own && r.slip == nil {
		spare.Put(r)
	}
}
