package nmad

import (
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// requestOf returns the Request whose core is c. Every flow.Request that a gate gives to its flow is the core of a
// Request.
func requestOf(c *flow.Request) *Request {
	return (*Request)(unsafe.Add(unsafe.Pointer(c), -int(unsafe.Offsetof(Request{}.core))))
}

// extrasOrNil returns the extras to which core.Extras points, whether they are in use or not; nil if there are none.
// Every flow.Extras of a gate's requests is part of an extras.
func (r *Request) extrasOrNil() *extras { return (*extras)(unsafe.Pointer(r.core.Extras)) }
