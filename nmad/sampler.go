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

// Tags of the messages by which rails are measured.
const (
	sampleEager uint64 = iota // answer eagerly
	sampleEnd                 // over
	sampleRail                // answer by rendezvous, over rail tag - sampleRail
)

// sampleTime is how long each size of each protocol is measured, at most.
const sampleTime = 20 * time.Millisecond

// sampleRounds is how many round trips that is at most, sampleLeast at least.
const (
	sampleRounds = 200
	sampleLeast  = 5
)

// Sizes of the messages by which the cost of a rail is measured, in bytes: far enough apart
// to tell its bandwidth from its latency.
const (
	sampleShort = 128 << 10
	sampleLong  = 1 << 20
)

// sampler measures the rails of a gate. It belongs to the caller of Sample, or of SampleEcho: what it has needs no lock,
// and it sends and receives as any user of the gate does.
type sampler struct{ g *Gate }

// eager is the eager limit of the gate, in bytes.
func (sm sampler) eager() int {
	h := sm.g.lock()
	defer h.unlock()
	return h.flow.EagerLimit()
}

// Sample measures the rails of this gate: messages of growing size go to and fro, eagerly and by rendezvous over each rail
// alone, and longer ones, too. The other process must call SampleEcho on its gate to us meanwhile; what else goes over the
// gate disturbs what is measured. It takes up to a second on fast networks, and half of one for each further rail. If ctx
// ends it before its time one message is on its way to the other process or back: that is for the next Sample and
// SampleEcho.
//
// From then on both gates share long messages out by what was measured, and have the eager limit that
// follows from it, unless the configuration says one. Short messages stay on the rail that they go over.
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
	if err := m.send(&r, sampleEnd, p.brief()); err != nil {
		return nil, err
	}
	return p, r.WaitContext(ctx)
}

// rails measures all rails.
func (sm sampler) rails(ctx context.Context) (*Profile, error) {
	p := &Profile{Rails: map[string]Rail{}}
	var eager []Cost
	for i := range sm.g.rails {
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
		p.Rails[sm.g.rails[i].name] = rail
	}
	return p, nil
}

// brief is the profile without the points, for the other process.
func (pf *Profile) brief() []byte {
	b := Profile{Rails: map[string]Rail{}}
	for name, r := range pf.Rails {
		r.Points = nil
		b.Rails[name] = r
	}
	text, _ := json.Marshal(b) // numbers and names
	return text
}

// eagerly measures messages up to the longest one that can go eagerly.
func (sm sampler) eagerly(ctx context.Context) (points []Cost, err error) {
	for size := 1; ; size *= 2 {
		c := Cost{Size: min(size, sm.eager())}
		if c.EagerNs, err = sm.halfTrip(ctx, c.Size, sampleEager); err != nil {
			return nil, err
		}
		if points = append(points, c); c.Size == sm.eager() {
			return points, nil
		}
	}
}

// points measures messages of the same sizes whose bytes come by rendezvous over a rail.
func (sm sampler) points(ctx context.Context, rail uint64, eager []Cost) (points []Cost, err error) {
	for _, c := range eager {
		if c.RendezvousNs, err = sm.halfTrip(ctx, c.Size, sampleRail+rail); err != nil {
			return nil, err
		}
		points = append(points, c)
	}
	return points, nil
}

// cost measures what a rail costs.
func (sm sampler) cost(ctx context.Context, i uint64) (Rail, error) {
	short, err := sm.halfTrip(ctx, sampleShort, sampleRail+i)
	if err != nil {
		return Rail{}, err
	}
	long, err := sm.halfTrip(ctx, sampleLong, sampleRail+i)
	return line(short, long), err
}

// line is the cost of a rail over which a message of sampleShort bytes takes short ns, and
// one of sampleLong bytes long.
func line(short, long int64) Rail {
	var r Rail
	if long = max(long, 1); short < long {
		r.Bandwidth = (sampleLong - sampleShort) / float64(long-short)
	} else { // it cannot be told how much of it is latency
		r.Bandwidth = sampleLong / float64(long)
	}
	r.Bandwidth = min(r.Bandwidth, maxBandwidth)
	r.LatencyNs = max(0, short-int64(sampleShort/r.Bandwidth))
	return r
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

// sampleRound is a round trip that is under way.
type sampleRound struct {
	out, in    []byte
	send, recv Request
}

// finish waits for the round trip that is under way, perhaps since a Sample that was given up:
// the other side has its message, or will have, and answers it, and that must not be taken for the
// answer to another one.
func (sm sampler) finish(ctx context.Context) error {
	x := sm.g.openSample
	if x == nil {
		return nil
	}
	err := WaitAll(ctx, &x.send, &x.recv)
	if x.send.doneOrIdle() && x.recv.doneOrIdle() {
		sm.g.openSample = nil
	}
	return err
}

// halfTrip returns the median half round trip.
func (sm sampler) halfTrip(ctx context.Context, size int, tag uint64) (int64, error) {
	x := &sampleRound{out: make([]byte, size), in: make([]byte, size)}
	var times []int64
	for end := time.Now().Add(sampleTime); len(times) < sampleRounds && (len(times) < sampleLeast || time.Now().Before(end)); {
		began := time.Now()
		err := errors.Join(sm.recv(&x.recv, tag, x.in), sm.send(&x.send, tag, x.out))
		if err == nil {
			sm.g.openSample = x
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
	r.prepareSend(sm.g, &Op{Match: Tag(tag), Buf: buf, Sync: tag >= sampleRail})
	r.core.Context = flow.Library
	sm.g.submit(r)
	return nil
}

// recv receives over the rail that the tag names.
func (sm sampler) recv(r *Request, tag uint64, buf []byte) error {
	if err := r.claim(); err != nil {
		return err
	}
	r.prepareRecv(sm.g, &Op{Kind: OpRecv, Match: Tag(tag), Buf: buf})
	r.core.Context, r.core.Entry.Age = flow.Library, sm.g.any.Now()
	x := r.useRare()
	x.setWild(r, exact, false)
	if x.Pin = 1; tag >= sampleRail {
		x.Pin = uint8(1 + tag - sampleRail)
	}
	sm.g.submit(r)
	return nil
}

// SampleEcho is the other side of Sample, and returns when that does.
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

// echo answers until the other process sends what it has measured.
func (sm sampler) echo(ctx context.Context) (*Profile, error) {
	tags := int(sampleRail-sampleEager) + len(sm.g.rails)
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
			return readBrief(buf[i][:in[i].Len()])
		}
		if err == nil {
			err = sm.send(&out, in[i].Tag(), buf[i][:in[i].Len()])
		}
		if err == nil {
			all[i] = nil // answered
			if err = out.WaitContext(ctx); err == nil {
				all[i], err = &in[i], post(i)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// readBrief is what brief has made, or a peer that is not to be trusted.
func readBrief(text []byte) (*Profile, error) {
	var p Profile
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("%w: what was measured: %w", ErrProtocol, err)
	}
	if err := p.check(" of the other process"); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return &p, nil
}

// endEcho takes back the receives of SampleEcho. One that has got its message meanwhile is answered, as
// the other side waits for that.
func (sm sampler) endEcho(all []*Request, bufs [][]byte) {
	for i, r := range all {
		if !r.Cancel() && r.Wait() == nil && r.Tag() != sampleEnd {
			_ = sm.send(&Request{}, r.Tag(), bufs[i][:r.Len()])
		}
	}
}
