package nmad

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/simnet"
)

// TestSampleGivenUp: a Sample that is given up before its time, at any point, does not disturb the
// next one.
func TestSampleGivenUp(t *testing.T) {
	j := newJob(t, 2, &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: 1 << 20}}, nil)
	defer j.close()
	zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for range 3 {
		if _, err := zero.Sample(gone); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if err := one.SampleEcho(gone); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	part, stop := context.WithCancel(context.Background())
	echo := make(chan error, 1)
	go func() { echo <- one.SampleEcho(part) }()
	measured, halt := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() {
		_, err := zero.Sample(measured)
		over <- err
	}()
	for j.sessions[1].Stats().Sends < 20 {
		runtime.Gosched()
	}
	halt()
	if err := <-over; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	go func() { // what the first has begun is finished by the second, and moved on by no other one
		p, err := zero.Sample(context.Background())
		if err == nil && len(p.Rails) != 1 {
			err = errors.New("a profile without the rail")
		}
		over <- err
	}()
	stop()
	if err := <-echo; err != nil { // else it has got to the end of the second
		err = one.SampleEcho(context.Background())
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	for _, g := range []*Gate{zero, one} {
		if e, found := g.Iprobe(Match{}); found {
			t.Errorf("a message was left over: %+v", e)
		}
	}
}
