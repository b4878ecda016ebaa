package self

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
)

// send sends a packet whose body is one byte, as its cookie says, and returns whether there was room.
func send(t *testing.T, l driver.Link, n uint32) bool {
	t.Helper()
	ok, err := l.Send(&driver.Header{Kind: 1, Body: 1, Cookie: n}, nil, [][]byte{{}, {byte(n)}}, false)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// receive takes packet n.
func receive(t *testing.T, l driver.Link, n uint32) {
	t.Helper()
	var h driver.Header
	if body, ok, err := l.Recv(&h); err != nil || !ok || h.Cookie != n || !bytes.Equal(body, []byte{byte(n)}) {
		t.Fatalf("packet %d is %v with %v, %v, %v", n, h, body, ok, err)
	}
}

// TestPackets: a full ring refuses, and takes again what it has given, laps on end; what was received last stays until
// the next call.
func TestPackets(t *testing.T) {
	l := Loop()
	defer l.Close()
	next, first := uint32(0), uint32(0)
	for range 3 {
		for send(t, l, next) {
			next++
		}
		if next-first != cells {
			t.Fatalf("%d packets fit", next-first)
		}
		receive(t, l, first)
		if send(t, l, next) {
			t.Fatal("a packet was sent to the place of one that lies in the hands of the receiver")
		}
		for first++; first < next; first++ {
			receive(t, l, first)
		}
		if _, ok, err := l.Recv(&driver.Header{}); ok || err != nil {
			t.Fatalf("a packet that was not sent: %v, %v", ok, err)
		}
	}
	if _, err := l.Send(&driver.Header{Body: 2}, []byte{1}, nil, false); !errors.Is(err, driver.ErrBody) {
		t.Error("a header of another length: ", err)
	}
	if _, err := l.Send(&driver.Header{Body: maxBody + 1}, make([]byte, maxBody+1), nil, false); !errors.Is(err, driver.ErrBody) {
		t.Error("a long body: ", err)
	}
}

// TestStream: the bytes of Push arrive in buffers of other lengths, while packets go, each direction in a goroutine of
// its own.
func TestStream(t *testing.T) {
	l := Loop()
	defer l.Close()
	want := make([]byte, 3*atOnce+17)
	for i := range want {
		want[i] = byte(i * i >> 8)
	}
	wrong := make(chan error, 2)
	go func() {
		for rest := want; len(rest) > 0; runtime.Gosched() {
			n, err := l.Push(rest[:min(len(rest), 2*atOnce)])
			if err != nil {
				wrong <- err
				return
			}
			rest = rest[n:]
		}
		wrong <- nil
	}()
	go func() {
		for n := uint32(0); n < 10*cells; runtime.Gosched() {
			ok, err := l.Send(&driver.Header{Cookie: n}, nil, nil, false)
			if err != nil {
				wrong <- err
				return
			}
			if ok {
				n++
			}
		}
		wrong <- nil
	}()
	got := make([]byte, len(want))
	for at, packets := 0, uint32(0); at < len(got) || packets < 10*cells; runtime.Gosched() {
		var h driver.Header
		if _, ok, err := l.Recv(&h); err != nil || ok && h.Cookie != packets {
			t.Fatalf("packet %d is %d, %v", packets, h.Cookie, err)
		} else if ok {
			packets++
		}
		n, err := l.Pull(got[at:min(at+atOnce/3, len(got))])
		if err != nil {
			t.Fatal(err)
		}
		at += n
	}
	for range 2 {
		if err := <-wrong; err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, want) {
		t.Error("other bytes have come")
	}
}

// TestReturn: what was taken back does not come, and what had come is told once.
func TestReturn(t *testing.T) {
	l := Loop()
	if n, err := l.Push(make([]byte, 10)); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := l.Pull(make([]byte, 4)); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	if n, ok := l.ReturnPush(); n != 4 || !ok {
		t.Error("taken back: ", n, ok)
	}
	if n, ok := l.ReturnPush(); n != 0 || !ok {
		t.Error("taken back once more: ", n, ok)
	}
	if n, err := l.Pull(make([]byte, 4)); n != 0 || err != nil {
		t.Error("pulled: ", n, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, sendErr := l.Send(&driver.Header{}, nil, nil, false)
	_, _, recvErr := l.Recv(&driver.Header{})
	_, pushErr := l.Push([]byte{1})
	_, pullErr := l.Pull([]byte{1})
	for _, err := range []error{sendErr, recvErr, pushErr, pullErr} {
		if !errors.Is(err, driver.ErrClosed) {
			t.Error("after Close: ", err)
		}
	}
	if err := l.Close(); err != nil {
		t.Error("Close once more: ", err)
	}
}
