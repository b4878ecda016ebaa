package shm

import (
	"bytes"
	"context"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

// linkOf links two endpoints of this process until the test is over: the side that dials, and the one that accepts.
func linkOf(t *testing.T, dials, accepts driver.Endpoint) [2]driver.Link {
	t.Helper()
	accepted := make(chan driver.Link, 1)
	go func() {
		_, l, err := accepts.Accept(context.Background())
		if err != nil {
			t.Error(err)
		}
		accepted <- l
	}()
	dialed, err := dials.Dial(context.Background(), 0, accepts.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dialed.Close() })
	other := <-accepted
	if other == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _ = other.Close() })
	return [2]driver.Link{dialed, other}
}

// TestCrowded: where processes share CPUs a packet holds more; a side that was not told so takes it all the same, and
// the other way round.
func TestCrowded(t *testing.T) {
	for _, shared := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
		var ends [2]driver.Endpoint
		for i := range ends {
			c := drivertest.Config(1 - i) // rank 1 dials
			c.SharedCPUs = func() bool { return shared[i] }
			ends[i] = drivertest.Open(t, Driver{}, c)
		}
		links := linkOf(t, ends[0], ends[1])
		want := int(standard.maxBody)
		if shared[0] {
			want = int(crowded.maxBody)
		}
		body := bytes.Repeat([]byte("pm2"), want/3+1)[:want]
		for i, l := range links {
			if l := l.(*link); l.reader.PID != 0 && l.largeRx.senderHelps == shared[i] {
				t.Errorf("shared %v: side %d is helped: %v", shared, i, l.largeRx.senderHelps)
			}
			if got := l.Caps().MaxBody; got != want {
				t.Errorf("shared %v: side %d sends up to %d bytes, want %d", shared, i, got, want)
				continue
			}
			var h driver.Header
			for range 20 { // around the ring
				if ok, err := l.Send(&driver.Header{Kind: 1, Body: uint32(want)}, body, nil, false); !ok || err != nil {
					t.Fatalf("shared %v: side %d sends: %v, %v", shared, i, ok, err)
				}
				if got, ok, err := links[1-i].Recv(&h); !ok || err != nil || !bytes.Equal(got, body) {
					t.Fatalf("shared %v: side %d receives %d bytes, %v, %v", shared, 1-i, len(got), ok, err)
				}
			}
		}
	}
}
