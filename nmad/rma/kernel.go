package rma

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// Whether the kernel copies between this process and another one.
const (
	kernelUnknown int32 = iota
	kernelCopies
	kernelRefuses
)

// copyMost is how many bytes one call of the kernel copies at most: a thread that closes the memory waits for one call.
const copyMost = 8 << 20

// kernelCalls is a pool of the descriptions that the system call takes.
var kernelCalls = sync.Pool{New: func() any { return &process.Memory{Tells: true} }}

// kernelMove lets the kernel copy to (puts) or from memory of another process of the host that is not mapped. done: all
// bytes are copied; else they go by messages. stale: the owner has closed the memory. The owner does not reuse the
// memory meanwhile: kernelMove sets a hazard in this process's page before it looks whether the memory is live, and the
// owner clears the live word before it looks at the hazards (doc.go).
func (w *World) kernelMove(try attempt, r *region, buf []byte, puts bool) (done, stale bool) {
	p := &w.peers[try.at.rank]
	if r.address == 0 || p.kernel.Load() != kernelCopies {
		return false, false
	}
	w.copying.Add(1)
	defer w.copying.Add(-1) // runs after the hazard is cleared
	own, mark := w.peers[w.rank].page, uint64(try.at.rank)<<32|uint64(try.at.index)+1
	i := rand.IntN(hazards)
	for tries := 0; !own.hazard(i).CompareAndSwap(0, mark); i = (i + 1) % hazards {
		if tries++; tries == 2*hazards {
			return false, false
		}
	}
	defer own.hazard(i).Store(0)
	if r.stale() {
		return false, true
	}
	if w.options.inside != nil {
		w.options.inside()
	}
	c := kernelCalls.Get().(*process.Memory)
	defer kernelCalls.Put(c)
	c.PID = int(p.pid)
	for at := r.address + try.at.offset; len(buf) > 0; {
		if r.stale() || p.lost.Load() != nil {
			return false, r.stale()
		}
		b := buf[:min(len(buf), copyMost)]
		n := 0
		if puts {
			n, _ = c.Write(b, at)
		} else {
			n, _ = c.Read(b, at)
		}
		if n < len(b) {
			return false, false
		}
		buf, at = buf[len(b):], at+uint64(len(b))
	}
	return true, false
}

// kernelCopies reports whether the kernel copies between this process and another one of the host, whose page lies at
// address in that process. It finds out by a read and a write of the page, once.
func (w *World) kernelCopies(p *peer, address uint64) bool {
	if k := p.kernel.Load(); k != kernelUnknown || w.options.refuses {
		return k == kernelCopies
	}
	c := &process.Memory{PID: int(p.pid), Tells: true}
	p.kernel.Store(kernelRefuses)
	b := make([]byte, 8)
	if _, errno := c.Read(b, address+markAt); errno != 0 || binary.LittleEndian.Uint64(b) != p.page.word(markAt).Load() {
		return false
	}
	for range 8 { // others may probe at the same time
		mark := rand.Uint64()
		binary.LittleEndian.PutUint64(b, mark)
		if _, errno := c.Write(b, address+scratchAt); errno != 0 {
			return false
		}
		if p.page.word(scratchAt).Load() == mark {
			p.kernel.Store(kernelCopies)
			return true
		}
	}
	return false
}

// awaitHazards waits until no process of the host has a hazard for the memory of that index: the kernel copies there no
// more. Other threads of the VP run meanwhile. The error is that of evict.
func (w *World) awaitHazards(index uint32) error {
	mark := uint64(w.rank)<<32 | uint64(index) + 1
	for _, rank := range w.near {
		p := &w.peers[rank]
		if p.page == nil {
			continue
		}
		for i := range hazards {
			word := p.page.hazard(i)
			clear := func() bool { return word.Load() != mark || p.lost.Load() != nil }
			for !clear() && !w.engine.PollUntil(clear) {
				marcel.Yield()
			}
			if err := p.evict(rank, func() bool { return word.Load() != mark }); err != nil {
				return err
			}
		}
	}
	return nil
}
