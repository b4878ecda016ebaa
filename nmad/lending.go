package nmad

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// where is what a LOAN says of a message: the Card of the memory of its sender's buffers, and its place there, in bytes.
type where = [flow.LoanCard + flow.LoanBody]byte

func newWhere(c mapped.Card, place int) (b where) {
	c.Put(b[:])
	binary.LittleEndian.PutUint64(b[flow.LoanCard:], uint64(place))
	return b
}

// View is where a message lies that the peer lends. Its memory is mapped when its card has come, if it is of the process at the other end of the link. There is none, and no error, where
// that memory cannot be mapped: then messages come the usual way.
func (h *held) View(card []byte, place, size uint64) ([]byte, error) {
	if len(card) > 0 {
		c, err := mapped.CardOf(card), error(nil)
		if int64(c.PID) != int64(h.link.Caps().Process) {
			return nil, nil
		}
		if c.Size == 0 || c.Size > maxLoans || c.Size%pageBytes != 0 {
			return nil, fmt.Errorf("%d bytes of memory to lend: 1 to %d pages of %d are allowed", c.Size, maxLoans/pageBytes, pageBytes)
		}
		if h.view, err = c.Open("memory to lend", false); errors.Is(err, driver.ErrProtocol) {
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

// closeView lets go of the peer's memory once the gate has ended and nothing of it is loaned.
func (h *held) closeView() {
	if h.flow.Unseen() {
		_ = h.view.Vacate() // else it stays mapped
		h.view = nil
	}
}
