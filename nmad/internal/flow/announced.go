package flow

import "github.com/pm2-go/pm2/internal/shelf"

// rendezvous is the state of a message that is announced, on either side. The flow uses the memory again.
type rendezvous struct {
	req       *Request               // the send, or the receive
	want      int                    // bytes of the message for which the receiver has room; unknown at the sender until the last RTR
	moved     int                    // bytes that have moved
	asked     int                    // bytes for which RTRs were sent, or have come
	askCursor cursor                 // of a message in pieces: the place of the next byte to ask for
	chunks    int32                  // number of its chunks in the queues of streams
	cookie    uint32                 // recv: the sender's number for it
	inPlace   bool                   // send: it was announced by LOAN or EXPOSE, so the receiver may read it where it is
	address   uint64                 // recv: address in the sender's memory, if the kernel reads the message there; else 0
	node      shelf.Node[rendezvous] // in the list that holds this one
}

// startRendezvous makes the rendezvous of a request, of which want bytes will move.
func (f *Flow) startRendezvous(r *Request, want int) *rendezvous {
	v := f.spareRendezvous.Get()
	*v = rendezvous{req: r, want: want}
	return v
}

// endRendezvous frees a rendezvous, to which no table or queue leads any more, and returns its request and want.
func (f *Flow) endRendezvous(v *rendezvous) (r *Request, want int) {
	r, want = v.req, v.want
	v.req = nil
	f.spareRendezvous.Put(v)
	return r, want
}

// fail ends a rendezvous and its request with err. It does nothing while chunks of the rendezvous are in queues: the
// caller calls fail for the last of them.
func (f *Flow) fail(v *rendezvous, err error) {
	if v.chunks == 0 {
		r, _ := f.endRendezvous(v)
		f.Finish(r, err)
	}
}
