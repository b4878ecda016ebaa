//go:build linux

package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Patience is after how long a case gives up on what it waits for.
const Patience = 60 * time.Second

// Notice is how long a link may take to tell that its peer is dead.
const Notice = 2 * time.Second

// errLate is what waiting in vain gives.
var errLate = fmt.Errorf("nothing within %v: it is lost", Patience)

// Kinds of packets that the helpers themselves use; scripts use lower ones.
const kindDone = 0xFF

// side is one end of a link in a case, with calls that wait.
type side struct {
	driver.Link
	h driver.Header // of the last receive
}

// until polls try until it says that it is done. It yields between polls, so that two sides make progress on one CPU.
func until(try func() (bool, error)) error {
	var start time.Time
	for n := 1; ; n++ {
		if ok, err := try(); ok || err != nil {
			return err
		}
		if n%64 == 0 {
			runtime.Gosched()
		}
		if n%4096 == 0 {
			switch {
			case start.IsZero():
				start = time.Now()
			case time.Since(start) > Patience:
				return errLate
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// send sends one packet, polling for room, and flushes it.
func (s *side) send(h driver.Header, body []byte) error {
	h.Body = uint32(len(body))
	err := until(func() (bool, error) { return s.Send(&h, body, nil, false) })
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return s.flush()
}

func (s *side) flush() error {
	if err := until(s.Flush); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// recv polls for one packet; its header is then in the field h.
func (s *side) recv() (body []byte, err error) {
	err = until(func() (ok bool, err error) {
		body, ok, err = s.Recv(&s.h)
		return ok, err
	})
	if err != nil {
		return nil, fmt.Errorf("recv: %w", err)
	}
	return body, nil
}

// push sends all of buf on the large track, at most step bytes a call.
func (s *side) push(buf []byte, step int) error {
	for len(buf) > 0 {
		err := until(func() (bool, error) {
			n, err := s.Push(buf[:min(step, len(buf))])
			if n < 0 || n > min(step, len(buf)) {
				return false, fmt.Errorf("it took %d bytes of %d", n, min(step, len(buf)))
			}
			buf = buf[n:]
			return n > 0, err
		})
		if err != nil {
			return fmt.Errorf("push: %w", err)
		}
	}
	return nil
}

// pull fills buf from the large track, at most step bytes a call.
func (s *side) pull(buf []byte, step int) error {
	for len(buf) > 0 {
		err := until(func() (bool, error) {
			n, err := s.Pull(buf[:min(step, len(buf))])
			if n < 0 || n > min(step, len(buf)) {
				return false, fmt.Errorf("it brought %d bytes of %d", n, min(step, len(buf)))
			}
			buf = buf[n:]
			return n > 0, err
		})
		if err != nil {
			return fmt.Errorf("pull: %w", err)
		}
	}
	return nil
}

// sleep waits in the kernel until the descriptor is readable, as an idle process would.
func (s *side) sleep() error {
	fds := []unix.PollFd{{Fd: int32(s.Descriptor()), Events: unix.POLLIN}}
	for deadline := time.Now().Add(Patience); ; {
		n, err := unix.Poll(fds, int(time.Until(deadline).Milliseconds()))
		switch {
		case n > 0 && fds[0].Revents&unix.POLLNVAL != 0:
			return errors.New("sleep: the descriptor is not valid")
		case n > 0:
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("sleep: %w", err)
		case time.Now().After(deadline):
			return fmt.Errorf("sleep: %w%s", errLate, s.state())
		}
	}
}

// state says how the link is, if it can tell, for a person that wonders why nothing comes.
func (s *side) state() string {
	if l, ok := s.Link.(fmt.Stringer); ok {
		return "\n" + l.String()
	}
	return ""
}

// napFor is try, asleep whenever try says no: Arm, sleep, Disarm.
func (s *side) napFor(wantRoom bool, try func() (bool, error)) error {
	for {
		if ok, err := try(); ok || err != nil {
			return err
		}
		if !s.Arm(wantRoom) {
			runtime.Gosched()
			continue
		}
		err := s.sleep()
		s.Disarm()
		if err != nil {
			return err
		}
	}
}

// done waits until both sides are: a side that closed its link at once would take the link away from the other.
func (s *side) done() error {
	// The other side may have taken the packet and closed before the flush: whether it was through says its own packet.
	if err := s.send(driver.Header{Kind: kindDone}, nil); err != nil && !errors.Is(err, driver.ErrPeerLost) {
		return fmt.Errorf("done: %w", err)
	}
	if _, err := s.recv(); err != nil {
		return fmt.Errorf("done: %w", err)
	}
	if s.h.Kind != kindDone {
		return fmt.Errorf("done: a packet of kind %d is left over", s.h.Kind)
	}
	return nil
}

// fill writes what message or stream position at holds, over and over different.
func fill(b []byte, at uint64) {
	var w [window]byte
	for len(b) > 0 {
		n := copy(b, holds(&w, len(b), at))
		b, at = b[n:], at+uint64(n)
	}
}

// check compares with fill.
func check(b []byte, at uint64) error {
	var w [window]byte
	for n := 0; n < len(b); n += window {
		want := holds(&w, len(b)-n, at+uint64(n))
		if got := b[n:][:len(want)]; !bytes.Equal(got, want) {
			return fmt.Errorf("bytes from %d on of %d are %x, should be %x", n, len(b), got, want)
		}
	}
	return nil
}

// window is how many bytes fill and check take at once: the race detector asks its time for each access, however long.
const window = 64

// holds is what stands at a place, a window of it or at most so many bytes. What it writes is the caller's own, so the
// race detector need not look.
//
//go:norace
func holds(w *[window]byte, most int, at uint64) []byte {
	b := w[:min(most, window)]
	for i := range b {
		p := at + uint64(i)
		b[i] = byte(p*11 + p>>8*7 + p>>16)
	}
	return b
}
