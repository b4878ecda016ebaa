package tasklet

// list is a queue, first in, first out, linked through the tasklets themselves.
type list struct {
	first, last *Tasklet
	count       int
}

func (l *list) append(t *Tasklet) {
	t.next = nil
	l.join(t, t, 1)
}

// join adds a chain of count tasklets that ends in last, whose next is nil.
func (l *list) join(first, last *Tasklet, count int) {
	if l.last == nil {
		l.first = first
	} else {
		l.last.next = first
	}
	l.last = last
	l.count += count
}

// pop takes the first one out, nil if there is none. Its next is nil then: what it
// pointed to must not live as long as it does.
func (l *list) pop() *Tasklet {
	t := l.first
	if t == nil {
		return nil
	}
	l.first, t.next = t.next, nil
	if l.first == nil {
		l.last = nil
	}
	l.count--
	return t
}
