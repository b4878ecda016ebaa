package rma

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
)

// record is what the processes tell each other in a collective call: combined on the way to rank 0, and then the same for all.
type record struct {
	failed bool   // something did not work at one of them
	lost   uint32 // 1 + a rank that was lost; 0: none
	low    uint64 // the least size
	high   uint64 // the greatest
	key    uint64 // what rank 0 has chosen
	index  uint32
}

const recordBytes = 40

func (r *record) encode() (b [recordBytes]byte) {
	if r.failed {
		b[0] = 1
	}
	binary.LittleEndian.PutUint32(b[4:], r.lost)
	binary.LittleEndian.PutUint64(b[8:], r.low)
	binary.LittleEndian.PutUint64(b[16:], r.high)
	binary.LittleEndian.PutUint64(b[24:], r.key)
	binary.LittleEndian.PutUint32(b[32:], r.index)
	return b
}

func (r *record) decode(b *[recordBytes]byte) {
	*r = record{
		failed: b[0] != 0,
		lost:   binary.LittleEndian.Uint32(b[4:]),
		low:    binary.LittleEndian.Uint64(b[8:]),
		high:   binary.LittleEndian.Uint64(b[16:]),
		key:    binary.LittleEndian.Uint64(b[24:]),
		index:  binary.LittleEndian.Uint32(b[32:]),
	}
}

// combine takes in what another process tells.
func (r *record) combine(x *record) {
	r.failed = r.failed || x.failed
	r.lost = max(r.lost, x.lost)
	r.low, r.high = min(r.low, x.low), max(r.high, x.high)
}

// Steps of a collective call, in the tags of its messages.
const (
	stepUp = iota
	stepDown
	stepCard
	steps
)

// tag is that of a message of a collective call: what a World before in these contexts has sent too late has another one.
func (w *World) tag(step uint64) uint64 { return w.calls*steps + step + uint64(uint16(w.turn))<<40 }

// lastCall is the number of Close, whichever calls have failed before at some of the processes only.
const lastCall = 1 << 60

// agree combines the records of all processes, by a binomial tree whose root is the first of them, which chooses the rest, and says what came of it. It returns once all have called it, or with an error
// where a process was lost, which ends it everywhere: the call before may have failed at some processes only, and these do not come. Close goes on to wait for those that live.
func (w *World) agree(r record, choose func(*record)) (record, error) {
	w.calls++
	return w.combine(w.intact, r, choose)
}

func (w *World) combine(ctx context.Context, r record, choose func(*record)) (record, error) {
	var first error
	lost := func(err error) {
		r.failed = true
		if peer := (*nmad.PeerError)(nil); errors.As(err, &peer) {
			r.lost = max(r.lost, uint32(peer.Rank)+1)
		}
		first = errors.Join(first, err)
	}
	mask, size := 1, len(w.members)
	for ; mask < size; mask *= 2 {
		if w.index&mask != 0 {
			b, parent := r.encode(), w.members[w.index-mask]
			if err := w.pass(parent, stepUp, b); err != nil {
				lost(err)
			}
			if err := w.hear(ctx, parent, stepDown, &r); err != nil {
				lost(err)
			}
			break
		}
		if w.index+mask < size {
			var x record
			if err := w.hear(ctx, w.members[w.index+mask], stepUp, &x); err != nil {
				lost(err)
				continue
			}
			r.combine(&x)
		}
	}
	if w.index == 0 && choose != nil && !r.failed {
		choose(&r)
	}
	b := r.encode()
	for mask /= 2; mask > 0; mask /= 2 {
		if w.index+mask < size {
			if err := w.pass(w.members[w.index+mask], stepDown, b); err != nil {
				first = errors.Join(first, err)
			}
		}
	}
	if first == nil && r.lost > 0 {
		first = &nmad.PeerError{Rank: int(r.lost) - 1, Reason: "another process of the collective call has lost it", Err: nmad.ErrPeerLost}
	}
	return r, first
}

// pass tells a neighbour in the tree. It does not wait: one whose call has failed before does not listen, and the message may need that.
func (w *World) pass(rank int, step uint64, b [recordBytes]byte) error {
	r, buf := &nmad.Request{}, b
	if err := w.control.IsendInto(r, rank, w.tag(step), buf[:]); err != nil {
		return err
	}
	_, err := r.Test()
	return err
}

// hear receives what a neighbour in the tree tells, unless ctx ends first.
func (w *World) hear(ctx context.Context, rank int, step uint64, r *record) error {
	q, b := &nmad.Request{}, [recordBytes]byte{}
	if err := w.control.IrecvInto(q, rank, w.tag(step), b[:]); err != nil {
		return err
	}
	err := awaitOrCancel(ctx, q)
	if err == nil && q.Size() != recordBytes {
		err = fmt.Errorf("%w: rank %d tells %d B in a collective call, %d are right", nmad.ErrProtocol, rank, q.Size(), recordBytes)
	}
	if err == nil {
		r.decode(&b)
	}
	return err
}

// awaitOrCancel waits for a receive, and takes it back if ctx ends first. When it returns nothing comes any more.
func awaitOrCancel(ctx context.Context, r *nmad.Request) error {
	err := r.WaitContext(ctx)
	if err == nil || r.IsDone() || r.Cancel() {
		return err
	}
	return r.Wait()
}

// farewell tells the neighbours in the tree what they wait for in Close, of a process whose Open has failed: theirs may have succeeded, when the loss of a process came between.
func (w *World) farewell() {
	w.calls = lastCall
	b := (&record{failed: true}).encode()
	mask, size := 1, len(w.members)
	for ; mask < size && w.index&mask == 0; mask *= 2 {
	}
	if mask < size {
		_ = w.pass(w.members[w.index-mask], stepUp, b)
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if w.index+mask < size {
			_ = w.pass(w.members[w.index+mask], stepDown, b)
		}
	}
}

const cardBytes = 32

func (c *card) encode() (b [cardBytes]byte) {
	binary.LittleEndian.PutUint32(b[:], c.pid)
	binary.LittleEndian.PutUint32(b[4:], uint32(c.fd))
	copy(b[8:], c.cookie[:])
	binary.LittleEndian.PutUint64(b[24:], c.size)
	return b
}

func (c *card) decode(b []byte) {
	c.pid, c.fd = binary.LittleEndian.Uint32(b), int32(binary.LittleEndian.Uint32(b[4:]))
	copy(c.cookie[:], b[8:])
	c.size = binary.LittleEndian.Uint64(b[24:])
}

// exchange gives the processes of the host a card, and takes theirs, in the order of near. That of one which tells none cannot be mapped.
func (w *World) exchange(mine *card) (cards []card, failed error) {
	w.calls++
	out := mine.encode()
	in := make([][cardBytes]byte, len(w.near))
	requests := make([]nmad.Request, 2*len(w.near))
	for i, rank := range w.near {
		failed = errors.Join(failed,
			w.control.IrecvInto(&requests[2*i], rank, w.tag(stepCard), in[i][:]),
			w.control.IsendInto(&requests[2*i+1], rank, w.tag(stepCard), out[:]))
	}
	cards = make([]card, len(w.near))
	for i := range w.near {
		err := awaitOrCancel(w.intact, &requests[2*i])
		failed = errors.Join(failed, err, requests[2*i+1].WaitContext(w.intact))
		if cards[i].fd = -1; err == nil && requests[2*i].Size() == cardBytes {
			cards[i].decode(in[i][:])
		}
	}
	return cards, failed
}
