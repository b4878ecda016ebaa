package rma

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// posting lets a thread cancel a receive that its callback (Done) posts again, so that Request.Cancel and Post are
// never called at the same time. Its state is four times the number of the receive, plus one of
//
//	idle --- Post has returned ---> posted --- cancel ---> canceling --- Cancel has returned ---> posted
//	  | it ends                       | it ends                | it ends
//	  '--> ended: Done goes on <------'                        '--> ended: the canceler goes on in place of Done
//
// The poster calls begin and posted, Done calls ended, any thread calls cancel.
type posting struct{ state atomic.Uint64 }

const (
	postIdle uint64 = iota
	postPosted
	postCanceling
	postEnded
	postStates = 4
)

// begin is called before Post, and returns the number for posted.
func (po *posting) begin() (number uint64) {
	number = (po.state.Load()/postStates + 1) * postStates
	po.state.Store(number)
	return number
}

// posted is called after Post, and changes nothing if that receive has ended, and another one has begun, meanwhile.
func (po *posting) posted(number uint64) { po.state.CompareAndSwap(number, number+postPosted) }

// ended is called by Done. true: Done goes on; false: a canceler does in its place.
func (po *posting) ended() bool {
	for {
		v := po.state.Load()
		if po.state.CompareAndSwap(v, v-v%postStates+postEnded) {
			return v%postStates != postCanceling
		}
	}
}

// cancel cancels the receive if it is posted and applies returns true. true: the receive has ended, and the caller goes
// on in place of Done.
func (po *posting) cancel(r *nmad.Request, applies func() bool) bool {
	v := po.state.Load()
	if v%postStates != postPosted || !applies() || !po.state.CompareAndSwap(v, v-postPosted+postCanceling) {
		return false
	}
	r.Cancel()
	return !po.state.CompareAndSwap(v-postPosted+postCanceling, v)
}
