package nmad

import (
	"errors"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/region"
)

// Lend hands the memory of the gate's buffers to the peer, once, and says whether the peer has it.
func (h *held) Lend() bool {
	p := h.g.buffers.Load()
	if !p.shared && !p.barred {
		fd := p.memory.Descriptor()
		p.barred = fd < 0 || h.link.Lend(fd) != nil // if the link is broken its next call says so
		p.shared = !p.barred
		p.memory.Forget()
	}
	return p.shared
}

// Map maps the memory of the peer. It gives none, and no error, for want of descriptors or address space: messages come the usual way.
func (h *held) Map() ([]byte, error) {
	fd, err := h.link.Lent()
	if err == nil {
		h.view, err = region.Map(fd)
	}
	switch {
	case err == nil:
		return h.view.Bytes(), nil
	case errors.Is(err, driver.ErrProtocol):
		return nil, err
	}
	return nil, nil
}

// closeView lets go of the peer's memory once the gate has ended and nothing of it is lent.
func (h *held) closeView() {
	if h.flow.Unseen() {
		h.view.Unmap()
		h.view = nil
	}
}
