package nmad

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Tags of the messages by which rails are measured, in the context Library.
const (
	sampleEager uint64 = iota // the other side answers eagerly
	sampleEnd                 // the end: the message is the profile
	sampleRail                // the other side answers by rendezvous, over rail tag - sampleRail
)

// Limits of the measurement of each size with each protocol.
const (
	sampleTime      = 20 * time.Millisecond // it ends after that time
	maxSampleRounds = 200                   // or after that many round trips
	minSampleRounds = 5                     // but not before that many
)

// Sizes of the messages by which the cost of a rail is measured, in bytes: far enough apart to tell its bandwidth from
// its latency.
const (
	sampleShort = 128 << 10
	sampleLong  = 1 << 20
)

// sampler measures the rails of a gate, by sends and receives as a program makes them. It belongs to the caller of
// Sample, or of SampleEcho, and needs no lock.
type sampler struct{ gate *Gate }

// eager returns the eager limit of the gate, in bytes.
func (sm sampler) eager() int {
	h := sm.gate.lock()
	defer h.unlock()
	return h.flow.EagerLimit()
}

// Sample measures the rails of this gate: it exchanges messages of growing size, eagerly, and by rendezvous over each
// rail alone. The other process must call SampleEcho at its gate to this process meanwhile; other messages over the
// gate disturb the measurement. Sample takes up to a second on fast networks, and half a second for each further rail.
// It blocks the calling thread or goroutine only. If ctx is done before, Sample returns the cause of ctx, and one
// message is still on its way: the next Sample and SampleEcho receive it. One thread at a time may call Sample or
// SampleEcho at a gate.
//
// Afterwards both gates share long messages out by what was measured, and have the eager limit that follows from it,
// unless the configuration sets one. The rail that carries the packets stays the same.
func (g *Gate) Sample(ctx context.Context) (*Profile, error) {
	if err := g.accessError(); err != nil {
		return nil, err
	}
	if g.rank == g.ownRank {
		return nil, fmt.Errorf("nmad: sample: %w: the gate to the own rank has no rail", ErrRank)
	}
	if err := g.Link(ctx); err != nil {
		return nil, err
	}
	m := sampler{g}
	if err := m.finish(ctx); err != nil {
		return nil, fmt.Errorf("nmad: sample rank %d: finish what an earlier one has begun: %w", g.rank, err)
	}
	undo := g.unlimit()
	p, err := m.rails(ctx)
	if err != nil {
		undo()
		return nil, fmt.Errorf("nmad: sample rank %d: %w", g.rank, err)
	}
	g.applyProfile(p)
	var r Request
	text, _ := json.Marshal(p) // numbers and names: it cannot fail
	if err := m.send(&r, sampleEnd, text); err != nil {
		return nil, err
	}
	return p, r.WaitContext(ctx)
}

// rails measures all rails.
func (sm sampler) rails(ctx context.Context) (*Profile, error) {
	p := &Profile{Rails: map[string]RailProfile{}}
	var eager []CostPoint
	for i := range sm.gate.rails {
		rail, err := sm.cost(ctx, uint64(i))
		if err == nil && i == 0 {
			eager, err = sm.eagerly(ctx)
		}
		if err == nil {
			rail.Points, err = sm.points(ctx, uint64(i), eager)
		}
		if err != nil {
			return nil, err
		}
		rail.Eager = crossing(rail.Points)
		p.Rails[sm.gate.rails[i].name] = rail
	}
	return p, nil
}

// eagerly measures messages up to the longest one that can go eagerly.
func (sm sampler) eagerly(ctx context.Context) (points []CostPoint, err error) {
	for size := 1; ; size *= 2 {
		c := CostPoint{Size: min(size, sm.eager())}
		if c.EagerNs, err = sm.halfTrip(ctx, c.Size, sampleEager); err != nil {
			return nil, err
		}
		if points = append(points, c); c.Size == sm.eager() {
			return points, nil
		}
	}
}

// points measures messages of the same sizes whose bytes come by rendezvous over a rail.
func (sm sampler) points(ctx context.Context, rail uint64, eager []CostPoint) (points []CostPoint, err error) {
	for _, c := range eager {
		if c.RendezvousNs, err = sm.halfTrip(ctx, c.Size, sampleRail+rail); err != nil {
			return nil, err
		}
		points = append(points, c)
	}
	return points, nil
}

// cost measures the cost of a rail.
func (sm sampler) cost(ctx context.Context, i uint64) (RailProfile, error) {
	short, err := sm.halfTrip(ctx, sampleShort, sampleRail+i)
	if err != nil {
		return RailProfile{}, err
	}
	long, err := sm.halfTrip(ctx, sampleLong, sampleRail+i)
	return line(short, long), err
}

// line returns the cost of a rail over which a message of sampleShort bytes takes short ns, and one of sampleLong bytes
// takes long ns.
func line(short, long int64) RailProfile {
	var r RailProfile
	if long = max(long, 1); short < long {
		r.Bandwidth = (sampleLong - sampleShort) / float64(long-short)
	} else { // the two times do not show how much of them is latency: count all as transfer
		r.Bandwidth = sampleLong / float64(long)
	}
	r.Bandwidth = min(r.Bandwidth, maxBandwidth)
	r.LatencyNs = max(0, short-int64(sampleShort/r.Bandwidth))
	return r
}

