package pioman

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// Reason says what a waiter waits for, in words that its kind turns into a text: so a wait costs some stores, and
// allocates nothing. The zero value says nothing.
type Reason struct {
	Kind  *ReasonKind
	Words [4]uint64
}

// ReasonKind is a kind of reasons; NewReasonKind makes one.
type ReasonKind struct {
	number uint64
	text   func(words [4]uint64) string
}

// reasonKinds are all kinds, each at its number; 0 is of waiters that give no reason.
var reasonKinds struct {
	mu  latch
	all atomic.Pointer[[]*ReasonKind]
}

// NewReasonKind makes a kind whose reasons text explains, for a variable of a package: it is never freed. text is called
// by any thread, perhaps after the wait has ended, and must take any words: the waiter may change them meanwhile.
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
	Kind   *ReasonKind   // nil: it has given no reason
	Text   string        // what it waits for; "" without a Kind
}

// Waiters lists those of the process, of all engines. One that begins or ends to wait during the call may be in the list
// or not. It takes no lock, and costs them nothing.
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

// note says for what the waiter that has just taken p waits.
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
