package nmad

import (
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// requestOf is the request that a flow calls by its core. All that a gate gives to its flow are such.
func requestOf(c *flow.Request) *Request {
	return (*Request)(unsafe.Add(unsafe.Pointer(c), -int(unsafe.Offsetof(Request{}.core))))
}

// rareOrNil is the rare part that hangs on r, used or not; nil: there is none. All that a gate hangs there is such.
func (r *Request) rareOrNil() *rare { return (*rare)(unsafe.Pointer(r.core.Rare)) }
