package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// Tags of themes: what ranks tell each other, and the keys of what they put and ask.
const (
	themeTag = 1 << 35 // | theme<<8 | step
	putTag   = 1 << 42
	wellTag  = 1 << 43
	askTag   = 1 << 44 // | stream
	answerOf = 1 << 45 // with askTag: the answer
)

// theme is what a rank does beside the messages, with a package that stands on nmad. Its ranks begin and end together,
// as far as they live.
type theme struct {
	*traffic
	name string
	tag  uint64
	lost []context.Context // by rank: done once that is lost; the cause says how
}

// drawThemes draws which there are. Each has its own dice, so that a seed goes on to mean what it did.
func (p *plan) drawThemes(wanted string) {
	drawn := func(name string, dice uint64) bool {
		return rand.New(rand.NewPCG(p.Seed, dice)).IntN(2) == 0 && wanted == "" || wanted == name || wanted == "all"
	}
	p.OneSided, p.Active = drawn("one-sided", 9), drawn("active", 10)
	rng := rand.New(rand.NewPCG(p.Seed, 11))
	p.Window, p.Medium = 2<<rng.IntN(5), []int{4 << 10, 64 << 10}[rng.IntN(2)]
	p.Flood = 20 + rng.IntN(400)/p.Size
	for range p.Size {
		p.Accesses = append(p.Accesses, accesses[rng.IntN(len(accesses))])
	}
}

// accesses are those of the domains of themes.
var accesses = []nmad.Access{nmad.Shared, nmad.Serialized, nmad.Private}

// times is how often each rank does the same to each.
func (p *plan) times() int { return 3 + p.Messages/4 }

// newTheme begins one. stop ends its look at the gates.
func (t *traffic) newTheme(name string, number uint64) (h *theme, stop func()) {
	h = &theme{traffic: t, name: name, tag: themeTag | number<<8}
	var losses []context.CancelCauseFunc
	for range t.p.Size {
		ctx, cancel := context.WithCancelCause(context.Background())
		h.lost, losses = append(h.lost, ctx), append(losses, cancel)
	}
	monitor := t.s.Monitor(nmad.GateEnded, func(e nmad.Event) {
		if rank := e.Gate.Rank(); e.Gate == t.s.Gate(rank) && rank != t.s.Rank() {
			losses[rank](errors.Join(e.Err, e.Gate.Err()))
		}
	})
	for rank := range t.p.Size {
		if err := t.s.Gate(rank).Err(); err != nil && rank != t.s.Rank() {
			losses[rank](err)
		}
	}
	return h, func() {
		monitor()
		for _, cancel := range losses {
			cancel(context.Canceled)
		}
	}
}

// isLost reports whether a rank is lost.
func (h *theme) isLost(rank int) bool { return h.lost[rank].Err() != nil }

// failed is book.failed. What the victim lacks, such as memory, is no error of a peer.
func (h *theme) failed(what string, peer int, began time.Time, err error) bool {
	if err != nil && h.lacks() && !errors.Is(err, nmad.ErrPeerLost) {
		return true
	}
	if h.s.Rank() == h.p.Victim && h.p.loses() && (errors.Is(err, rma.ErrKey) || errors.Is(err, rma.ErrClosed)) {
		return true // the others have lost it before it has lost them, and their memory is closed
	}
	return h.b.failed(h.name+" "+what, peer, began, err)
}

// lacks says that this rank is the victim, and may fail by itself.
func (h *theme) lacks() bool { return h.s.Rank() == h.p.Victim && h.p.scarce() }

// scarce says that the victim lacks memory, or descriptors.
func (p *plan) scarce() bool {
	return p.Kind == memory || p.Kind == cgroup || p.Kind == files || p.Kind == hoard
}

// others calls f for each other rank.
func (h *theme) others(f func(peer int)) {
	for peer := range h.p.Size {
		if peer != h.s.Rank() {
			f(peer)
		}
	}
}

// mostTold is how long what a rank tells may be, in bytes.
const mostTold = 64 << 10

