package stream

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
)

// lowWater makes the kernel gather bytes of the large track before it wakes a sleeper for them: the low-water mark
// of the socket (SO_RCVLOWAT). A long message comes in segments of at most 64 KiB, and a wake-up for each is
// expensive for a thread that computes meanwhile. The mark does not matter to a poller, but it does to the sender:
// the kernel acknowledges each segment below the mark at once, on the sender's CPU. So the mark is raised only
// while a thread sleeps:
//
//	Arm     mark = min(remaining, maxMark); set it in the kernel; lower it if remaining is less by now, or mark has changed
//	Pull    remaining = ...; if mark is above remaining: mark = 1; set it in the kernel
//	Disarm  mark = 1; set it in the kernel
//
// remaining is what is certain to come. Arm and Pull may run at the same time. Each looks at the other's word
// after it has written its own, with sequentially consistent atomics, and the one that lowers the mark writes mark
// before it calls the kernel. So there are two cases. Pull sees the mark that Arm has raised: then either Pull's
// call of the kernel is the last one, or Arm finds the mark changed. Or Arm sees the remaining that Pull has
// written. Once both have returned, the mark in the kernel is not above what the peer is bound to send, and the
// last bytes wake the sleeper at the latest. The kernel also wakes the sleeper below the mark when its buffer is
// full, and when the connection ends.
type lowWater struct {
	maxMark   int          // bytes; 0: the mark is never raised
	remaining atomic.Int32 // bytes, at most maxMark; Pull writes, Arm reads
	mark      atomic.Int32 // bytes; at least what the kernel was told last, or is about to be told; 0 means 1

	// What the kernel is told, in memory: one word for each caller that may tell it.
	raised, lowered, ended int32
}

func (g *lowWater) init(maxMark int) { g.maxMark, g.lowered, g.ended = maxMark, 1, 1 }

// setRemaining notes how many bytes are certain to come. It belongs to the caller of Pull.
func (g *lowWater) setRemaining(fd, rest int) {
	if g.maxMark == 0 {
		return
	}
	n := int32(min(rest, g.maxMark))
	if g.remaining.Load() != n {
		g.remaining.Store(n)
	}
	if m := g.mark.Load(); m > max(n, 1) && g.mark.CompareAndSwap(m, 1) {
		raw.LowWater(fd, &g.lowered)
	}
}

// raise raises the mark for a caller that is about to sleep. raise and lower belong to the caller of Arm and
// Disarm.
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

// lower ends what raise began. It sets the mark in the kernel even if Pull has done so, because raise may have
// overtaken Pull.
func (g *lowWater) lower(fd int) {
	if g.raised > 1 {
		g.mark.Store(1)
		g.raised = 1
		raw.LowWater(fd, &g.ended)
	}
}
