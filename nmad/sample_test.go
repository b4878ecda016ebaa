package nmad

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
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
		h := g.enter()
		if n := h.flow.Ledger().Unexpected; n != 0 {
			t.Errorf("%d messages were left over", n)
		}
		h.letGo()
	}
}

// TestSampleBesideReceives: what is measured by is the library's own: a receive of any tag, from a rank or from any, does
// not get it, no monitor hears of it, and the program's messages with the same tags go their way meanwhile.
func TestSampleBesideReceives(t *testing.T) {
	j := newJob(t, 2, &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: 1 << 20}}, nil)
	defer j.close()
	zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	var events atomic.Int32
	defer j.sessions[1].Monitor(MessageArrived|SendDone|RecvDone, func(Event) { events.Add(1) })()
	buf := [3][]byte{make([]byte, 8), make([]byte, 8), make([]byte, 8)}
	waiting := []*Request{
		one.Start(&Op{Kind: OpRecv, Match: Match{}, Buf: buf[0]}), j.sessions[1].Irecv(Match{}, buf[1]), zero.Irecv(sampleEager, buf[2]),
	}
	echo := make(chan error, 1)
	go func() { echo <- one.SampleEcho(context.Background()) }()
	if _, err := zero.Sample(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-echo; err != nil {
		t.Fatal(err)
	}
	for i, r := range waiting {
		if over, err := r.Test(); over {
			t.Errorf("receive %d got %+v, %v", i, r.Envelope(), err)
		}
	}
	if n := events.Load(); n != 0 {
		t.Errorf("a monitor heard of %d events", n)
	}
	for i, g := range []*Gate{zero, zero, one} {
		if err := g.Send(sampleEager, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range waiting {
		if err := r.Wait(); err != nil || buf[i][0] != byte(i) {
			t.Errorf("receive %d: %v, %v", i, buf[i], err)
		}
	}
}
