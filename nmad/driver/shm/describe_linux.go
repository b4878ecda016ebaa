package shm

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/pm2-go/pm2/nmad/driver/internal/life"
	"github.com/pm2-go/pm2/nmad/driver/internal/relaxed"
)

var _ fmt.Stringer = (*link)(nil)

// String describes the link, to find out why a thread still sleeps: the flags and rings as they are in the segment now,
// what this side knows of them, the doorbells, and what the descriptors really are. Only a thread that keeps all others
// from the calls of the link may call it. It changes nothing.
func (l *link) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "\n\t"+format, args...) }
	fmt.Fprintf(&b, "shm link to rank %d, state %s", l.Rank, stateText(l.State.Load()))
	if l.State.Load()&life.Closed != 0 {
		return b.String() // its memory is not the segment any more
	}
	line("this side: %v; the other: %v", l.ownFlags, l.peerFlags)
	line("packets in: %s", &l.smallRx)
	line("packets out: %s", &l.smallTx)
	line("large in: %s", &l.largeRx)
	line("large out: %s", &l.largeTx)
	line("rings for the other side: %d by Send, %d by Recv, %d by Push, %d by Pull", l.sendDir.rings, l.recvDir.rings, l.pushDir.rings, l.pullDir.rings)
	if l.Enter(life.Arm) {
		line("doorbell %s", descriptor(l.bell))
		line("doorbell of the other side %s", descriptor(l.peerBell))
		line("socket %s", descriptor(l.sock))
		line("epoll set %s", descriptor(l.epoll))
		l.Leave(life.Arm)
	}
	runtime.KeepAlive(l)
	return b.String()
}

// stateText returns the names of the bits of a state.
func stateText(s uint32) string {
	var bits []string
	for i, name := range []string{"closed", "broken", "lost", "to look at the socket"} {
		if s>>i&1 != 0 {
			bits = append(bits, name)
		}
	}
	if bits == nil {
		return "well"
	}
	return strings.Join(bits, ", ")
}

func (f *flags) String() string {
	return fmt.Sprintf("sleeping %d, wantRoom %d", f.sleeping.Load(), f.wantRoom.Load())
}

func (sr *smallRecv) String() string {
	head := relaxed.Load(&sr.head)
	w := sr.cells[head&uint64(len(sr.cells)-1)].ready.Load()
	return fmt.Sprintf("%d received, %d of them released; the next is there: %v (ready word %#x, lap %#x)",
		head, sr.credit.cells.Load(), sr.ready(), w, lap(head, sr.shift))
}

func (ss *smallSend) String() string {
	out := fmt.Sprintf("%d sent, %d of them released; bodies up to %d, released up to %d", ss.tail, ss.credit.cells.Load(), ss.bytes, ss.credit.bytes.Load())
	if relaxed.Load(&ss.refused) != 0 {
		out += fmt.Sprintf("; refused until %d and %d are released: still so: %v", relaxed.Load(&ss.wantCells), relaxed.Load(&ss.wantBytes), ss.waiting())
	}
	return out
}

func (lr *largeRecv) String() string {
	head := relaxed.Load(&lr.head)
	w := &lr.words[head&uint64(len(lr.words)-1)]
	out := fmt.Sprintf("%d slots received, %d of them released; the next is there: %v (ready word %#x, lap %#x)",
		head, lr.slotCredit.slots.Load(), lr.ready(), w.ready.Load(), slotLap(head, lr.shift))
	if waits := relaxed.Load(&lr.waitsFor); waits != 0 {
		out += fmt.Sprintf("; an offer waits for %d: pieces %#x, written %#x", waits, relaxed.Load(&lr.needWritten), w.written.Load())
	}
	return out
}

func (ls *largeSend) String() string {
	out := fmt.Sprintf("%d slots sent, %d of them released", ls.tail, ls.slotCredit.slots.Load())
	if relaxed.Load(&ls.refused) != 0 {
		out += fmt.Sprintf("; refused until %d are released", relaxed.Load(&ls.wantSlots))
		if offer := relaxed.Load(&ls.offer); offer != 0 {
			out = fmt.Sprintf("%s, or of offer %d more is fetched than %d (it is %d), or it is declined (%d is)", out, offer, relaxed.Load(&ls.fetchedSeen), ls.slotCredit.fetched.Load(), ls.slotCredit.declined.Load())
		}
		out += fmt.Sprintf(": still so: %v", ls.waiting())
	}
	return out
}

// descriptor says what the kernel takes fd for, and what belongs to it. The two ends of a doorbell have the same
// number there.
func descriptor(fd int) string {
	is, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return fmt.Sprintf("%d: %v", fd, err)
	}
	out := fmt.Sprintf("%d: %s", fd, is)
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return out
	}
	for l := range strings.Lines(string(info)) {
		if strings.HasPrefix(l, "eventfd-count") || strings.HasPrefix(l, "eventfd-id") || strings.HasPrefix(l, "tfd") {
			out += "; " + strings.Join(strings.Fields(l), " ")
		}
	}
	return out
}
