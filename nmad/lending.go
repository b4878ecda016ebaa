package nmad

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// A LOAN says where a message lies by the Card of the memory of its sender's buffers, and by the place in that memory (8), in bytes.

func describeLoan(b *[flow.LoanBody]byte, c mapped.Card, place int) {
	c.Put(b[:])
	binary.LittleEndian.PutUint64(b[mapped.CardBytes:], uint64(place))
}

// View is where a message lies that the peer lends. Its memory is mapped by the first one, if it is of the process at the other end of the link. There is none, and no error, where
// that memory cannot be mapped: then messages come the usual way.
func (h *held) View(where []byte, size uint64) ([]byte, error) {
	c, place := mapped.CardOf(where), binary.LittleEndian.Uint64(where[mapped.CardBytes:])
	if h.lender.card == (mapped.Card{}) {
		h.lender.card = c
		if int64(c.PID) != int64(h.link.Caps().Process) {
			return nil, nil
		}
		if c.Size == 0 || c.Size > maxLoans || c.Size%pageBytes != 0 {
			return nil, fmt.Errorf("%d bytes of memory to lend: 1 to %d pages of %d are allowed", c.Size, maxLoans/pageBytes, pageBytes)
		}
		var err error
		if h.lender.view, err = c.Open("memory to lend", false); errors.Is(err, driver.ErrProtocol) {
			return nil, err
		}
	}
	if c != h.lender.card {
		return nil, errors.New("messages are lent in a second memory")
	}
	if h.lender.view == nil {
		return nil, nil
	}
	bytes, ok := h.lender.view.At(place, size)
	if !ok {
		return nil, fmt.Errorf("a loan of %d bytes at %#x, in memory of %d", size, place, c.Size)
	}
	return bytes, nil
}

// lender is what is known of the peer's memory.
type lender struct {
	card mapped.Card    // zero: nothing was lent yet
	view *mapped.Memory // nil: it is not mapped
}

// closeView lets go of the peer's memory once the gate has ended and nothing of it is lent.
func (h *held) closeView() {
	if h.flow.Unseen() {
		_ = h.lender.view.Vacate() // else it stays mapped
		h.lender.view = nil
	}
}
