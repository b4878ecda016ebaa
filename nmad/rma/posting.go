package rma

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// posting lets a thread cancel a receive that its own end may post again, so that Request.Cancel and Post never meet.
// It is the number of the receive, times four, and one of
//
//	idle --- Post has returned ---> posted --- cancel ---> cancelling --- Cancel has returned ---> posted
//	  | it ends                       | it ends                | it ends
//	  '--> ended: its Done goes on <--'                        '--> ended: what cancels it goes on in place of its Done
type posting struct{ state atomic.Uint64 }

const (
	postIdle uint64 = iota
	postPosted
	postCancelling
	postEnded
	postStates = 4
)

// begin is called before Post, whose result posted hears of.
func (po *posting) begin() (number uint64) {
	number = (po.state.Load()/postStates + 1) * postStates
	po.state.Store(number)
	return number
}

// posted is called after Post, when another receive may have begun already.
func (po *posting) posted(number uint64) { po.state.CompareAndSwap(number, number+postPosted) }

// ended is called by Done. true: it goes on.
func (po *posting) ended() bool {
	for {
		v := po.state.Load()
		if po.state.CompareAndSwap(v, v-v%postStates+postEnded) {
			return v%postStates != postCancelling
		}
	}
}

// cancel cancels the receive if it is posted and is says so. true: the receive has ended, and the caller goes on in
// place of its Done.
func (po *posting) cancel(r *nmad.Request, is func() bool) bool {
	v := po.state.Load()
	if v%postStates != postPosted || !is() || !po.state.CompareAndSwap(v, v-postPosted+postCancelling) {
		return false
	}
	r.Cancel()
	return !po.state.CompareAndSwap(v-postPosted+postCancelling, v)
}
