package meet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

func me(rank uint32) Me {
	me := Me{Secret: []byte("a secret")}
	me.Rank, me.Size, me.MaxBody, me.Driver, me.Job = rank, 4, 1000, "test", "job"
	return me
}

// outcome is what the two sides of an exchange ended with.
type outcome struct {
	dialer, listener       error
	dialerSaw, listenerSaw *Peer
	proved                 int // how many times the listener was told that the dialer has proved itself
}

// exchanged runs both sides over an in-memory connection.
func exchanged(t *testing.T, d, l Me, rank int, check func(*Peer) error) (o outcome) {
	t.Helper()
	a, b := pipe(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.listenerSaw, o.listener = Listener(b, l, func() { o.proved++ }, check)
		_ = b.Close()
	}()
	o.dialerSaw, o.dialer = Dialer(a, d, rank)
	_ = a.Close()
	<-done
	return o
}

// pipe gives a connected pair with a deadline; it buffers, as sockets do.
func pipe(t *testing.T) (a, b net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if a, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{a, b} {
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		t.Cleanup(func() { _ = c.Close() })
	}
	return a, b
}

func TestExchange(t *testing.T) {
	d := me(3)
	d.Track = 1
	d.Link[0], d.Link[15] = 7, 9
	o := exchanged(t, d, me(1), 1, func(p *Peer) error {
		p.Answer = 5
		return nil
	})
	if o.dialer != nil || o.listener != nil {
		t.Fatalf("%v, %v", o.dialer, o.listener)
	}
	if o.dialerSaw.Rank != 1 || o.listenerSaw.Rank != 3 || o.listenerSaw.Track != 1 || o.listenerSaw.Link != d.Link ||
		o.dialerSaw.Answer != 5 || o.listenerSaw.MaxBody != 1000 || o.listenerSaw.Job != "job" || o.listenerSaw.Driver != "test" {
		t.Errorf("%+v, %+v", o.dialerSaw, o.listenerSaw)
	}
	if o.proved != 1 {
		t.Errorf("told %d times that the dialer has proved itself", o.proved)
	}
}

// TestLacks: both sides know which of them lacks what, that neither has turned the other away, and whether it may pass.
func TestLacks(t *testing.T) {
	for _, c := range []struct {
		name   string
		lack   error
		passes bool
	}{
		{"a call that is refused", os.NewSyscallError("memfd_create", syscall.EPERM), false},
		{"descriptors", os.NewSyscallError("epoll_create1", syscall.EMFILE), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := exchanged(t, me(3), me(1), 1, func(*Peer) error { return Lacking(c.lack) })
			for side, err := range map[string]error{"dialer": o.dialer, "listener": o.listener} {
				if !errors.Is(err, driver.ErrLack) || errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), c.lack.Error()) {
					t.Errorf("%s: %v; should be a lack of %v", side, err, c.lack)
				}
			}
			if !errors.Is(o.listener, c.lack) {
				t.Errorf("listener: %v is not %v", o.listener, c.lack)
			}
			if errors.Is(o.dialer, driver.ErrBusy) != c.passes {
				t.Errorf("dialer: %v; it may pass: %v", o.dialer, c.passes)
			}
		})
	}
}

// TestRefusals: both sides end with ErrRefused and the same reason.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Me)
		rank   int
		check  func(*Peer) error
		says   string
	}{
		{"secret", func(m *Me) { m.Secret = []byte("b secret") }, 1, nil, "does not hold the secret"},
		{"longer secret", func(m *Me) { m.Secret = []byte("a secret\x00\x01") }, 1, nil, "does not hold the secret"},
		{"driver", func(m *Me) { m.Driver = "other" }, 1, nil, `"other"`},
		{"job", func(m *Me) { m.Job = "evil\njob" }, 1, nil, "evil?job"},
		{"size", func(m *Me) { m.Size = 5 }, 1, nil, "5"},
		{"rank out of the job", func(m *Me) { m.Rank = 4 }, 1, nil, "rank 4"},
		{"no bodies", func(m *Me) { m.MaxBody = 0 }, 1, nil, "bodies"},
		{"rank not the one dialed", func(*Me) {}, 2, nil, "rank 1 answers where rank 2"},
		{"the driver's own check", func(*Me) {}, 1, func(*Peer) error { return Refused("no %s", "way") }, "no way"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := me(3)
			c.change(&d)
			o := exchanged(t, d, me(1), c.rank, c.check)
			for side, err := range map[string]error{"dialer": o.dialer, "listener": o.listener} {
				if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s: %v; should mention %q", side, err, c.says)
				}
				if strings.ContainsAny(err.Error(), "\n") {
					t.Errorf("%s: more than a line: %q", side, err)
				}
			}
			if c.check == nil && c.rank == 1 && o.proved != 0 {
				t.Error("a stranger is told to have proved itself")
			}
		})
	}
}

