package pioman

import "sync/atomic"

// submissions is the lock-free list beside a queue: any number of producers, one
// consumer, who takes all of it at once. A Treiber stack; since nobody ever
// pops a single node, it has no ABA problem. A push takes effect at its
// compare-and-swap, a takeAll at its swap.
type submissions struct {
	head atomic.Pointer[Task] // newest first; producers write, the consumer swaps
}

// push adds a task. Never blocks; repeats while other producers get in between.
func (s *submissions) push(t *Task) {
	for {
		h := s.head.Load()
		t.next = h
		if s.head.CompareAndSwap(h, t) {
			return
		}
	}
}

// empty is one load.
func (s *submissions) empty() bool { return s.head.Load() == nil }

// takeAll empties the list and returns it oldest first, linked by next. It writes the line, also if there is nothing.
func (s *submissions) takeAll() *Task {
	t := s.head.Swap(nil)
	if t == nil || t.next == nil {
		return t
	}
	var first *Task
	for t != nil {
		older := t.next
		t.next = first
		first, t = t, older
	}
	return first
}