// crossing returns the largest size at which eager is not slower. It searches from the largest size down, so that one
// outlier among the small sizes does not decide.
func crossing(points []CostPoint) int {
	for _, c := range slices.Backward(points) {
		if c.EagerNs <= c.RendezvousNs {
			return c.Size
		}
	}
	return points[0].Size
}

// sampleRound is a round trip of a Sample.
type sampleRound struct {
	out, in    []byte
	send, recv Request
}

// finish waits for the round trip that is under way, perhaps since a Sample whose ctx was done: the other side will
// answer it, and that answer must not be taken for the answer to a later message.
func (sm sampler) finish(ctx context.Context) error {
	x := sm.gate.openSample
	if x == nil {
		return nil
	}
	err := WaitAll(ctx, &x.send, &x.recv)
	if x.send.doneOrNotStarted() && x.recv.doneOrNotStarted() {
		sm.gate.openSample = nil
	}
	return err
}

// halfTrip measures the median half round trip of messages of size bytes with a tag, in nanoseconds.
func (sm sampler) halfTrip(ctx context.Context, size int, tag uint64) (int64, error) {
	x := &sampleRound{out: make([]byte, size), in: make([]byte, size)}
	var times []int64
	for end := time.Now().Add(sampleTime); len(times) < maxSampleRounds && (len(times) < minSampleRounds || time.Now().Before(end)); {
		began := time.Now()
		err := errors.Join(sm.recv(&x.recv, tag, x.in), sm.send(&x.send, tag, x.out))
		if err == nil {
			sm.gate.openSample = x
			err = sm.finish(ctx)
		}
		if err != nil {
			return 0, err
		}
		times = append(times, int64(time.Since(began))/2)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// send sends by the protocol that the tag names.
func (sm sampler) send(r *Request, tag uint64, buf []byte) error {
	if err := r.claim(); err != nil {
		return err
	}
	r.prepareSend(sm.gate, &Operation{Match: Tag(tag), Buf: buf, Sync: tag >= sampleRail})
	r.core.Context = flow.Library
	sm.gate.submit(r)
	return nil
}

// recv receives over the rail that the tag names.
func (sm sampler) recv(r *Request, tag uint64, buf []byte) error {
	if err := r.claim(); err != nil {
		return err
	}
	r.prepareRecv(sm.gate, &Operation{Kind: KindRecv, Match: Tag(tag), Buf: buf})
	r.core.Context, r.core.Entry.Age = flow.Library, sm.gate.anyList.Now()
	x := r.useExtras()
	x.setWild(r, exact, false)
	if x.Pin = 1; tag >= sampleRail {
		x.Pin = uint8(1 + tag - sampleRail)
	}
	sm.gate.submit(r)
	return nil
}

// SampleEcho is the other side of Sample: it answers the messages of the other process's Sample, and returns when that
// does.
func (g *Gate) SampleEcho(ctx context.Context) error {
	if err := g.accessError(); err != nil {
		return err
	}
	if err := g.Link(ctx); err != nil {
		return err
	}
	undo := g.unlimit()
	p, err := sampler{g}.echo(ctx)
	if err != nil {
		undo()
		return fmt.Errorf("nmad: sample echo: %w", err)
	}
	g.applyProfile(p)
	return nil
}

// echo answers until the other process sends its profile, and returns that.
func (sm sampler) echo(ctx context.Context) (*Profile, error) {
	tags := int(sampleRail-sampleEager) + len(sm.gate.rails)
	in, buf := make([]Request, tags), make([][]byte, tags)
	all := make([]*Request, tags)
	var out Request
	post := func(i int) error { return sm.recv(&in[i], sampleEager+uint64(i), buf[i]) }
	for i := range in {
		buf[i], all[i] = make([]byte, max(sm.eager(), sampleLong)), &in[i]
		if err := post(i); err != nil {
			return nil, err
		}
	}
	defer sm.endEcho(all, buf)
	for {
		i, err := WaitAny(ctx, all...)
		if err == nil && in[i].Tag() == sampleEnd {
			return readProfile(buf[i][:in[i].Len()])
		}
		if err == nil {
			err = sm.send(&out, in[i].Tag(), buf[i][:in[i].Len()])
		}
		if err == nil {
			all[i] = nil // so that endEcho does not answer it again
			if err = out.WaitContext(ctx); err == nil {
				all[i], err = &in[i], post(i)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// readProfile decodes the profile that the other side has sent. Errors are ErrProtocol.
func readProfile(text []byte) (*Profile, error) {
	var p Profile
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("%w: what was measured: %w", ErrProtocol, err)
	}
	if err := p.check(" of the other process"); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return &p, nil
}

// endEcho cancels the receives of SampleEcho. If one has got its message meanwhile, endEcho answers it, because the
// other side waits for the answer.
func (sm sampler) endEcho(all []*Request, bufs [][]byte) {
	for i, r := range all {
		if !r.Cancel() && r.Wait() == nil && r.Tag() != sampleEnd {
			_ = sm.send(&Request{}, r.Tag(), bufs[i][:r.Len()])
		}
	}
}
