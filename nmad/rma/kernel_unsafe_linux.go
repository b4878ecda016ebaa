package rma

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
)

// Whether the kernel copies between this process and another one.
const (
	kernelUnknown int32 = iota
	kernelCopies
	kernelRefuses
)

// copyMost is how much one call of the kernel copies, in bytes: what closes the memory waits for that long at most.
const copyMost = 8 << 20

// asideBytes is how much is copied by way of memory of our own, where the addresses lie so that the processor is slow; see asm.JustAhead.
const asideBytes = 32 << 10

// call is the vectors of one call: the kernel reads them, so they are on the heap.
type call struct {
	mine   unix.Iovec
	theirs struct{ base, size uintptr } // the same, with an address that is none of ours
	aside  []byte
}

var kernelCalls = sync.Pool{New: func() any { return &call{} }}

// copy has the kernel copy all of buf from, or to, an address of a process. It says whether it has.
func (c *call) copy(number uintptr, pid uint32, buf []byte, at uint64) bool {
	defer func() { c.mine.Base = nil }()
	for len(buf) > 0 {
		b := buf[:min(len(buf), copyMost)]
		from, to := addressOf(b), at
		if number == unix.SYS_PROCESS_VM_READV {
			from, to = to, from
		}
		aside := asm.JustAhead(to, from)
		if aside {
			b = c.asideAs(at, len(b))
			if number == unix.SYS_PROCESS_VM_WRITEV {
				copy(b, buf)
			}
		}
		c.mine.Base = unsafe.SliceData(b)
		c.mine.SetLen(len(b))
		c.theirs.base, c.theirs.size = uintptr(at), uintptr(len(b))
		done, _, errno := syscall.Syscall6(number, uintptr(pid), uintptr(unsafe.Pointer(&c.mine)), 1, uintptr(unsafe.Pointer(&c.theirs)), 1, 0)
		if errno != 0 || done == 0 || done > uintptr(len(b)) {
			return false
		}
		if aside && number == unix.SYS_PROCESS_VM_READV {
			copy(buf, b[:done])
		}
		buf, at = buf[done:], at+uint64(done)
	}
	return true
}

// asideAs gives memory of up to n bytes that lies in its page as that address does.
func (c *call) asideAs(at uint64, n int) []byte {
	if c.aside == nil {
		c.aside = make([]byte, asideBytes+pageBytes)
	}
	return c.aside[(at-addressOf(c.aside))%pageBytes:][:min(n, asideBytes)]
}

// kernelMove has the kernel copy to (puts), or from, memory of another process of the host that is not mapped. It says whether all is done; else it goes by messages. The owner does not take its memory back meanwhile: this process writes
// into its page what it uses, and then looks whether that is live; the owner writes that it is not, and then looks at these words.
func (w *World) kernelMove(x deed, r *region, buf []byte, puts bool) (done, stale bool) {
	p := &w.peers[x.at.rank]
	if r.at == 0 || p.kernel.Load() != kernelCopies {
		return false, false
	}
	own, mark := w.peers[w.rank].page, uint64(x.at.rank)<<32|uint64(x.at.index)+1
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
	number := uintptr(unix.SYS_PROCESS_VM_READV)
	if puts {
		number = unix.SYS_PROCESS_VM_WRITEV
	}
	c := kernelCalls.Get().(*call)
	defer kernelCalls.Put(c)
	return c.copy(number, p.pid, buf, r.at+x.at.offset), false
}

// kernelCopies says whether the kernel copies between this process and another one of the host, whose page lies at that address there. It finds out by a real read and a real write, once.
func (w *World) kernelCopies(p *peer, address uint64) bool {
	if k := p.kernel.Load(); k != kernelUnknown || w.options.refuses {
		return k == kernelCopies
	}
	c := &call{}
	p.kernel.Store(kernelRefuses)
	cookie := make([]byte, cookieBytes)
	if !c.copy(unix.SYS_PROCESS_VM_READV, p.pid, cookie, address-pageBytes) || string(cookie) != string(p.page.cookie()) {
		return false
	}
	for range 8 { // others may probe at the same time
		b := make([]byte, 8)
		mark := rand.Uint64()
		*(*uint64)(unsafe.Pointer(&b[0])) = mark
		if !c.copy(unix.SYS_PROCESS_VM_WRITEV, p.pid, b, address+scratchAt) {
			return false
		}
		if p.page.word(scratchAt).Load() == mark {
			p.kernel.Store(kernelCopies)
			return true
		}
	}
	return false
}

// awaitHazards waits until no other process of the host has the kernel copy in the memory of that index. It lets other threads run.
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
