//go:build linux

package drivertest

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad/driver"
)

const (
	exposedBytes = 300_001
	exposedAt    = 48 // where in its page it begins, about
	wantedBytes  = exposedBytes - 5000
)

// Kinds of the packets that tell of it.
const (
	kindExposed = 10 + iota // Tag: the address, Size: bytes
	kindHidden
	kindRead
)

func fetchLeft(s *side) error { return errors.Join(exposes(s), fetches(s)) }

func fetchRight(s *side) error { return errors.Join(fetches(s), exposes(s)) }

// exposes tells the other side where a message lies, and withdraws it once that has read it.
func exposes(s *side) error {
	b := make([]byte, exposedAt+exposedBytes)[exposedAt:]
	for at := uint64(1); at <= 2; at++ {
		fill(b, at)
		if err := s.send(driver.Header{Kind: kindExposed, Tag: address(b), Size: uint64(len(b))}, nil); err != nil {
			return err
		}
		if _, err := s.recv(); err != nil || s.h.Kind != kindRead {
			return fmt.Errorf("expose: an answer of kind %d: %w", s.h.Kind, err)
		}
	}
	s.Withdraw()
	fill(b, 3)
	if err := s.send(driver.Header{Kind: kindHidden}, nil); err != nil {
		return err
	}
	if _, err := s.recv(); err != nil || s.h.Kind != kindRead {
		return fmt.Errorf("expose: an answer of kind %d: %w", s.h.Kind, err)
	}
	return nil
}

// fetches reads what the other side has exposed, and finds that what is withdrawn cannot be read.
func fetches(s *side) error {
	var from uint64
	b := make([]byte, exposedAt+1+wantedBytes)[exposedAt+1:]
	for at := uint64(1); ; at++ {
		if _, err := s.recv(); err != nil {
			return err
		}
		if s.h.Kind == kindHidden {
			break
		}
		from = s.h.Tag
		n, err := s.Fetch(b, from)
		if !s.Caps().Fetches {
			if n != 0 || !errors.Is(err, errors.ErrUnsupported) {
				return fmt.Errorf("fetch over a link that cannot: %d bytes, %w", n, err)
			}
		} else {
			if n != len(b) || err != nil {
				return fmt.Errorf("fetch: %d bytes of %d: %w", n, len(b), err)
			}
			if err := check(b, at); err != nil {
				return fmt.Errorf("fetch: %w", err)
			}
			if n, err := s.Fetch(b, 8); n != 0 || !errors.Is(err, errors.ErrUnsupported) {
				return fmt.Errorf("fetch where no memory is: %d bytes, %w", n, err)
			}
		}
		if err := s.send(driver.Header{Kind: kindRead}, nil); err != nil {
			return err
		}
	}
	if s.Caps().Fetches {
		if n, err := s.Fetch(b, from); n != 0 || err != nil {
			return fmt.Errorf("fetch what was withdrawn: %d bytes, %w", n, err)
		}
	}
	return s.send(driver.Header{Kind: kindRead}, nil)
}
