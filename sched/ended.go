package sched

// WatchEnd puts w, a node of a Group, among those that wait for the thread's end;
// false: it has ended. UnwatchEnd is to follow. For a thread that watches
// itself that never comes.
func (h Thread) WatchEnd(w *Waiter) bool {
	if h.Ended() {
		return false
	}
	_ = &w.t // nil panics here, while nothing is held
	c := Visit()
	alive := h.t.life(h.gen)
	if alive {
		h.t.joiners.push(w)
	}
	h.t.mu.Unlock()
	c.Leave()
	return alive
}

// UnwatchEnd takes w out of the line, if it is still in. The descriptor may
// serve another thread by now.
func (h Thread) UnwatchEnd(w *Waiter) {
	_, _ = &h.t.mu, &w.t // nil panics here
	c := Visit()
	h.t.mu.Lock()
	h.t.joiners.remove(w)
	h.t.mu.Unlock()
	c.Leave()
}
