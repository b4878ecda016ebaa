//go:build cgo && linux

package main

import "sync"

// requestPool keeps requests of sends and receives for their next use.
var requestPool = sync.Pool{New: func() any { return &cRequest{} }}

// newPooled returns a request of requestPool. recycle gives it back.
func newPooled(c *cComm, sends bool) *cRequest {
	r := requestPool.Get().(*cRequest)
	r.comm, r.noStatus, r.req = c, sends, &r.embedded
	return r
}

// sent is the one request that C gives out for all sends that have left at once. C ends it without Go: it knows
// its handle (PM2_SENT). It is never freed.
var sent = cRequest{handle: sentHandle, done: true, noStatus: true}

// sentHandle names the first place of the table of requests. TestConstants compares it with PM2_SENT.
const sentHandle handle = madeBit | handle(ofRequest)<<kindShift

// drop ends the handle of r. It reports false if another thread has ended the handle, which a program must not do.
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

// recycle gives a completed request back to requestPool, if it came from there.
func (r *cRequest) recycle() {
	if r.req == &r.embedded && r.slip == nil {
		requestPool.Put(r)
	}
}
