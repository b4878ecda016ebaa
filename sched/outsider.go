package sched

import (
	"sync"

	"github.com/pm2-go/pm2/asm"
)

// outsider is what a goroutine's Waiter has besides.
type outsider struct {
	ch    chan struct{} // of capacity 1, so that waking never blocks
	latch *sync.Mutex   // in a synctest bubble, instead of ch: see synctest.go
	note  any
}

func (o *outsider) wake() {
	if o.latch != nil {
		o.latch.Unlock()
	} else {
		o.ch <- struct{}{}
	}
}

// outsiders are the Waiters of goroutines that wait for nothing, by CPU. They are taken under a Spin,
// so a sync.Pool would not do: it takes a mutex now and then, which a thread may hold that was preempted, on a VP
// where another one waits for that Spin.
var outsiders [8]struct {
	mu   Spin
	free *Waiter // linked by next
	n    int
	_    [104]byte
}

// keptOutsiders bounds what is kept by each.
const keptOutsiders = 256

func takeOutsider() *Waiter {
	p := &outsiders[uint(asm.CPU())%uint(len(outsiders))]
	p.mu.Lock()
	w := p.free
	if w != nil {
		p.free, w.next = w.next, nil
		p.n--
	}
	p.mu.Unlock()
	if w == nil {
		w = &Waiter{note: &outsider{ch: make(chan struct{}, 1)}}
	}
	return w
}

func (w *Waiter) keep() {
	p := &outsiders[uint(asm.CPU())%uint(len(outsiders))]
	p.mu.Lock()
	if p.n < keptOutsiders {
		w.next, p.free = p.free, w
		p.n++
	}
	p.mu.Unlock()
}

// waitOutside is Wait for a goroutine.
func waitOutside(q *WaitQueue, mu *Spin, push func(*Waiter), note any) (given bool) {
	if inBubble() {
		o := &outsider{latch: latched(), note: note}
		w := &Waiter{note: o}
		push(w)
		mu.Unlock()
		o.latch.Lock()
		return w.given
	}
	w := takeOutsider()
	o := w.note.(*outsider)
	o.note = note
	push(w)
	mu.Unlock()
	<-o.ch
	given, w.given, o.note = w.given, false, nil
	w.keep()
	return given
}
