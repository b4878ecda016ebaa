package flow

// rendezvous is a message that is, or was, announced, on either side: how far it has come. Used again and again.
type rendezvous struct {
	req    *Request
	want   int         // bytes that both sides agreed upon; unknown: the sender has not heard yet
	moved  int         // of them, already moved
	asked  int         // of them, already asked for
	next   cursor      // in pieces: where asked is
	chunks int32       // of it in queues of streams
	cookie uint32      // recv: the sender's name for it
	loaned bool        // send: it was announced as a loan, or with its address
	from   uint64      // recv: the address at which it is read in the sender's memory; 0: it comes over the large track
	after  *rendezvous // next in whichever list holds it
}

func (v *rendezvous) link() **rendezvous { return &v.after }

func (f *Flow) startRendezvous(r *Request, want int) *rendezvous {
	v := f.met
	if v == nil {
		v = &rendezvous{}
	} else {
		f.met = v.after
	}
	*v = rendezvous{req: r, want: want}
	return v
}

// endRendezvous takes back a rendezvous that nothing leads to any more.
func (f *Flow) endRendezvous(v *rendezvous) (r *Request, want int) {
	r, want = v.req, v.want
	v.req, v.after = nil, f.met
	f.met = v
	return r, want
}

// fail ends a rendezvous, unless some of its chunks are in queues: then it ends with the last of them.
func (f *Flow) fail(v *rendezvous, err error) {
	if v.chunks == 0 {
		r, _ := f.endRendezvous(v)
		f.finish(r, err)
	}
}