// TestWrongVersion: a hello of the next version, which may look quite
// different behind the version, is refused for its version.
func TestWrongVersion(t *testing.T) {
	a, b := pipe(t)
	result := make(chan error, 1)
	go func() { _, err := Listener(b, me(1), func() {}, nil); _ = b.Close(); result <- err }()
	next := append([]byte(magic), Version+1, 0, 'x')
	if err := WriteFrame(a, kindHello, next); err != nil {
		t.Fatal(err)
	}
	_, err := ReadFrame(a, kindHello)
	for side, err := range map[string]error{"new": err, "old": <-result} {
		if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), fmt.Sprint("version ", Version)) {
			t.Errorf("%s: %v", side, err)
		}
	}
}

// TestGarbage: a listener takes any nonsense for what it is, without waiting
// for more of it, and reads no more than a frame.
func TestGarbage(t *testing.T) {
	huge := []byte{kindHello, 0xFF, 0xFF, 0, 0}
	cut := AppendFrame(nil, kindHello, []byte(magic+"\x01\x00"))
	good := me(3)
	long := good.fresh()
	long = append(long, "trailing"...)
	for name, garbage := range map[string][]byte{
		"http":          []byte("GET / HTTP/1.1\r\n\r\n"),
		"ssh":           []byte("SSH-2.0-OpenSSH_9.2\r\n"),
		"zeros":         make([]byte, 100),
		"huge frame":    huge,
		"short hello":   cut,
		"empty hello":   {kindHello, 0, 0, 0, 0},
		"trailing":      AppendFrame(nil, kindHello, long),
		"proof first":   AppendFrame(nil, kindProof, make([]byte, 33)),
		"refusal first": AppendFrame(nil, kindRefusal, []byte("no")),
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pipe(t)
			result := make(chan error, 1)
			go func() { _, err := Listener(b, me(1), func() {}, nil); result <- err }()
			if _, err := a.Write(garbage); err != nil {
				t.Fatal(err)
			}
			if err := <-result; !errors.Is(err, driver.ErrRefused) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestSilence: one that says nothing, or half a thing, is refused at the deadline;
// one that hangs up is gone.
func TestSilence(t *testing.T) {
	good := me(3)
	half := AppendFrame(nil, kindHello, good.fresh())[:20]
	for _, begun := range [][]byte{nil, {kindHello}, half} {
		a, b := pipe(t)
		if _, err := a.Write(begun); err != nil {
			t.Fatal(err)
		}
		_ = b.SetDeadline(time.Now().Add(20 * time.Millisecond))
		proved := func() { t.Errorf("%d bytes are taken for a proof", len(begun)) }
		if _, err := Listener(b, me(1), proved, nil); !errors.Is(err, driver.ErrBusy) || !strings.Contains(err.Error(), "in time") {
			t.Errorf("after %d bytes: %v", len(begun), err)
		}
		_ = b.SetDeadline(time.Now().Add(30 * time.Second))
		_ = a.Close()
		if _, err := Listener(b, me(1), func() {}, nil); !errors.Is(err, driver.ErrPeerLost) {
			t.Errorf("hung up: %v", err)
		}
	}
}

// TestReplay: one that recorded a whole exchange, and plays the dialer's
// part again, is not believed, as the listener's nonce is another one.
func TestReplay(t *testing.T) {
	d := me(3)
	a, b := pipe(t)
	result := make(chan error, 1)
	go func() { _, err := Listener(b, me(1), func() {}, nil); result <- err }()
	hello := d.fresh()
	if err := WriteFrame(a, kindHello, hello); err != nil {
		t.Fatal(err)
	}
	theirs, err := ReadFrame(a, kindHello)
	if err != nil {
		t.Fatal(err)
	}
	proof := (&exchange{me: d, dialer: hello, listener: theirs}).proof("dialer", 0)
	if err := WriteFrame(a, kindProof, proof); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Fatalf("the original: %v", err)
	}

	a, b = pipe(t)
	go func() { _, err := Listener(b, me(1), func() {}, nil); result <- err }()
	_ = WriteFrame(a, kindHello, hello)
	if _, err := ReadFrame(a, kindHello); err != nil {
		t.Fatal(err)
	}
	_ = WriteFrame(a, kindProof, proof)
	if err := <-result; !errors.Is(err, driver.ErrRefused) {
		t.Errorf("the replay: %v", err)
	}
}

// TestReflection: one without the secret that sends our own proof back to
// us is not believed: the label of the role is part of it.
func TestReflection(t *testing.T) {
	a, b := pipe(t)
	result := make(chan error, 1)
	go func() { _, err := Dialer(a, me(3), 1); result <- err }()
	hello, err := ReadFrame(b, kindHello)
	if err != nil {
		t.Fatal(err)
	}
	// The hello of the attacker is the dialer's own, made to say rank 1.
	back := bytes.Clone(hello)
	binary.LittleEndian.PutUint32(back[len(magic)+4:], 1)
	_ = WriteFrame(b, kindHello, back)
	proof, err := ReadFrame(b, kindProof)
	if err != nil {
		t.Fatal(err)
	}
	_ = WriteFrame(b, kindProof, proof)
	if err := <-result; !errors.Is(err, driver.ErrRefused) {
		t.Errorf("the reflection: %v", err)
	}
}

// TestReadsNoFurther: what follows the exchange on the connection is left there.
func TestReadsNoFurther(t *testing.T) {
	a, b := pipe(t)
	result := make(chan error, 1)
	go func() {
		_, err := Listener(b, me(1), func() {}, nil)
		result <- err
	}()
	if _, err := Dialer(a, me(3), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write([]byte("next")); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	next := make([]byte, 4)
	if _, err := io.ReadFull(b, next); err != nil || string(next) != "next" {
		t.Errorf("%q, %v", next, err)
	}
}

// FuzzMessage: no hello makes decode panic, and what it accepts is what it
// would have sent.
func FuzzMessage(f *testing.F) {
	m := me(3)
	f.Add(m.fresh())
	f.Add([]byte(magic))
	f.Add([]byte(magic + "\x01\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Message
		err := m.decode(b)
		if err != nil {
			if !errors.Is(err, driver.ErrRefused) {
				t.Fatal(err)
			}
			return
		}
		out := m.encode()
		// One byte is reserved and ignored.
		out[len(magic)+3] = b[len(magic)+3]
		if !bytes.Equal(out, b) {
			t.Fatalf("%x became %x", b, out)
		}
	})
}

// FuzzFrame: no stream makes ReadFrame panic, read past the frame, or take a
// long one.
func FuzzFrame(f *testing.F) {
	f.Add(AppendFrame(nil, kindHello, []byte("hello")))
	f.Add(AppendFrame(nil, kindRefusal, []byte("no\x00\xff")))
	f.Add([]byte{kindHello, 0xFF, 0xFF, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		payload, err := ReadFrame(r, kindHello)
		if len(payload) > MaxFrame {
			t.Fatalf("%d bytes", len(payload))
		}
		if err == nil && r.Len() != len(b)-HeadSize-len(payload) {
			t.Fatalf("read %d bytes for a frame of %d", len(b)-r.Len(), len(payload))
		}
		var refusal *Refusal
		if errors.As(err, &refusal) && refusal.ByPeer {
			for _, c := range []byte(refusal.Reason) {
				if c < ' ' || c > '~' {
					t.Fatalf("unprintable reason %q", refusal.Reason)
				}
			}
		}
	})
}

// saying is a connection of which given bytes are read.
type saying struct {
	net.Conn
	r io.Reader
}

func (c saying) Read(b []byte) (int, error)       { return c.r.Read(b) }
func (c saying) Write(b []byte) (int, error)      { return len(b), nil }
func (c saying) SetWriteDeadline(time.Time) error { return nil }

// FuzzListener feeds the side that accepts: without the secret none gets in.
func FuzzListener(f *testing.F) {
	d := me(3)
	hello := AppendFrame(nil, kindHello, d.fresh())
	f.Add(hello)
	f.Add(AppendFrame(hello, kindProof, make([]byte, 33)))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := Listener(saying{r: bytes.NewReader(b)}, me(1), func() {}, func(*Peer) error {
			t.Error("a stranger is asked what it wants")
			return nil
		})
		if err == nil {
			t.Error("a stranger was let in")
		}
	})
}

// FuzzDialer feeds the side that connects: without the secret none plays the listener.
func FuzzDialer(f *testing.F) {
	l := me(1)
	hello := AppendFrame(nil, kindHello, l.fresh())
	f.Add(hello)
	f.Add(AppendFrame(hello, kindProof, make([]byte, 33)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Dialer(saying{r: bytes.NewReader(b)}, me(3), 1); err == nil {
			t.Error("a stranger was taken for rank 1")
		}
	})
}
