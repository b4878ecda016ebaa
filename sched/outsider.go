package sched

import "sync"

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

// outsiders are the Waiters of goroutines that wait for nothing.
var outsiders freeList[Waiter]

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
	w := outsiders.get()
	if w == nil {
		w = &Waiter{note: &outsider{ch: make(chan struct{}, 1)}}
	}
	o := w.note.(*outsider)
	o.note = note
	push(w)
	mu.Unlock()
	<-o.ch
	given, w.given, o.note = w.given, false, nil
	outsiders.put(w)
	return given
}
