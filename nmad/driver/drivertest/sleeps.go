//go:build linux

package drivertest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/pm2-go/pm2/nmad/driver"
)

// sleepLeft and sleepRight play ping-pong, each asleep whenever it has to wait, now at once and now after a random
// number of polls, so that arrivals meet every step of Arm, Disarm and what comes between. One lost wake-up, and the
// round never ends. Every fourth ball goes over the large track.
func sleepLeft(s *side) error  { return sleeper(s, true) }
func sleepRight(s *side) error { return sleeper(s, false) }

func sleeper(s *side, serve bool) error {
	rounds := s.pick(100_000, 4_000)
	rng := rand.New(rand.NewPCG(7, uint64(rounds)))
	ball := make([]byte, 1)
	for i := range rounds {
		large := i%4 == 3
		throw := func() error {
			if !large {
				return s.send(numbered(i, 1), []byte{byte(i)})
			}
			ball[0] = byte(i)
			return s.push(ball, 1)
		}
		if serve {
			if err := throw(); err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
		}
		spin := 0
		if rng.IntN(2) == 0 {
			spin = rng.IntN(400)
		}
		try := func() (bool, error) {
			for {
				ok, err := s.caught(i, large, ball)
				if ok || err != nil || spin <= 0 {
					return ok, err
				}
				spin--
			}
		}
		if err := s.napFor(false, try); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
		if !serve {
			if err := throw(); err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
		}
	}
	return nil
}

// caught polls once for ball i.
func (s *side) caught(i int, large bool, ball []byte) (bool, error) {
	if large {
		n, err := s.Pull(ball)
		if n == 1 && ball[0] != byte(i) {
			err = fmt.Errorf("ball %d instead", ball[0])
		}
		return n == 1, err
	}
	body, ok, err := s.Recv(&s.h)
	if ok && (s.h != numbered(i, 1) || body[0] != byte(i)) {
		err = fmt.Errorf("packet %+v instead", s.h)
	}
	return ok, err
}

// roomLeft sends as fast as it can on both tracks, asleep whenever there is no room; roomRight receives, asleep
// whenever there is nothing.
func roomLeft(s *side) error {
	n := s.pick(60_000, 4_000)
	rng := rand.New(rand.NewPCG(9, uint64(n)))
	body := make([]byte, s.Caps().MaxBody)
	for i := range n {
		if i%8 == 7 {
			if err := s.napThrough(true, body[:1+rng.IntN(len(body))], s.Push); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			continue
		}
		b := body[:length(rng, len(body))]
		h := numbered(i, len(b))
		if err := s.napFor(true, func() (bool, error) { return s.Send(&h, b, nil, false) }); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	// What Send left in a buffer has to leave in its sleep, too.
	return s.napFor(false, s.Flush)
}

func roomRight(s *side) error {
	n := s.pick(60_000, 4_000)
	rng := rand.New(rand.NewPCG(9, uint64(n)))
	body := make([]byte, s.Caps().MaxBody)
	for i := range n {
		if i%8 == 7 {
			if err := s.napThrough(false, body[:1+rng.IntN(len(body))], s.Pull); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			continue
		}
		want := numbered(i, length(rng, len(body)))
		err := s.napFor(false, func() (bool, error) { _, ok, err := s.Recv(&s.h); return ok, err })
		if err == nil && s.h != want {
			err = errors.New("another packet instead")
		}
		if err != nil {
			return fmt.Errorf("message %d: %w (%+v)", i, err, s.h)
		}
	}
	return nil
}

// napThrough pushes or pulls all of b, asleep whenever nothing of it can be moved.
func (s *side) napThrough(wantRoom bool, b []byte, move func([]byte) (int, error)) error {
	for len(b) > 0 {
		err := s.napFor(wantRoom, func() (bool, error) {
			k, err := move(b)
			b = b[k:]
			return k > 0, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// The right side sends some, and closes: all of it arrives, and then ErrPeerLost, from every call, for good.
const closedBytes = 3000

func closedRight(s *side) error {
	for i := range 20 {
		if err := s.send(numbered(i, 1), []byte{byte(i)}); err != nil {
			return err
		}
	}
	b := make([]byte, closedBytes)
	fill(b, 0)
	return s.push(b, 100)
}

func closedLeft(s *side) error {
	for i := range 20 {
		if _, err := s.recv(); err != nil || s.h != numbered(i, 1) {
			return fmt.Errorf("packet %d: %+v, %w", i, s.h, err)
		}
	}
	b := make([]byte, closedBytes)
	if err := s.pull(b, 77); err != nil {
		return err
	}
	if err := check(b, 0); err != nil {
		return err
	}
	return s.lostForGood()
}

// lostForGood waits until every call says that the peer is lost.
func (s *side) lostForGood() error {
	h := driver.Header{Body: 1}
	for _, c := range []struct {
		name string
		call func() (bool, error)
	}{
		{"Recv", func() (bool, error) { _, ok, err := s.Recv(&s.h); return ok, err }},
		{"Pull", func() (bool, error) { n, err := s.Pull(make([]byte, 10)); return n > 0, err }},
		{"Send", func() (bool, error) { _, err := s.Send(&h, []byte{1}, nil, false); return false, err }},
		{"Push", func() (bool, error) { _, err := s.Push([]byte{1}); return false, err }},
		{"Flush", func() (bool, error) { _, err := s.Flush(); return false, err }},
	} {
		for range 3 {
			if err := until(c.call); !errors.Is(err, driver.ErrPeerLost) {
				return fmt.Errorf("%s on a lost link says %w", c.name, err)
			}
		}
	}
	// Nor does a lost link let a thread sleep.
	for _, wantRoom := range []bool{false, true} {
		if s.Arm(wantRoom) {
			if err := s.sleep(); err != nil {
				return err
			}
		}
		s.Disarm()
	}
	return nil
}

// The left side sleeps, with nothing on the way, when the other one closes.
func closedAsleepLeft(s *side) error {
	err := s.napFor(false, func() (bool, error) { _, ok, err := s.Recv(&s.h); return ok, err })
	if !errors.Is(err, driver.ErrPeerLost) {
		return fmt.Errorf("a peer closed, and Recv says %w", err)
	}
	return s.lostForGood()
}

func closedAsleepRight(*side) error { return nil }
