package nmad

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// Loan is a message that a receive with Operation.Loan has received; Request.Loan returns it. If InPlace is true, its
// bytes lie in the sender's memory, which is mapped here for reading only (a write is a fault that ends the program),
// and the sender waits for Release. Otherwise the bytes are in the buffer of the receive. A sender that breaks the
// rules can change bytes in place while they are read, so a reader that checks the bytes must copy them first, and
// check the copy.
//
// A Loan is a handle, and may be copied. After Release it has no bytes. The zero Loan counts as released. The methods
// never block; any number of threads may call them at once, also in callbacks. If Release is called several times, one
// call succeeds.
type Loan struct {
	gate       *Gate
	lease      *flow.Lease
	generation uint32
	inPlace    bool
	bytes      []byte
}

// Bytes returns the message; nil if it was released. The program must not touch the bytes after Release.
func (ln Loan) Bytes() []byte {
	if !ln.live() {
		return nil
	}
	return ln.bytes
}

// live reports whether the loan was not released.
func (ln Loan) live() bool { return ln.lease != nil && ln.lease.Generation.Load() == ln.generation }

// InPlace reports whether the bytes lie in the sender's memory.
func (ln Loan) InPlace() bool { return ln.inPlace && ln.live() }

// Release gives the message back to its sender, whose send then is done. Until Release the bytes stay readable, also
// after the sender has died, or this session was closed: the sender's memory stays mapped. If the network has no room
// for the packet that tells the sender, the packet leaves at the next poll of the engine. Release fails with
// ErrReleased if the loan was released before. It never blocks.
func (ln Loan) Release() error {
	if ln.lease == nil || !ln.lease.Generation.CompareAndSwap(ln.generation, ln.generation+1) {
		return errReleased("loan")
	}
	ln.gate.leaveReleased(ln.lease)
	return nil
}

// Loan returns the message of a receive with Operation.Loan that is done, without an error. Each call returns the same
// Loan until the request is started again; the program must release it once. In all other cases Loan returns the zero
// Loan.
func (r *Request) Loan() Loan {
	if r == nil || !r.done() || !r.core.UsesExtras || r.core.Extras.Lease == nil {
		return Loan{}
	}
	x, generation := r.core.Extras.Lease, r.core.Extras.LeaseGeneration
	if x.Generation.Load() != generation { // released: the lease may belong to another message by now
		return Loan{}
	}
	return Loan{r.source(), x, generation, x.InPeer, x.Bytes}
}

// source returns the gate from which the message of a receive has come.
func (r *Request) source() *Gate {
	if d := r.domain(); d != nil {
		return d.gates.at(r.core.Extras.From)
	}
	return r.gate
}

// loanBody is the content of a LOAN: the Locator of the memory that has the sender's buffers, and the place of the
// message there, in bytes.
type loanBody = [flow.LoanLocator + flow.LoanBody]byte

func newWhere(locator mapped.Locator, place int) (b loanBody) {
	locator.Put(b[:])
	binary.LittleEndian.PutUint64(b[flow.LoanLocator:], uint64(place))
	return b
}

// View implements flow.Network: it returns the bytes of a message that the peer lends. It maps the peer's memory when
// its locator has come, if the locator is of the process at the other end of the link. It returns nil, and no error, if
// that memory cannot be mapped: then messages come in the usual way.
func (h *lockedGate) View(locator []byte, place, size uint64) ([]byte, error) {
	if len(locator) > 0 {
		l, err := mapped.LocatorOf(locator), error(nil)
		if int64(l.PID) != int64(h.link.Caps().Process) {
			return nil, nil
		}
		if l.Size == 0 || l.Size > maxLoanBytes || l.Size%pageBytes != 0 {
			return nil, fmt.Errorf("%d bytes of memory to lend: 1 to %d pages of %d are allowed", l.Size, maxLoanBytes/pageBytes, pageBytes)
		}
		if h.view, err = l.Open("memory to lend", false); errors.Is(err, driver.ErrProtocol) {
			return nil, err
		}
	}
	if h.view == nil {
		return nil, nil
	}
	bytes, ok := h.view.At(place, size)
	if !ok {
		return nil, fmt.Errorf("a loan of %d bytes at %#x, in memory of %d", size, place, len(h.view.Bytes()))
	}
	return bytes, nil
}

// closeView unmaps the peer's memory once the gate has ended and nothing of it is loaned.
func (h *lockedGate) closeView() {
	if h.flow.ViewUnused() {
		_ = h.view.Vacate() // if that fails the memory stays mapped
		h.view = nil
	}
}
