package meet

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// wordTimeout is how long a connection may take to say its word and hear the answer.
const wordTimeout = 3 * time.Second

// open makes an acceptor with few slots on loopback.
func open(t *testing.T, most int) (d *Acceptor, addr string) { return openWith(t, newSlots(most)) }

// openWith makes an acceptor with those slots. A connection that says a byte has proved itself, and hears one.
func openWith(t *testing.T, s *slots) (d *Acceptor, addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d = &Acceptor{Patience: Patience, slots: s, Serve: func(conn net.Conn, v *Incoming) error {
		defer conn.Close()
		var b [1]byte
		if _, err := io.ReadFull(conn, b[:]); err != nil {
			return err
		}
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
	_ = c.SetDeadline(time.Now().Add(wordTimeout)) // shorter than the silence of all others would last, one after the other
	var b [1]byte
	if _, err := c.Write(b[:]); err != nil {
		return err
	}
	_, err := io.ReadFull(c, b[:])
	return err
}

// TestSlotsAreGivenOn: strangers that say nothing, several times as many as there are slots, lose them,
// those that have come first before the others.
func TestSlotsAreGivenOn(t *testing.T) {
	const slots = 4
	_, addr := open(t, slots)
	first := connect(t, "127.0.0.1", addr)
	for range 3 * slots {
		connect(t, "127.0.0.1", addr)
	}
	admitted(t, connect(t, "127.0.0.1", addr))
	_ = first.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := first.Read(make([]byte, 1)); err == nil {
		t.Error("the first stranger has heard something")
	}
}

// TestSlotsByAddress: the address that has the most strangers loses a slot, not the stranger that has come
// first.
func TestSlotsByAddress(t *testing.T) {
	const slots = 4
	d, addr := open(t, slots)
	alone := connect(t, "127.0.0.2", addr)
	for range slots - 1 {
		connect(t, "127.0.0.1", addr)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		if n := slotsTaken(d.slots); n == slots {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%d strangers have a slot", n)
		}
	}
	admitted(t, connect(t, "127.0.0.3", addr))
	admitted(t, alone)
}

// TestStrangersThatComeAgain: strangers connect again as soon as they are turned away; a process of the job gets in
// between them. Where it says its word so late that as many strangers as there are slots have come after it, it loses its
// own and connects again, as dialers do.
func TestStrangersThatComeAgain(t *testing.T) {
	const slots = 8
	_, addr := open(t, slots)
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	for range 2 * slots {
		go func() {
			for !over.Load() {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					return
				}
				_ = c.SetReadDeadline(time.Now().Add(2 * wordTimeout))
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
				t.Fatal("a process of the job gets no slot: ", err)
			}
		}
	}
}

// slotsTaken is how many slots are.
func slotsTaken(s *slots) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.taken)
}

// TestSlotsOfAllAcceptors: the strangers of one acceptor have all slots of the process; processes of the job get in by
// another one, and none that waits there loses its slot.
func TestSlotsOfAllAcceptors(t *testing.T) {
	const slots = 4
	s := newSlots(slots)
	_, full := openWith(t, s)
	_, addr := openWith(t, s)
	waits := connect(t, "127.0.0.1", addr)
	for range slots - 1 {
		connect(t, "127.0.0.1", full)
	}
	for end := time.Now().Add(5 * time.Second); slotsTaken(s) != slots; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections have a slot", slotsTaken(s))
		}
	}
	admitted(t, connect(t, "127.0.0.1", addr))
	admitted(t, waits)
}
