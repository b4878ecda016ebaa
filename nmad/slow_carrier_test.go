package nmad

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// slowCarrier is a network on which the thread that calls Push loses its processor
// there, once its bytes are on the way, until it is let go.
type slowCarrier struct {
	*simnet.Net
	at     int // that many bytes
	inside chan struct{}
	let    chan struct{}
}

func (sc *slowCarrier) Open(c driver.Config) (driver.Endpoint, error) {
	e, err := sc.Net.Open(c)
	return slowEnd{e, sc}, err
}

type slowEnd struct {
	driver.Endpoint
	d *slowCarrier
}

// Dial is what rank 1 does.
func (end slowEnd) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	l, err := end.Endpoint.Dial(ctx, rank, addr)
	return &slowLink{Link: l, d: end.d}, err
}

type slowLink struct {
	driver.Link
	d    *slowCarrier
	sent atomic.Int64
}

func (lnk *slowLink) Push(buf []byte) (int, error) {
	n, err := lnk.Link.Push(buf)
	if lnk.sent.Add(int64(n)) == int64(lnk.d.at) && n > 0 {
		close(lnk.d.inside)
		<-lnk.d.let
	}
	return n, err
}

// TestSlowCarrier: a thread loses its processor right after it has put the last bytes of
// a message on the way. The peer receives the message, has what it wants, and leaves; all
// this the threads beside the slow one see. The send has not failed.
func TestSlowCarrier(t *testing.T) {
	const size = 700
	d := &slowCarrier{
		Net: &simnet.Net{Options: simnet.Options{MaxBody: 256, Packets: 16, Large: 1000}},
		at:  size, inside: make(chan struct{}), let: make(chan struct{}),
	}
	j := newJob(t, 2, d, nil)
	zero, one := j.sessions[0].Gate(1), j.sessions[1].Gate(0)
	sent := make(chan error, 1)
	go func() { sent <- one.Send(1, make([]byte, size)) }()
	if _, err := zero.Recv(1, make([]byte, size)); err != nil {
		t.Error(err)
	}
	<-d.inside
	ended := make(chan struct{})
	stop := j.sessions[1].Monitor(GateEnded, func(Event) { close(ended) })
	defer stop()
	left := make(chan error, 1)
	go func() { left <- j.sessions[0].Close() }()
	for over := false; !over; {
		one.poll()
		select {
		case <-ended:
			over = true
		default:
		}
	}
	close(d.let)
	if err := <-sent; err != nil {
		t.Errorf("the message arrived, and its send says: %v", err)
	}
	if err := <-left; err != nil {
		t.Error(err)
	}
	if err := j.sessions[1].Close(); err != nil {
		t.Error(err)
	}
	for _, e := range j.engines {
		e.Close()
	}
}
