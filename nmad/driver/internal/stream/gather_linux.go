package stream

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
)

// lowWater makes the kernel gather bytes of the large track before it wakes a sleeper for them: the low-water mark of the
// socket (SO_RCVLOWAT). A long message comes in segments of 64 KiB at most, and a wake for each is dear to a thread that
// computes meanwhile. A poller does not feel the mark, but its peer does: the kernel acknowledges each segment below it at
// once, on the CPU of the sender. So the mark is raised only while a thread sleeps:
//
//	Arm        mark = min(remaining, most); tell the kernel; again 1 if remaining is less by now, or mark is not this any more
//	Pull  remaining = ...; mark above remaining: mark = 1; tell the kernel
//	Disarm     mark = 1; tell the kernel
//
// remaining is what is still to come for sure. Arm and Pull may run beside each other. Both look
// after they wrote, with sequentially consistent atomics, and the one that lowers the mark writes it before it tells
// the kernel: so either Pull sees what Arm has raised, and its word to the kernel is the
// last one or Arm finds the mark changed; or Arm sees the remaining that Pull wrote. Once both have returned the kernel
// has no mark above what the peer is bound to send: the sleeper is woken by the last of it at the
// latest. The kernel also wakes below the mark when its buffer is full, and when
// the connection ends.
type lowWater struct {
	most      int          // bytes; 0: no gathering
	remaining atomic.Int32 // bytes, at most most; Pull writes, Arm reads
	mark      atomic.Int32 // bytes, at least what the kernel has been told last, or is about to be; 0 is 1, too

	// What the kernel is told, in memory: one word for each caller that may tell it.
	raised, lowered, ended int32
}

func (g *lowWater) init(most int) { g.most, g.lowered, g.ended = most, 1, 1 }

// note says how many bytes are still to come. It belongs to the caller of Pull.
func (g *lowWater) note(fd, rest int) {
	if g.most == 0 {
		return
	}
	n := int32(min(rest, g.most))
	if g.remaining.Load() != n {
		g.remaining.Store(n)
	}
	if m := g.mark.Load(); m > max(n, 1) && g.mark.CompareAndSwap(m, 1) {
		raw.LowWater(fd, &g.lowered)
	}
}

// raise is for a caller that is about to sleep. It and lower belong to the caller of Arm and Disarm.
func (g *lowWater) raise(fd int) {
	n := g.remaining.Load()
	if n <= 1 || n == g.mark.Load() {
		return
	}
	g.mark.Store(n)
	g.raised = n
	raw.LowWater(fd, &g.raised)
	if g.remaining.Load() < n || g.mark.Load() != n {
		g.lower(fd)
	}
}

// lower ends what raise began. It tells the kernel also what Pull has told it already,
// which may have been overtaken by raise.
func (g *lowWater) lower(fd int) {
	if g.raised > 1 {
		g.mark.Store(1)
		g.raised = 1
		raw.LowWater(fd, &g.ended)
	}
}
