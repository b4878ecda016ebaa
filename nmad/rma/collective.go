package rma

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// collectiveRecord is what each process contributes to a collective call. The records are combined on the way up the
// tree to the first process; the result comes down the tree to all.
type collectiveRecord struct {
	failed uint32 // 1 + a rank at which the call failed; 0: none
	lost   uint32 // 1 + a rank that was lost; 0: none
	by     uint32 // the rank whose link to it was lost
	low    uint64 // the least size that a process asks for, in bytes
	high   uint64 // the greatest
	key    uint64 // of the new segment; the first process chooses it
	index  uint32 // likewise
}

const recordBytes = 40

func (rc *collectiveRecord) encode() (b [recordBytes]byte) {
	binary.LittleEndian.PutUint32(b[:], rc.failed)
	binary.LittleEndian.PutUint32(b[4:], rc.lost)
	binary.LittleEndian.PutUint64(b[8:], rc.low)
	binary.LittleEndian.PutUint64(b[16:], rc.high)
	binary.LittleEndian.PutUint64(b[24:], rc.key)
	binary.LittleEndian.PutUint32(b[32:], rc.index)
	binary.LittleEndian.PutUint32(b[36:], rc.by)
	return b
}

func (rc *collectiveRecord) decode(b *[recordBytes]byte) {
	*rc = collectiveRecord{
		failed: binary.LittleEndian.Uint32(b[:]),
		lost:   binary.LittleEndian.Uint32(b[4:]),
		low:    binary.LittleEndian.Uint64(b[8:]),
		high:   binary.LittleEndian.Uint64(b[16:]),
		key:    binary.LittleEndian.Uint64(b[24:]),
		index:  binary.LittleEndian.Uint32(b[32:]),
		by:     binary.LittleEndian.Uint32(b[36:]),
	}
}

// combine merges the record of another process into rc.
func (rc *collectiveRecord) combine(other *collectiveRecord) {
	rc.failed = max(rc.failed, other.failed)
	if other.lost > rc.lost {
		rc.lost, rc.by = other.lost, other.by
	}
	rc.low, rc.high = min(rc.low, other.low), max(rc.high, other.high)
}

// failing returns the record of a process at which the call has failed with err; nil: it has not.
func (w *World) failing(err error) (r collectiveRecord) {
	if err == nil {
		return r
	}
	r.failed = uint32(w.rank) + 1
	if peer := (*nmad.PeerError)(nil); errors.As(err, &peer) {
		r.lost, r.by = uint32(peer.Rank)+1, uint32(w.rank)
		if h := (*hearsay)(nil); errors.As(err, &h) {
			r.by = uint32(h.by)
		}
	}
	return r
}

// Steps of a collective call, in the tags of its messages.
const (
	stepUp = iota
	stepDown
	stepCard
	steps
)

// tag is the tag of the messages of a step of the present collective call. The caller holds collect.
func (w *World) tag(step uint64) uint64 { return w.callNumber*steps + step }

// lastCall is the number of the call that Close makes: the same at all processes, also if earlier calls failed at some
// of them only.
const lastCall = 1 << 60

// agree combines the records of all processes, and returns the result. The records go up a binomial tree to the first
// process, which calls choose, and the result comes down. agree returns once all processes have called it. If one
// process has lost another, agree fails, and tells the others, whose calls end, too (spread): the call before may have
// failed at some processes only, which then do not make this one. Close goes on to wait for the processes that live.
func (w *World) agree(r collectiveRecord, choose func(*collectiveRecord)) (collectiveRecord, error) {
	w.callNumber++
	why := context.Cause(w.intact)
	if why != nil { // the record tells the others within this call
		known := w.failing(why)
		known.low, known.high = r.low, r.high
		r.combine(&known)
	}
	r, err := w.combine(w.intact, r, choose)
	if why != nil {
		err = why
	}
	w.spread(err)
	return r, err
}

// spread tells all other processes, once, that a collective call has failed here because a process was lost; other
// errors, and nil, it ignores. From then on the collective calls of all fail: the lost link may be one between two
// processes only, while the others wait for both.
func (w *World) spread(why error) {
	guilty := (*nmad.PeerError)(nil)
	if !errors.As(why, &guilty) {
		return
	}
	w.broken(why)
	if w.announced.Swap(true) {
		return
	}
	head := &[headBytes]byte{}
	(&wireRequest{ask: askBreak, number: uint64(w.number), bytes: uint64(guilty.Rank)}).encode(head)
	for _, rank := range w.members {
		if rank != w.rank {
			_ = w.contexts[contextRequests-FirstContext].IsendInto(&nmad.Request{}, rank, 0, head[:]) // fails if the process is lost
		}
	}
}

// hearBreak handles the message of spread, which names a World by its number, and the rank that was lost: collective
// calls of that World fail from now on. The sender may be in the next World of the series already; hearBreak keeps the
// message for that one.
func (w *World) hearBreak(from int, q *wireRequest) {
	rank := int(min(q.bytes, uint64(w.size)))
	if !slices.Contains(w.members, rank) {
		return
	}
	switch q.number {
	case uint64(w.number):
		w.broken(lostElsewhere(from, rank))
	case uint64(w.number + 1):
		w.history.early.Store(&earlyBreak{w.number + 1, from, rank})
	}
}

// hearsay is the error of collective calls once another process has reported the loss of one.
type hearsay struct {
	nmad.PeerError
	by int // the rank that has reported it
}

