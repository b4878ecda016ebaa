package stream

import "github.com/pm2-go/pm2/nmad/driver/internal/raw"

// gathering has the kernel gather bytes of the large track before it wakes whoever sleeps
// for them: the low-water mark of the socket (SO_RCVLOWAT). A long message comes in segments of
// 64 KiB at most, and a wake for each is dear to who computes meanwhile. Polling does not feel
// the mark: a read brings what is there.
//
//	mark = 1 ── nothing there, rest bytes are still to come ──▶ mark = min(rest, most)
//	mark     ── read, and fewer than mark are still to come ──▶ mark = max(rest, 1)
//
// So between two calls of PullLarge the mark is never above what the peer is bound to send,
// and whoever sleeps, since before them or after, is woken by the last of it at the latest. The
// kernel sees to the rest: it wakes below the mark when its buffer is full, and when the
// connection ends.
//
// It belongs to the caller of PullLarge.
type gathering struct {
	most int   // bytes; 0: no gathering
	mark int32 // bytes, as the kernel has been told
}

func (g *gathering) init(most int) { g.most, g.mark = most, 1 }

// outdated says whether the kernel is to be told of another mark: rest bytes are still to come for sure,
// and a read has just found nothing, or something.
func (g *gathering) outdated(rest int, nothing bool) bool {
	want := int32(max(min(rest, g.most), 1))
	if want == g.mark || want > g.mark && !nothing {
		return false
	}
	g.mark = want
	return true
}

// tell tells the kernel. A refusal leaves an older mark in place, which is lower when the
// mark goes up; down it goes without.
func (g *gathering) tell(fd int) { raw.LowWater(fd, &g.mark) }
