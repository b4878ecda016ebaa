//go:build linux

package drivertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// streams sends and receives a long stream at once, in pieces of odd lengths that differ between the two ends.
func streams(s *side) error {
	total := s.pick(12<<20, 2<<20)
	sent := make(chan error, 1)
	go func() { sent <- stream(total, 100_000, rand.New(rand.NewPCG(3, uint64(total))), s.pushOdd) }()
	err := stream(total, 77_777, rand.New(rand.NewPCG(5, uint64(total))), s.pullOdd)
	if err != nil {
		_ = s.Close()
	}
	return errors.Join(err, <-sent)
}

// stream calls move for consecutive pieces of at most most bytes.
func stream(total, most int, rng *rand.Rand, move func(buf []byte, at uint64, step int) error) error {
	buf := make([]byte, most)
	for at := 0; at < total; {
		n := 1 + rng.IntN(most)
		if rng.IntN(3) == 0 {
			n = 1 + rng.IntN(70)
		}
		n = min(n, total-at)
		if err := move(buf[:n], uint64(at), 1+rng.IntN(n)); err != nil {
			return fmt.Errorf("at %d of %d: %w", at, total, err)
		}
		at += n
	}
	return nil
}

func (s *side) pushOdd(buf []byte, at uint64, step int) error {
	fill(buf, at)
	return s.push(buf, max(step, len(buf)/8))
}

func (s *side) pullOdd(buf []byte, at uint64, step int) error {
	if err := s.pull(buf, max(step, len(buf)/8)); err != nil {
		return err
	}
	return check(buf, at)
}

// everything runs all four directions at once, each in a goroutine of its own, while a fifth one arms and disarms.
func everything(s *side) error {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			s.Arm(i%3 == 0)
			s.Disarm()
			if i%16 == 0 {
				time.Sleep(20 * time.Microsecond) // leave the others a CPU
			}
		}
	}()
	large := make(chan error, 1)
	go func() { large <- streams(&side{Link: s.Link}) }()
	err := packets(s)
	err = errors.Join(err, <-large)
	close(stop)
	<-stopped
	return err
}

// largeFullLeft fills the large track until Push takes nothing, tells the other to begin, and waits for room in its
// sleep.
func largeFullLeft(s *side) error {
	const rest = 4 << 20 // bytes sent after the first refusals
	buf := make([]byte, 1<<16)
	var b []byte // what of buf has still to go
	at, end, refusals := 0, 1<<30, 0
	next := func() {
		if len(b) == 0 {
			b = buf[:min(len(buf), end-at)]
			fill(b, uint64(at))
		}
	}
	push := func() (bool, error) {
		n, err := s.Push(b)
		b, at = b[n:], at+n
		return n > 0, err
	}
	for ; refusals < 3; next() {
		ok, err := push()
		if err != nil {
			return err
		}
		if !ok && len(b) > 0 {
			refusals++
		}
		if at == end {
			return errors.New("a gigabyte was taken and no byte was received")
		}
	}
	end = at + len(b) + rest
	if err := s.send(driver.Header{Kind: 1, Size: uint64(end)}, nil); err != nil {
		return err
	}
	for ; at < end; next() {
		if err := s.napFor(true, func() (bool, error) { ok, err := push(); return ok || len(b) == 0, err }); err != nil {
			return fmt.Errorf("at %d of %d: %w", at, end, err)
		}
	}
	return nil
}

func largeFullRight(s *side) error {
	if _, err := s.recv(); err != nil {
		return err
	}
	buf := make([]byte, 300_001)
	for at, end := 0, int(s.h.Size); at < end; {
		b := buf[:min(len(buf), end-at)]
		var got int
		err := s.napFor(false, func() (bool, error) {
			n, err := s.Pull(b)
			got = n
			return n > 0, err
		})
		if err == nil {
			err = check(b[:got], uint64(at))
		}
		if err != nil {
			return fmt.Errorf("at %d of %d: %w", at, end, err)
		}
		at += got
	}
	return nil
}

// flood is what is pushed again and again where the peer is going to die, in bytes.
const flood = 1 << 20

// pushFlood pushes until that fails.
func pushFlood(s *side) error {
	buf := make([]byte, flood)
	fill(buf, 0)
	for {
		if err := s.push(buf, flood); err != nil {
			return err
		}
	}
}

// pullFlood pulls what pushFlood pushes, and is content with nothing else.
func pullFlood(s *side) error {
	buf := make([]byte, flood)
	for {
		for at := 0; at < flood; {
			err := until(func() (bool, error) {
				n, err := s.Pull(buf[at:])
				if err == nil {
					err = check(buf[at:at+n], uint64(at))
				}
				at += n
				return n > 0, err
			})
			if err != nil {
				return err
			}
		}
		clear(buf)
	}
}