// lostElsewhere is the error for a rank whose loss the rank by has reported.
func lostElsewhere(by, rank int) error {
	return &hearsay{nmad.PeerError{Rank: rank, Reason: fmt.Sprintf("rank %d, which takes part in the collective calls, says so", by), Err: nmad.ErrPeerLost}, by}
}

// Unwrap makes errors.As find which process is lost.
func (hs *hearsay) Unwrap() error { return &hs.PeerError }

// combine is the exchange of agree over the tree: it sends r up with the records from below, and returns the result
// that comes down. It goes on after a failed neighbor, so that the processes below it are answered, and returns all
// errors joined.
func (w *World) combine(ctx context.Context, r collectiveRecord, choose func(*collectiveRecord)) (collectiveRecord, error) {
	var first error
	lost := func(err error) {
		why := w.failing(err)
		why.low, why.high = r.low, r.high
		r.combine(&why)
		first = errors.Join(first, err)
	}
	mask, size := 1, len(w.members)
	for ; mask < size; mask *= 2 {
		if w.memberIndex&mask != 0 {
			b, parent := r.encode(), w.members[w.memberIndex-mask]
			if err := w.pass(parent, stepUp, b); err != nil {
				lost(err)
			}
			if err := w.hear(ctx, parent, stepDown, &r); err != nil {
				lost(err)
			}
			break
		}
		if w.memberIndex+mask < size {
			var heard collectiveRecord
			if err := w.hear(ctx, w.members[w.memberIndex+mask], stepUp, &heard); err != nil {
				lost(err)
				continue
			}
			r.combine(&heard)
		}
	}
	if w.memberIndex == 0 && choose != nil && r.failed == 0 {
		choose(&r)
	}
	b := r.encode()
	for mask /= 2; mask > 0; mask /= 2 {
		if w.memberIndex+mask < size {
			if err := w.pass(w.members[w.memberIndex+mask], stepDown, b); err != nil {
				first = errors.Join(first, err)
			}
		}
	}
	if first == nil && r.lost > 0 {
		first = lostElsewhere(int(r.by), int(r.lost)-1)
	}
	return r, first
}

// pass sends a record to a neighbor in the tree. It does not wait for the send: a neighbor whose call has failed
// posts no receive, and a send by rendezvous would wait for one.
func (w *World) pass(rank int, step uint64, b [recordBytes]byte) error {
	r, buf := &nmad.Request{}, b
	if err := w.control.IsendInto(r, rank, w.tag(step), buf[:]); err != nil {
		return err
	}
	_, err := r.Test()
	return err
}

// hear receives the record of a neighbor in the tree, unless ctx ends first.
func (w *World) hear(ctx context.Context, rank int, step uint64, r *collectiveRecord) error {
	q, b := &nmad.Request{}, [recordBytes]byte{}
	if err := w.control.IrecvInto(q, rank, w.tag(step), b[:]); err != nil {
		return err
	}
	err := receiveUntil(ctx, q)
	if err != nil && !errors.Is(err, nmad.ErrTruncated) {
		return err
	}
	var record collectiveRecord
	record.decode(&b)
	if q.Size() != recordBytes || int64(record.lost) > int64(w.size) || int64(record.by) >= int64(w.size) {
		return &nmad.PeerError{Rank: rank, Reason: fmt.Sprintf("in a collective call it tells %d B, %x", q.Size(), b), Err: nmad.ErrProtocol}
	}
	*r = record
	return nil
}

// receiveUntil waits for a receive, and cancels it if ctx ends first. When it returns the receive has ended.
func receiveUntil(ctx context.Context, r *nmad.Request) error {
	err := r.WaitContext(ctx)
	if err == nil || r.IsDone() || r.Cancel() {
		return err
	}
	return r.Wait()
}

// farewell sends the records that neighbors in the tree wait for in Close. A process whose Open has failed calls it:
// the Open of its neighbors may have succeeded, if a process was lost between the two.
func (w *World) farewell() {
	w.callNumber = lastCall
	b := (&collectiveRecord{failed: uint32(w.rank) + 1}).encode()
	mask, size := 1, len(w.members)
	for ; mask < size && w.memberIndex&mask == 0; mask *= 2 {
	}
	if mask < size {
		_ = w.pass(w.members[w.memberIndex-mask], stepUp, b)
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if w.memberIndex+mask < size {
			_ = w.pass(w.members[w.memberIndex+mask], stepDown, b)
		}
	}
}

// exchange sends a locator to each other process of the host, and returns theirs, in the order of near. A locator is
// zero if its process has sent none: its memory cannot be mapped.
func (w *World) exchange(mine mapped.Locator) (locators []mapped.Locator, failed error) {
	w.callNumber++
	var out [mapped.LocatorBytes]byte
	mine.Put(out[:])
	in := make([][mapped.LocatorBytes]byte, len(w.near))
	requests := make([]nmad.Request, 2*len(w.near))
	for i, rank := range w.near {
		failed = errors.Join(failed,
			w.control.IrecvInto(&requests[2*i], rank, w.tag(stepCard), in[i][:]),
			w.control.IsendInto(&requests[2*i+1], rank, w.tag(stepCard), out[:]))
	}
	locators = make([]mapped.Locator, len(w.near))
	for i := range w.near {
		err := receiveUntil(w.intact, &requests[2*i])
		failed = errors.Join(failed, err, requests[2*i+1].WaitContext(w.intact))
		if err == nil && requests[2*i].Size() == mapped.LocatorBytes {
			locators[i] = mapped.LocatorOf(in[i][:])
		}
	}
	w.spread(failed)
	return locators, failed
}
