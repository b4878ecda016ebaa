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

// rareOrNil returns the rare to which core.Rare points, whether it is in use or not; nil if there is none. Every
// flow.Rare of a gate's requests is part of a rare.
func (r *Request) rareOrNil() *rare { return (*rare)(unsafe.Pointer(r.core.Rare)) }
