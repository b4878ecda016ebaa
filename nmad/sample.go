package nmad

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Tags of the messages by which a rail is measured.
const (
	sampleEager      uint64 = 0xffff_ffff_ffff_5a00 + iota // answer eagerly
	sampleRendezvous                                       // answer by rendezvous
	sampleEnd                                              // over
)

// sampleTime is how long each size of each protocol is measured, at most.
const sampleTime = 20 * time.Millisecond

// sampleRounds is how many round trips that is at most.
const sampleRounds = 200

// Sample measures the rail of this gate: messages of growing size go to and fro, eagerly
// and by rendezvous. The other process must call SampleEcho on its gate to us
// meanwhile, and neither may use the gate for anything else. It takes up to a second.
func (g *Gate) Sample(ctx context.Context) (Rail, error) {
	if g.link == nil {
		return Rail{}, fmt.Errorf("nmad: sample: %w: the gate to the own rank has no rail", ErrRank)
	}
	var rail Rail
	for size := 1; ; size *= 2 {
		size = min(size, g.tx.eager)
		c := Cost{Size: size}
		var err error
		if c.EagerNs, err = g.sample(ctx, size, sampleEager); err == nil {
			c.RendezvousNs, err = g.sample(ctx, size, sampleRendezvous)
		}
		if err != nil {
			return Rail{}, fmt.Errorf("nmad: sample rank %d: %w", g.rank, err)
		}
		rail.Points = append(rail.Points, c)
		if size == g.tx.eager {
			break
		}
	}
	rail.Eager = crossing(rail.Points)
	return rail, g.Send(sampleEnd, nil)
}

// crossing is the largest size up to which eager is not slower: from the top down, so that
// one odd point among the small ones decides nothing.
func crossing(points []Cost) int {
	for _, c := range slices.Backward(points) {
		if c.EagerNs <= c.RendezvousNs {
			return c.Size
		}
	}
	return points[0].Size
}

// sample returns the median half round trip.
func (g *Gate) sample(ctx context.Context, size int, tag uint64) (int64, error) {
	buf, back := make([]byte, size), make([]byte, size)
	var times []int64
	var out, in Request
	for end := time.Now().Add(sampleTime); len(times) < sampleRounds && (len(times) < 5 || time.Now().Before(end)); {
		began := time.Now()
		err := errors.Join(g.IrecvInto(&in, tag, back), g.sampleSend(&out, tag, buf), WaitAll(ctx, &out, &in))
		if err != nil {
			return 0, err
		}
		times = append(times, int64(time.Since(began))/2)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// sampleSend sends by the protocol that the tag names.
func (g *Gate) sampleSend(r *Request, tag uint64, buf []byte) error {
	return g.StartSend(r, &SendOp{Tag: tag, Buf: buf, Sync: tag == sampleRendezvous})
}

// SampleEcho is the other side of Sample, and returns when that does.
func (g *Gate) SampleEcho(ctx context.Context) error {
	var out Request
	var in [3]Request
	var buf [3][]byte
	var all [3]*Request
	post := func(i int) error { return g.IrecvInto(&in[i], sampleEager+uint64(i), buf[i]) }
	for i := range in {
		buf[i], all[i] = make([]byte, g.tx.eager), &in[i]
		if err := post(i); err != nil {
			return fmt.Errorf("nmad: sample echo: %w", err)
		}
	}
	defer func() {
		for _, r := range all {
			if !r.Cancel() {
				r.Wait() // its buffer is ours no longer than that
			}
		}
	}()
	for {
		i, err := WaitAny(ctx, all[:]...)
		if err == nil && in[i].Tag() == sampleEnd {
			return nil
		}
		if err == nil {
			err = g.sampleSend(&out, in[i].Tag(), buf[i][:in[i].Len()])
		}
		if err == nil {
			if err = out.WaitContext(ctx); err == nil {
				err = post(i)
			}
		}
		if err != nil {
			return fmt.Errorf("nmad: sample echo: %w", err)
		}
	}
}
