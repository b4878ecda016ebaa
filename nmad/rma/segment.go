package rma

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// Segment is memory of which each process of the World has a part of the same size. The processes of one host map each
// other's parts. Safe for concurrent use, but for Free.
type Segment struct {
	w     *World
	index uint32  // in the tables of all ranks
	key   uint64  // of all parts
	part  *region // the part of this process
	freed atomic.Bool
}

// taken is the index that the first process chooses when no index is free.
const taken = 1<<32 - 1

// Alloc makes a Segment with a part of so many bytes, all zero, at each process; the system provides the memory as it
// is touched. It is collective: all processes of the World call it with the same number, and it returns once all of
// them have. All processes make the collective calls (Open, Alloc, Segment.Free, Close) in the same order; a program
// that makes them in several threads sees to that. ErrSize, at all processes: the sizes differ, a process has no memory
// of that size, or MaxRegions are open. A process that cannot map a part of its host, for want of descriptors or of
// address space, reaches it by messages: Domain.Explain says so. An error that names a lost process may come at some
// processes only.
func (w *World) Alloc(bytes int) (*Segment, error) {
	w.collect.Lock()
	defer w.collect.Unlock()
	s, err := w.alloc(bytes)
	if err != nil {
		return nil, fmt.Errorf("rma: allocate %d B: %w", bytes, err)
	}
	return s, nil
}

// alloc is Alloc for the holder of collect.
func (w *World) alloc(bytes int) (s *Segment, err error) {
	if w.closed.Load() {
		return nil, ErrClosed
	}
	size := uint64(bytes) // a number below 0 becomes one above MaxBytes
	mem, err := makeMemory(size)
	defer func() {
		if mem.Hide(); err != nil {
			_ = mem.Vacate()
		}
	}()
	mine := w.failing(err)
	mine.low, mine.high = size, size
	r, lost := w.agree(mine, func(r *collectiveRecord) {
		w.mu.Lock()
		defer w.mu.Unlock()
		ok := false
		if r.index, ok = w.free(0); !ok {
			r.index = taken
		}
		r.key = newKey()
	})
	switch {
	case err != nil || lost != nil:
		return nil, errors.Join(err, lost)
	case r.low != r.high:
		return nil, fmt.Errorf("%w: the processes ask for %d to %d B: give all the same", ErrSize, r.low, r.high)
	case r.failed != 0:
		return nil, fmt.Errorf("%w: rank %d has no memory of that size", ErrSize, r.failed-1)
	case r.index == taken:
		return nil, fmt.Errorf("%w: %d segments are open, which is the limit", ErrSize, MaxRegions)
	case r.index >= 2*MaxRegions || r.index&1 != 0 || w.peers[w.rank].find(r.index) != nil:
		err := &nmad.PeerError{Rank: w.members[0], Reason: fmt.Sprintf("it gives a segment the index %d", r.index), Err: nmad.ErrProtocol}
		w.spread(err) // the others go on to exchange
		return nil, err
	}
	s = &Segment{w: w, index: r.index, key: r.key, part: &region{base: baseOf(mem.Bytes()), size: size, key: r.key, mem: mem}}
	locators, lost := w.exchange(mem.Locator())
	far := &region{size: size, key: r.key} // one for all parts that are not mapped
	w.mu.Lock()
	for rank := range w.peers {
		w.peers[rank].set(s.index, far)
	}
	for i, rank := range w.near {
		if p := &w.peers[rank]; p.page == nil || locators[i].Size != size || locators[i].PID != p.pid {
			continue
		}
		rg := &region{size: size, key: r.key}
		if rg.mem, rg.mapErr = locators[i].Open("memory", true); rg.mapErr == nil {
			rg.base = baseOf(rg.mem.Bytes())
			w.used.mapped += size
		}
		w.peers[rank].set(s.index, rg)
	}
	w.peers[w.rank].set(s.index, s.part)
	w.used.segments++
	w.used.bytes += size
	w.mu.Unlock()
	if _, err := w.agree(w.failing(lost), nil); err != nil || lost != nil {
		s.release()
		return nil, errors.Join(lost, err)
	}
	return s, nil
}

// Bytes returns the part of this process. It must not be used any more after Free and World.Close.
func (s *Segment) Bytes() []byte {
	if s == nil {
		return nil
	}
	return bytesAt(s.part.base, 0, s.part.size)
}

// Len returns the size of each part, in bytes.
func (s *Segment) Len() uint64 {
	if s == nil {
		return 0
	}
	return s.part.size
}

// At returns the Ref of the byte at that offset of the part of a rank. Whether there is such a byte is checked when the
// Ref is used.
func (s *Segment) At(rank int, offset uint64) Ref {
	if s == nil || rank < 0 {
		return Ref{}
	}
	return Ref{s.key, offset, uint32(min(uint64(rank), 1<<32-1)), s.index}
}

// Free gives the memory back. It is collective, as Alloc is: each process has flushed its operations on the Segment
// before it calls Free, which returns once all processes have called it. From then on operations on its Refs fail with
// ErrKey. An error is that of a process that was lost; the memory is given back all the same. Calling it again does
// nothing.
func (s *Segment) Free() error {
	if s == nil {
		return fmt.Errorf("rma: free a segment: %w: there is none", ErrRef)
	}
	w := s.w
	w.collect.Lock()
	defer w.collect.Unlock()
	if s.freed.Load() || w.closed.Load() {
		return nil
	}
	var keys collectiveRecord // high is 1 if networks put to and get from a part
	var err error
	if len(w.members) > 1 {
		if w.hasTaught(s.index) {
			keys.high = 1
		}
		keys, err = w.agree(keys, nil)
	}
	s.release()
	if err == nil && keys.high != 0 { // each process answers the others in the call
		_, err = w.agree(collectiveRecord{}, nil)
	}
	if err != nil {
		return fmt.Errorf("rma: free a segment of %d B: %w", s.part.size, err)
	}
	return nil
}

// release closes the own part and takes the segment out of all tables.
func (s *Segment) release() {
	w := s.w
	s.freed.Store(true)
	s.part.closed.Store(true)
	_ = w.retire(s.index, s.part) // the kernel does not copy in it
	w.mu.Lock()
	defer w.mu.Unlock()
	for rank := range w.peers {
		rg := w.peers[rank].find(s.index)
		w.peers[rank].set(s.index, nil)
		if rg != nil && rg.mem != nil && rank != w.rank {
			_ = rg.mem.Vacate()
			w.used.mapped -= rg.size
		}
	}
	w.vacate(s.index)
	w.used.segments--
	w.used.bytes -= s.part.size
}
