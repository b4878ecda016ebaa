//go:build linux

package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
)

// scripts lists the cases.
func scripts() []script {
	return []script{
		{name: "order", left: packets, right: packets},
		{name: "together", left: together, right: together},
		{name: "sizes", left: sizesLeft, right: echo},
		{name: "parts", left: partsLeft, right: echo},
		{name: "wrong bodies", left: wrongBodies, right: echo},
		{name: "full", left: fullLeft, right: fullRight},
		{name: "large full", left: largeFullLeft, right: largeFullRight},
		{name: "large", left: streams, right: streams},
		{name: "all at once", left: everything, right: everything},
		{name: "fetch", left: fetchLeft, right: fetchRight},
		{name: "sleep", left: sleepLeft, right: sleepRight},
		{name: "sleep for room", left: roomLeft, right: roomRight},
		{name: "peer closed", left: closedLeft, right: closedRight, ends: true},
		{name: "peer closed while asleep", left: closedAsleepLeft, right: closedAsleepRight, ends: true},
	}
}

// endless lists what a second process does that is going to be killed.
func endless() []script {
	return []script{{name: "flood", right: pushFlood, ends: true}, {name: "sink", right: pullFlood, ends: true}}
}

// pick gives how often to do a thing: full times with -long, a tenth of that without, short times with -short; and less
// under the race detector, which makes everything ten times slower.
func pick(full, short int) int {
	switch {
	case effort.Long():
	case testing.Short() && raceEnabled:
		return short / 2
	case testing.Short():
		return short
	default:
		full = max(full/10, short)
	}
	if raceEnabled {
		full = max(full/8, short)
	}
	return full
}

// pick is the same for a script; over tiny buffers, which make everything slow again, an eighth of it meets every
// border still.
func (s *side) pick(full, short int) int {
	if s.Caps().MaxBody < 4096 {
		full, short = max(full/8, short/2), short/2
	}
	return pick(full, short)
}

// numbered is the i-th header of a sequence: every field depends on i.
func numbered(i int, body int) driver.Header {
	x := uint64(i) * 0x9E3779B97F4A7C15
	return driver.Header{
		Kind: uint8(i % 0xF0), Flags: uint8(x >> 8), Body: uint32(body),
		Tag: x, Size: ^x & driver.MaxMessage, Context: uint16(^x >> 48), Cookie: uint32(x >> 16), Seq: uint32(i),
	}
}

// length is the i-th body length of a sequence: mostly short, sometimes at a boundary, now and then long.
func length(rng *rand.Rand, most int) int {
	switch rng.IntN(16) {
	case 0:
		return most - rng.IntN(min(most, 3))
	case 1, 2:
		return rng.IntN(most + 1)
	case 3, 4:
		return min(most, 30+rng.IntN(5))
	default:
		return rng.IntN(min(most, 80) + 1)
	}
}

// packets sends a sequence and receives the same one, both at once, and compares every byte: nothing is lost, doubled,
// reordered or torn.
func packets(s *side) error { return sequence(s, s.send) }

// together is packets of which as many leave together as chance will have it; some are more than
// the buffer of a link holds.
func together(s *side) error {
	rng := rand.New(rand.NewPCG(7, 8))
	left, last := 0, s.pick(30_000, 3_000)-1
	return sequence(s, func(h driver.Header, body []byte) error {
		if left == 0 {
			left = 1 + rng.IntN(1+rng.IntN(100))
		}
		left--
		if left == 0 || int(h.Seq) == last {
			return s.send(h, body)
		}
		h.Body = uint32(len(body))
		return until(func() (bool, error) { return s.Send(&h, body, nil, true) })
	})
}

// sequence is packets with a way to send them.
func sequence(s *side, send func(driver.Header, []byte) error) error {
	n := s.pick(30_000, 3_000)
	sent := make(chan error, 1)
	go func() {
		rng := rand.New(rand.NewPCG(1, 2))
		body := make([]byte, s.Caps().MaxBody)
		for i := range n {
			b := body[:length(rng, s.Caps().MaxBody)]
			fill(b, uint64(i))
			if err := send(numbered(i, len(b)), b); err != nil {
				sent <- fmt.Errorf("packet %d: %w", i, err)
				return
			}
		}
		sent <- nil
	}()
	rng := rand.New(rand.NewPCG(1, 2))
	var err error
	for i := range n {
		var body []byte
		if body, err = s.recv(); err == nil {
			if want := numbered(i, length(rng, s.Caps().MaxBody)); s.h != want {
				err = fmt.Errorf("header %+v, should be %+v", s.h, want)
			} else if len(body) != int(want.Body) {
				err = fmt.Errorf("a body of %d bytes, should have %d", len(body), want.Body)
			} else {
				err = check(body, uint64(i))
			}
		}
		if err != nil {
			err = fmt.Errorf("packet %d: %w", i, err)
			break
		}
	}
	if err != nil {
		_ = s.Close()
	}
	return errors.Join(err, <-sent)
}

