package flow

// rendezvous is a message that is, or was, announced, on either side: how far it has come. Used again and again.
type rendezvous struct {
	req    *Request
	want   int         // bytes that both sides agreed upon; unknown: the sender has not heard yet
	moved  int         // bytes that have moved
	asked  int         // bytes that the receiver has asked for
	next   cursor      // of a message in pieces: the place of the byte that is asked for next
	chunks int32       // how many chunks of it are in queues of streams
	cookie uint32      // recv: the name that the sender has given it
	loaned bool        // send: it was announced as a loan, or with its address
	from   uint64      // recv: the address at which it is read in the sender's memory; 0: it comes over the large track
	after  *rendezvous // the next one in the list that holds it
}

func (v *rendezvous) link() **rendezvous { return &v.after }

func (f *Flow) startRendezvous(r *Request, want int) *rendezvous {
	v := f.spareRendezvous
	if v == nil {
		v = &rendezvous{}
	} else {
		f.spareRendezvous = v.after
	}
	*v = rendezvous{req: r, want: want}
	return v
}

// endRendezvous takes back a rendezvous that nothing leads to any more.
func (f *Flow) endRendezvous(v *rendezvous) (r *Request, want int) {
	r, want = v.req, v.want
	v.req, v.after = nil, f.spareRendezvous
	f.spareRendezvous = v
	return r, want
}

// fail ends a rendezvous, unless some of its chunks are in queues: then it ends with the last of them.
func (f *Flow) fail(v *rendezvous, err error) {
	if v.chunks == 0 {
		r, _ := f.endRendezvous(v)
		f.finish(r, err)
	}
}
