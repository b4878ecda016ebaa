//go:build linux

package drivertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// killed: the second process dies, in the middle of things, without a chance to say so; the first one must notice,
// whether it polls, sends or sleeps.
func killed(t *testing.T, parent testing.TB, d driver.Driver) {
	ways := []struct {
		name   string
		script string            // what the second process is at; empty: an echo, which waits, polling
		wait   func(*side) error // until an error says that the peer is lost
	}{
		{"while it pushes", "flood", pullFlood},
		{"while it pulls", "sink", pushFlood},
		{"while receiving", "", func(s *side) error {
			return until(func() (bool, error) { _, _, err := s.Recv(&s.h); return false, err })
		}},
		{"while sending", "", func(s *side) error {
			body := make([]byte, s.Caps().MaxBody)
			h := driver.Header{Body: uint32(len(body))}
			return until(func() (bool, error) { _, err := s.Send(&h, body, nil, false); return false, err })
		}},
		{"while pulling", "", func(s *side) error {
			b := make([]byte, 100)
			return until(func() (bool, error) { _, err := s.Pull(b); return false, err })
		}},
		{"while pushing", "", func(s *side) error {
			b := make([]byte, 1<<20)
			return until(func() (bool, error) { _, err := s.Push(b); return false, err })
		}},
		{"while polling now and then", "", func(s *side) error {
			for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if _, _, err := s.Recv(&s.h); err != nil {
					return err
				}
			}
			return errLate
		}},
		{"while asleep", "", func(s *side) error {
			return s.napFor(false, func() (bool, error) { _, _, err := s.Recv(&s.h); return false, err })
		}},
	}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			clean(t)
			echo := w.script == ""
			if echo {
				w.script = "sizes"
			}
			s, c := withChild(t, parent, d, w.script, -1)
			if echo {
				if err := s.send(driver.Header{Kind: 1}, nil); err != nil {
					t.Error(err)
				}
				if _, err := s.recv(); err != nil {
					t.Error(err)
				}
			}
			dead := make(chan time.Time, 1)
			go func() {
				time.Sleep(20 * time.Millisecond)
				c.kill()
				dead <- time.Now()
			}()
			err := w.wait(s)
			noticed := time.Now()
			late := noticed.Sub(<-dead)
			if !errors.Is(err, driver.ErrPeerLost) {
				t.Fatalf("the peer is dead, and the link says: %v", err)
			}
			t.Logf("noticed %v after the process was gone: %v", late, err)
			if late > Notice {
				t.Errorf("noticed %v after the process was gone, at most %v are allowed", late, Notice)
			}
		})
	}
}

// manyLinks: several links between the same two endpoints, dialed and used at the same time, do not get mixed up.
func manyLinks(t *testing.T, d driver.Driver) {
	clean(t)
	const n = 8
	a, b := open(t, d, config(t, 0)), open(t, d, config(t, 1))
	var wg sync.WaitGroup
	for range n {
		l, r := link(t, a, b)
		for _, e := range []driver.Link{l, r} {
			wg.Add(1)
			go func() {
				defer wg.Done()
				s := &side{Link: e}
				rng := rand.New(rand.NewPCG(11, 12))
				for i := range pick(2000, 300) {
					body := make([]byte, length(rng, s.Caps().MaxBody))
					fill(body, uint64(i))
					err := s.send(numbered(i, len(body)), body)
					var got []byte
					if err == nil {
						got, err = s.recv()
					}
					if err == nil && s.h != numbered(i, len(body)) {
						err = fmt.Errorf("header %+v", s.h)
					}
					if err == nil {
						err = check(got, uint64(i))
					}
					if err != nil {
						t.Errorf("packet %d: %v", i, err)
						return
					}
				}
			}()
		}
	}
	wg.Wait()
}

// closeWhileInside: Close comes while every direction, and Arm, is being called by other goroutines. They end with
// ErrClosed, or ErrPeerLost on the other side, and no process crashes.
func closeWhileInside(t *testing.T, d driver.Driver) {
	clean(t)
	a, b := open(t, d, config(t, 0)), open(t, d, config(t, 1))
	rng := rand.New(rand.NewPCG(13, 14))
	for range pick(60, 5) {
		l, r := link(t, a, b)
		var wg sync.WaitGroup
		begun := make(chan struct{}, 16)
		run := func(name string, want error, call func() error) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				begun <- struct{}{}
				err := until(func() (bool, error) { return false, call() })
				if !errors.Is(err, want) {
					t.Errorf("%s on a link that is closed meanwhile: %v, should be: %v", name, err, want)
				}
			}()
		}
		for _, e := range []struct {
			driver.Link
			want error
		}{{l, driver.ErrClosed}, {r, driver.ErrPeerLost}} {
			body, large, in := make([]byte, l.Caps().MaxBody), make([]byte, 1<<17), make([]byte, 1<<17)
			h := driver.Header{Body: uint32(len(body))}
			var got driver.Header
			run("Send", e.want, func() error { _, err := e.Send(&h, body, nil, false); return err })
			run("Recv", e.want, func() error { _, _, err := e.Recv(&got); return err })
			run("Push", e.want, func() error { _, err := e.Push(large); return err })
			run("Pull", e.want, func() error { _, err := e.Pull(in); return err })
		}
		stop := make(chan struct{})
		var arms sync.WaitGroup
		for _, e := range []driver.Link{l, r} {
			arms.Add(1)
			go func() {
				defer arms.Done()
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
						e.Arm(i%2 == 0)
						e.Disarm()
					}
				}
			}()
		}
		for range 8 {
			<-begun
		}
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wg.Wait()
		close(stop)
		arms.Wait()
		if err := errors.Join(r.Close(), l.Close(), r.Close()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// noAllocation: what is called for each message allocates nothing.
func noAllocation(t *testing.T, d driver.Driver) {
	clean(t)
	a, b := pair(t, d)
	body := make([]byte, a.Caps().MaxBody)
	h := driver.Header{}
	n := min(200_000, 4*a.Caps().MaxBody)
	large, in := make([]byte, n), make([]byte, n)
	turn := 0
	round := func() {
		turn++
		for _, n := range []int{0, 1, 33, len(body)} {
			h.Body = uint32(n)
			for {
				ok, err := a.Send(&h, body[:n], nil, false)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					break
				}
			}
			for {
				if _, err := a.Flush(); err != nil {
					t.Fatal(err)
				}
				_, ok, err := b.Recv(&b.h)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					break
				}
			}
		}
		for sent, got := 0, 0; sent < len(large) || got < len(in); {
			n, err := a.Push(large[sent:])
			if err != nil {
				t.Fatal(err)
			}
			sent += n
			if n, err = b.Pull(in[got:]); err != nil {
				t.Fatal(err)
			}
			got += n
		}
		if b.Arm(false) {
			h.Body = 1
			for ok := false; !ok; {
				var err error
				if ok, err = a.Send(&h, body[:1], nil, false); err != nil {
					t.Fatal(err)
				}
			}
			b.Disarm()
			for {
				if _, ok, err := b.Recv(&b.h); err != nil {
					t.Fatal(err)
				} else if ok {
					break
				}
			}
		}
	}
	if n := testing.AllocsPerRun(200, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
	if turn < 100 {
		t.Errorf("only %d rounds ran", turn)
	}
}