// boundaries are the body lengths worth trying.
func boundaries(most int) []int {
	var out []int
	for _, n := range []int{0, 1, 2, 7, 8, 9, 16, 23, 24, 25, 31, 32, 33, 34, 63, 64, 65, 95, 96, 97, 127, 128, 129,
		255, 256, 257, 1000, 1024, 4064, 4095, 4096, 4097, 8191, 8192, 8193, most / 2, most - 64, most - 33, most - 32, most - 1, most} {
		if n >= 0 && n <= most {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sizesLeft sends bodies of every length that matters, to an echo. Twice around with a growing pad between, so that
// they meet every place of a ring.
func sizesLeft(s *side) error { return sizes(s, s.pick(20, 4)) }

func sizes(s *side, turns int) error {
	buf := make([]byte, s.Caps().MaxBody)
	for turn := range turns {
		for _, n := range boundaries(s.Caps().MaxBody) {
			body := buf[:n]
			fill(body, uint64(n*turn))
			h := numbered(n, n)
			if err := s.send(h, body); err != nil {
				return fmt.Errorf("body of %d: %w", n, err)
			}
			got, err := s.recv()
			if err != nil {
				return fmt.Errorf("body of %d: %w", n, err)
			}
			if s.h != h || !bytes.Equal(got, body) {
				return fmt.Errorf("body of %d came back as %+v with %d bytes, equal: %v", n, s.h, len(got), bytes.Equal(got, body))
			}
		}
		if err := s.send(driver.Header{Kind: 1}, make([]byte, min(turn*64, s.Caps().MaxBody))); err != nil {
			return err
		}
		if _, err := s.recv(); err != nil {
			return err
		}
	}
	return nil
}

// echo sends back whatever comes, until told that it is enough; that one it swallows, since done follows.
func echo(s *side) error {
	buf := make([]byte, s.Caps().MaxBody)
	for {
		body, err := s.recv()
		if err != nil {
			return err
		}
		if s.h.Kind == kindDone {
			return s.answerDone() // what play would do next has begun already
		}
		if err := s.send(s.h, buf[:copy(buf, body)]); err != nil {
			return err
		}
	}
}

// errDone says that the side has taken part in done already.
var errDone = errors.New("done")

func (s *side) answerDone() error {
	if err := s.send(driver.Header{Kind: kindDone}, nil); err != nil {
		return err
	}
	return errDone
}

// wrongBodies: Send refuses them, and nothing is harmed.
func wrongBodies(s *side) error {
	most := uint32(s.Caps().MaxBody)
	for _, c := range []struct{ says, has uint32 }{
		{most + 1, most + 1}, {1, 0}, {0, 1}, {most + 1, 1}, {1 << 31, 0}, {1<<32 - 1, 0},
	} {
		ok, err := s.Send(&driver.Header{Body: c.says}, make([]byte, c.has), nil, false)
		if ok || !errors.Is(err, driver.ErrBody) {
			return fmt.Errorf("header says %d, body has %d: Send says %v, %v", c.says, c.has, ok, err)
		}
		half := c.has / 2
		ok, err = s.Send(&driver.Header{Body: c.says}, nil, [][]byte{make([]byte, half), nil, make([]byte, c.has-half)}, false)
		if ok || !errors.Is(err, driver.ErrBody) {
			return fmt.Errorf("header says %d, parts have %d: Send says %v, %v", c.says, c.has, ok, err)
		}
	}
	return sizes(s, 1)
}

// fullLeft sends until Send refuses, then waits for room in its sleep.
func fullLeft(s *side) error {
	body := make([]byte, s.Caps().MaxBody)
	sent := 0
	// Refused several times in a row: a network may take a little more when what it took first has moved on. Nothing of
	// a refused packet may have been sent.
	for refusals := 0; refusals < 5; {
		fill(body, uint64(sent))
		h := numbered(sent, len(body))
		ok, err := s.Send(&h, body, nil, false)
		switch {
		case err != nil:
			return err
		case ok:
			refusals = 0
			if sent++; sent > 1<<20 {
				return errors.New("a million packets were taken and none was received")
			}
		default:
			refusals++
			time.Sleep(time.Millisecond)
		}
	}
	// The large track is not the small one's victim: it tells the other to begin.
	if err := s.push([]byte{42}, 1); err != nil {
		return err
	}
	for i := range 1000 {
		fill(body, uint64(sent+i))
		h := numbered(sent+i, len(body))
		if err := s.napFor(true, func() (bool, error) { return s.Send(&h, body, nil, false) }); err != nil {
			return fmt.Errorf("packet %d after the first refusal: %w", i, err)
		}
	}
	if err := s.flush(); err != nil {
		return err
	}
	return s.send(driver.Header{Kind: 2, Size: uint64(sent + 1000)}, nil)
}

func fullRight(s *side) error {
	if err := s.pull(make([]byte, 1), 1); err != nil {
		return err
	}
	for i := 0; ; i++ {
		body, err := s.recv()
		if err != nil {
			return fmt.Errorf("packet %d: %w", i, err)
		}
		if len(body) == 0 {
			if s.h.Kind != 2 || s.h.Size != uint64(i) {
				return fmt.Errorf("%d packets came, %d were sent", i, s.h.Size)
			}
			return nil
		}
		if want := numbered(i, len(body)); s.h != want {
			return fmt.Errorf("header %+v, should be %+v", s.h, want)
		}
		if err := check(body, uint64(i)); err != nil {
			return fmt.Errorf("packet %d: %w", i, err)
		}
	}
}