// gather tells each other rank something, waits for what each of them tells, and returns it by rank; nil: of one that
// is lost, and of this one.
func gather[T any](h *theme, step uint64, give func(peer int) T) []*T {
	began := time.Now()
	type end struct {
		in, out *nmad.Request
		buf     []byte
	}
	ends, told := make([]end, h.p.Size), make([]*T, h.p.Size)
	h.others(func(peer int) {
		text, err := json.Marshal(give(peer))
		if err != nil {
			h.b.bad("%s: %v", h.name, err)
		}
		g, buf := h.s.Gate(peer), make([]byte, mostTold)
		ends[peer] = end{g.Irecv(h.tag|step, buf), g.Isend(h.tag|step, text), buf}
	})
	h.others(func(peer int) {
		x := ends[peer]
		err := x.in.Wait()
		h.failed("told", peer, began, x.out.Wait())
		if h.failed("gather", peer, began, err) {
			return
		}
		value := new(T)
		if err := json.Unmarshal(x.buf[:x.in.Len()], value); err != nil {
			h.b.bad("%s, what rank %d tells in step %d: %v", h.name, peer, step, err)
			return
		}
		told[peer] = value
	})
	return told
}

// agreed reports whether all ranks that live say yes, this rank included. They say it twice: a victim whose links break
// one by one says no to some ranks only, and these tell the others. What the victim says to a rank the second time, it
// has said to that rank before, or has heard from a rank that tells all.
func (h *theme) agreed(step uint64, yes bool) bool {
	for _, s := range []uint64{step, step | repeated} {
		for _, other := range gather(h, s, func(int) bool { return yes }) {
			yes = yes && (other == nil || *other)
		}
	}
	return yes
}

// repeated is of a step: it is said a second time.
const repeated = 1 << 6

// patience is how long what has been sent takes to come at most, in the absence of faults, before that is wrong.
const patience = 20 * time.Second

// until waits until is returns true, and polls meanwhile. It returns false if the rank was lost before, or if what is
// waited for does not come, which is wrong.
func (h *theme) until(what string, rank int, poll func(), is func() bool) bool {
	for began := time.Now(); !is(); {
		if time.Since(began) > patience {
			h.b.bad("%s: %s of rank %d do not come", h.name, what, rank)
			return false
		}
		if h.isLost(rank) {
			return is()
		}
		poll()
		marcel.Sleep(500 * time.Microsecond)
	}
	return true
}

// again says that what has failed for the loss of a rank goes on failing. A mapped target may be told of a moment later
// than its gate.
func (h *theme) again(what string, peer int, f func() error) {
	began := time.Now()
	for err := error(nil); time.Since(began) < 20*time.Second; marcel.Sleep(time.Millisecond) {
		if err = f(); err != nil {
			h.failed(what+" again", peer, began, err)
			return
		}
	}
	h.b.bad("%s: %s with rank %d has failed, and goes on to succeed", h.name, what, peer)
}

// unexplained says that a collective call has failed, and not for the loss of a process: the victim may have lacked
// something.
func (h *theme) unexplained(err error) bool {
	return !errors.Is(err, nmad.ErrPeerLost) && !(h.p.scarce() && errors.Is(err, rma.ErrSize))
}

// collective notes how a collective call has ended, and reports whether it has failed. The error names the process that
// was lost.
func (h *theme) collective(what string, began time.Time, err error) bool {
	if err != nil && h.p.scarce() && !h.unexplained(err) && !errors.Is(err, nmad.ErrPeerLost) {
		return true
	}
	if err != nil && h.p.Kind == cut && strings.Contains(err.Error(), "which takes part in the collective calls, says so") {
		return true // the victim has lost that one, or that one the victim
	}
	return h.failed(what, h.p.Victim, began, err)
}

// differs says where bytes are not what they are to be; below 0: nowhere.
func differs(got, want []byte) int {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return i
		}
	}
	if len(got) > len(want) {
		return len(want)
	}
	return -1
}

// guarded says which of the canaries was overwritten; empty: none.
func guarded(b []byte) string {
	for i, x := range b {
		if x != canaryByte {
			return fmt.Sprintf("byte %d of %d is %#x", i, len(b), x)
		}
	}
	return ""
}

// fillCanaries fills bytes that nothing may write.
func fillCanaries(b []byte) {
	for i := range b {
		b[i] = canaryByte
	}
}
