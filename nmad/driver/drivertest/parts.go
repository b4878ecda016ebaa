//go:build linux

package drivertest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// partsLeft sends bodies of every length that matters in parts, to an echo: they arrive as one.
func partsLeft(s *side) error {
	rng := rand.New(rand.NewPCG(3, 4))
	buf := make([]byte, s.Caps().MaxBody)
	for turn := range s.pick(20, 4) {
		for _, n := range boundaries(s.Caps().MaxBody) {
			body := buf[:n]
			fill(body, uint64(n*turn))
			h := numbered(n, n)
			parts := cut(rng, body)
			if err := until(func() (bool, error) { return s.Send(&h, nil, parts, false) }); err != nil {
				return fmt.Errorf("body of %d in %d parts: %w", n, len(parts), err)
			}
			if err := s.flush(); err != nil {
				return err
			}
			got, err := s.recv()
			if err != nil {
				return fmt.Errorf("body of %d in %d parts: %w", n, len(parts), err)
			}
			if s.h != h || !bytes.Equal(got, body) {
				return fmt.Errorf("body of %d in %d parts came back as %+v with %d bytes, equal: %v",
					n, len(parts), s.h, len(got), bytes.Equal(got, body))
			}
		}
	}
	return nil
}

// cut divides a body at random places, with empty parts among the others.
func cut(rng *rand.Rand, body []byte) [][]byte {
	parts := [][]byte{nil}
	for len(body) > 0 {
		n := min(rng.IntN(8)*rng.IntN(200), len(body))
		if rng.IntN(10) == 0 {
			n = len(body)
		}
		parts = append(parts, body[:n])
		body = body[n:]
	}
	return parts
}
