package meet

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// open makes a door with few seats on loopback. A connection that says a byte has proved itself, and
// hears one.
func open(t *testing.T, seats int) (d *Acceptor, addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d = &Acceptor{Patience: Patience, slots: seats, Serve: func(conn net.Conn, v *Incoming) error {
		defer conn.Close()
		var b [1]byte
		if _, err := io.ReadFull(conn, b[:]); err != nil {
			return err
		}
		v.Heard()
		v.Proved()
		_, err := conn.Write(b[:])
		return err
	}}
	d.Listen(ln)
	t.Cleanup(func() { _ = d.Close() })
	return d, ln.Addr().String()
}

// connect connects from a loopback address.
func connect(t *testing.T, from, to string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 5 * time.Second}).Dial("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// admitted says a byte and waits for the answer.
func admitted(t *testing.T, c net.Conn) {
	t.Helper()
	if err := proves(c); err != nil {
		t.Fatal(err)
	}
}

// proves has the process at c's end say its word and hear the answer.
func proves(c net.Conn) error {
	_ = c.SetDeadline(time.Now().Add(helloTimeout)) // shorter than the silence of all others would last, one after the other
	var b [1]byte
	if _, err := c.Write(b[:]); err != nil {
		return err
	}
	_, err := io.ReadFull(c, b[:])
	return err
}

// TestSeatsAreGivenOn: strangers that say nothing, several times as many as there are seats, lose them,
// those that have come first before the others.
func TestSeatsAreGivenOn(t *testing.T) {
	const seats = 4
	_, addr := open(t, seats)
	first := connect(t, "127.0.0.1", addr)
	for range 3 * seats {
		connect(t, "127.0.0.1", addr)
	}
	admitted(t, connect(t, "127.0.0.1", addr))
	_ = first.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := first.Read(make([]byte, 1)); err == nil {
		t.Error("the first stranger has heard something")
	}
}

// TestSeatsByAddress: the address that has the most strangers loses a seat, not the stranger that has come
// first.
func TestSeatsByAddress(t *testing.T) {
	const seats = 4
	d, addr := open(t, seats)
	alone := connect(t, "127.0.0.2", addr)
	for range seats - 1 {
		connect(t, "127.0.0.1", addr)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		d.mu.Lock()
		n := d.unproven.Len()
		d.mu.Unlock()
		if n == seats {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d strangers have a seat", n)
		}
	}
	admitted(t, connect(t, "127.0.0.3", addr))
	admitted(t, alone)
}

// TestStrangersThatComeAgain: strangers connect again as soon as they are turned away; a process of the job gets in
// between them. Where it says its word so late that as many strangers as there are seats have come after it, it loses its
// own and connects again, as dialers do.
func TestStrangersThatComeAgain(t *testing.T) {
	const seats = 8
	_, addr := open(t, seats)
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	for range 2 * seats {
		go func() {
			for !over.Load() {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					return
				}
				_ = c.SetReadDeadline(time.Now().Add(2 * helloTimeout))
				_, _ = c.Read(make([]byte, 1))
				_ = c.Close()
			}
		}()
	}
	for range 3 {
		for end := time.Now().Add(10 * time.Second); ; {
			err := proves(connect(t, "127.0.0.1", addr))
			if err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatal("a process of the job gets no seat: ", err)
			}
		}
	}
}

// TestSeatsOfAllDoors: the strangers of one door have all seats of the process; a process of the job gets in by another
// door.
func TestSeatsOfAllDoors(t *testing.T) {
	full, fullAddr := open(t, maxSlots())
	_, addr := open(t, maxSlots())
	allSlots.Lock()
	allSlots.taken += maxSlots() - 4 // as if so many sat there
	allSlots.Unlock()
	t.Cleanup(func() {
		allSlots.Lock()
		allSlots.taken -= maxSlots() - 4
		allSlots.Unlock()
	})
	for range 4 {
		connect(t, "127.0.0.1", fullAddr)
	}
	for end := time.Now().Add(5 * time.Second); mostCrowded(nil) != full; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no stranger has a seat")
		}
	}
	admitted(t, connect(t, "127.0.0.1", addr))
}
