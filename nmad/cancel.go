package nmad

import "github.com/pm2-go/pm2/nmad/internal/flow"

// Cancel takes a receive back if no message has been found for it yet, and says
// whether it has. True: it ends with ErrCanceled, it has received nothing, its
// buffer is not touched any more, and the message that it was waiting for is for
// another receive. False: it ends as if nothing had been said, or has ended; or it is a
// send, which cannot be taken back. Not to be called from callbacks and hooks.
func (r *Request) Cancel() bool {
	if r == nil || r.done() || r.gate.barred() != nil {
		return false
	}
	g := r.gate
	h := g.enter()
	defer h.letGo()
	if any := r.rare().any; any != nil {
		if !any.Remove(&r.core.Rest.Wild) {
			return false
		}
	} else if r.core.Stage != flow.Posted || !h.flow.Withdraw(&r.core) {
		return false
	}
	h.flow.Finish(&r.core, ErrCanceled)
	return true
}
