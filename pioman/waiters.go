package pioman

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// Reason says what a waiter waits for, as numbers that its kind turns into a text: so a wait makes some stores, and
// allocates nothing. The zero value gives no reason.
type Reason struct {
	Kind  *ReasonKind // nil: no reason
	Words [4]uint64   // arguments of the text
}

// ReasonKind is a kind of reasons; NewReasonKind makes one.
type ReasonKind struct {
	number uint64 // from 1
	text   func(words [4]uint64) string
}

// reasonKinds are all kinds, each at its number; number 0 stands for no reason.
var reasonKinds struct {
	mu  spinLock
	all atomic.Pointer[[]*ReasonKind]
}

// NewReasonKind makes a kind, for a variable of a package: it is never freed. text makes the text of a Reason from its
// Words. Any thread may call it, perhaps after the wait has ended, or while the waiter changes the words: it must
// accept any numbers.
func NewReasonKind(text func(words [4]uint64) string) *ReasonKind {
	r := &reasonKinds
	r.mu.lock()
	defer r.mu.unlock()
	all := []*ReasonKind{nil}
	if l := r.all.Load(); l != nil {
		all = *l
	}
	k := &ReasonKind{number: uint64(len(all)), text: text}
	all = append(all[:len(all):len(all)], k)
	r.all.Store(&all)
	return k
}

// Waiter is a thread, or a goroutine, that waits for a Completion and does not poll any more.
type Waiter struct {
	Thread uint64        // its number (sched.Thread.ID); 0: a plain goroutine
	Time   time.Duration // how long it has waited
	Kind   *ReasonKind   // of its Reason; nil: it gives none
	Text   string        // of its Reason; "" without a Kind
}

// Waiters lists the waiters of the process, of all engines. A waiter whose wait begins or ends during the call may be
// in the list or not. Waiters takes no lock, and does not disturb the waiters.
func Waiters() []Waiter {
	var all []Waiter
	now := asm.Cycles()
	for _, b := range parking.blocks() {
		for i := range b {
			p := &b[i]
			since := int64(p.since.Load())
			if since == 0 {
				continue
			}
			w := Waiter{Thread: p.thread.Load(), Time: time.Duration(asm.Nanos(max(now-since, 0)))}
			if number := p.kind.Load(); number != 0 {
				var words [4]uint64
				for j := range words {
					words[j] = p.words[j].Load()
				}
				w.Kind = (*reasonKinds.all.Load())[number]
				w.Text = w.Kind.text(words)
			}
			all = append(all, w)
		}
	}
	return all
}

// note makes the waiter that has just taken p visible to Waiters.
func (p *parker) note(why *Reason, now int64) {
	kind := uint64(0)
	if why.Kind != nil {
		kind = why.Kind.number
		for i, w := range why.Words {
			asm.StoreRelease64(&p.words[i], w)
		}
	}
	asm.StoreRelease64(&p.kind, kind)
	asm.StoreRelease64(&p.thread, sched.Self().ID())
	asm.StoreRelease64(&p.since, uint64(now))
}

// unnote ends note.
func (p *parker) unnote() { asm.StoreRelease64(&p.since, 0) }
