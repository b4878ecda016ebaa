package pio

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
)

// table finds the descriptor that an event of the kernel belongs to. An event carries
// the place and the number of its occupant: one that was taken from the kernel
// before the descriptor was closed, and is looked at after, finds no occupant, or
// another number.
type table struct {
	mu     marcel.Mutex
	places atomic.Pointer[[]atomic.Pointer[descriptor]] // grown by copying, under mu; only the poller reads without
	free   []int32
	serial int32
}

// put gives d a place and a number. The kernel hears of d only afterwards, so that
// the poller that has an event of d finds it.
func (t *table) put(d *descriptor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.free) == 0 {
		t.grow()
	}
	d.place = t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	t.serial++
	d.serial = t.serial
	(*t.places.Load())[d.place].Store(d)
}

// grow doubles the places. A poller that still holds the old slice looks for events
// that it had before, of descriptors which are in both.
func (t *table) grow() {
	var old []atomic.Pointer[descriptor]
	if p := t.places.Load(); p != nil {
		old = *p
	}
	all := make([]atomic.Pointer[descriptor], max(16, 2*len(old)))
	for i := range old {
		all[i].Store(old[i].Load())
	}
	for i := len(all) - 1; i >= len(old); i-- {
		t.free = append(t.free, int32(i))
	}
	t.places.Store(&all)
}

// remove frees d's place.
func (t *table) remove(d *descriptor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	(*t.places.Load())[d.place].Store(nil)
	t.free = append(t.free, d.place)
}

// find returns the descriptor of an event, nil if it is gone.
func (t *table) find(place, serial int32) *descriptor {
	p := t.places.Load()
	if p == nil || place < 0 || int(place) >= len(*p) {
		return nil
	}
	if d := (*p)[place].Load(); d != nil && d.serial == serial {
		return d
	}
	return nil
}

// all returns the descriptors that are there at this moment.
func (t *table) all() []*descriptor {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []*descriptor
	if p := t.places.Load(); p != nil {
		for i := range *p {
			if d := (*p)[i].Load(); d != nil {
				list = append(list, d)
			}
		}
	}
	return list
}
