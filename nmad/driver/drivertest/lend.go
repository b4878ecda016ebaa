//go:build linux

package drivertest

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/region"
)

// lentBytes is the size of the memory that is lent.
const lentBytes = 3 * region.PageSize

// Kinds of the packets that tell of it.
const (
	kindNone = 1 + iota // there is no memory: the link cannot hand any over
	kindLent            // there is
	kindSeen
)

// lendLeft hands memory over, if the link can, and then takes some.
func lendLeft(s *side) error { return errors.Join(lends(s), borrows(s)) }

func lendRight(s *side) error { return errors.Join(borrows(s), lends(s)) }

// lends gives the other side memory, and changes it afterwards.
func lends(s *side) error {
	if !s.Caps().Lends {
		if err := s.Lend(-1); !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("lend over a link that cannot: %w", err)
		}
		return s.send(driver.Header{Kind: kindNone}, nil)
	}
	m, err := region.New(lentBytes)
	if err != nil {
		return err
	}
	defer m.Free()
	fill(m.Bytes(), 1)
	if err := s.Lend(m.Descriptor()); err != nil {
		return fmt.Errorf("lend: %w", err)
	}
	m.Forget()
	for _, at := range []uint64{1, 2} {
		fill(m.Bytes(), at)
		if err := s.send(driver.Header{Kind: kindLent, Tag: at}, nil); err != nil {
			return err
		}
		if _, err := s.recv(); err != nil || s.h.Kind != kindSeen {
			return fmt.Errorf("lend: an answer of kind %d: %w", s.h.Kind, err)
		}
	}
	return nil
}

// borrows finds in its own mapping what the other side has written, also after it was made.
func borrows(s *side) error {
	var v *region.View
	for at := uint64(1); at <= 2; at++ {
		if _, err := s.recv(); err != nil {
			return err
		}
		if s.h.Kind == kindNone {
			return nil
		}
		if s.h.Kind != kindLent || s.h.Tag != at {
			return fmt.Errorf("borrow: a packet of kind %d, number %d", s.h.Kind, s.h.Tag)
		}
		if v == nil {
			fd, err := s.Lent()
			if err == nil {
				v, err = region.Map(fd)
			}
			if err != nil {
				return fmt.Errorf("borrow: %w", err)
			}
			defer v.Unmap()
			if _, err := s.Lent(); !errors.Is(err, driver.ErrProtocol) {
				return fmt.Errorf("borrow what was not lent: %w", err)
			}
		}
		if len(v.Bytes()) != lentBytes {
			return fmt.Errorf("borrow: %d bytes of %d", len(v.Bytes()), lentBytes)
		}
		if err := check(v.Bytes(), at); err != nil {
			return fmt.Errorf("borrow: %w", err)
		}
		if err := s.send(driver.Header{Kind: kindSeen}, nil); err != nil {
			return err
		}
	}
	return nil
}
