package nmad

import "github.com/pm2-go/pm2/nmad/internal/flow"

// Loan is a message that was received by a receive that takes loans (RecvOp.Loan): Request.Loan gives it. If InPlace, its bytes
// lie in the sender's memory, which is mapped here for reading only (a write is a fault that ends the
// program), and the sender waits for Release. Else they are in the buffer of the receive. Bytes that
// are in place can change while they are read, if the sender breaks its part: what they are checked for is to be copied
// before, never looked at twice.
//
// It is a handle, to be copied at will, which knows when it is stale. The zero Loan is one that was released. Its methods
// never block, may be called by any number of threads at once, and in callbacks; of several Release only one succeeds.
type Loan struct {
	gate       *Gate
	lease      *flow.Lease
	generation uint32
	inPlace    bool
	bytes      []byte
}

// Bytes is the message; nil: it was released. They must not be touched after Release.
func (l Loan) Bytes() []byte {
	if !l.live() {
		return nil
	}
	return l.bytes
}

// live says that it was not released.
func (l Loan) live() bool { return l.lease != nil && l.lease.Generation.Load() == l.generation }

// InPlace says whether the bytes lie in the sender's memory.
func (l Loan) InPlace() bool { return l.inPlace && l.live() }

// Release gives the message back to its sender, whose send is done then. The bytes stay readable until then, also
// when the sender has died, or this session was closed: its memory stays mapped. Should the network have no room for the
// packet that says so, it leaves when the engine polls next. The error is ErrReleased if that was said before.
func (l Loan) Release() error {
	if l.lease == nil || !l.lease.Generation.CompareAndSwap(l.generation, l.generation+1) {
		return errReleased("loan")
	}
	l.gate.inbox.giveBack(l.lease)
	return nil
}

// Loan returns, of a receive with RecvOp.Loan that has ended without an error, the message. It is the same
// for each call until the request is started again, and must be released once.
func (r *Request) Loan() Loan {
	if r == nil || !r.ended() || r.core.Lease == nil {
		return Loan{}
	}
	x := r.core.Lease
	l := Loan{r.source(), x, r.core.Leased, x.There, x.Bytes}
	if !l.live() { // it may be that of another message by now
		return Loan{}
	}
	return l
}

// source is the gate that the message of a receive came from.
func (r *Request) source() *Gate {
	if r.any != nil {
		return r.any.gates.at(r.core.From)
	}
	return r.gate
}

// IrecvLoan starts to receive the next message with that tag where its sender has it, or, if it is not
// lent, into buf; Request.Loan tells. See RecvOp.Loan.
func (g *Gate) IrecvLoan(tag uint64, buf []byte) *Request {
	return irecv(g, &RecvOp{Match: Tag(tag), Buf: buf, Loan: true})
}

// RecvLoan is IrecvLoan, and waits.
func (g *Gate) RecvLoan(tag uint64, buf []byte) (Loan, error) {
	r := g.IrecvLoan(tag, buf)
	err := r.Wait()
	return r.Loan(), err
}

// IrecvLoan starts to receive the message where its sender has it, or into buf; see Irecv and Gate.IrecvLoan.
func (x *Message) IrecvLoan(buf []byte) *Request { return x.receive(&RecvOp{Buf: buf, Loan: true}) }
