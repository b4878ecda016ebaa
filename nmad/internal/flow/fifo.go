package flow

// linked is a *T that has room for the next one of its queue.
type linked[T any] interface {
	*T
	link() **T
}

// fifo is a first-in-first-out queue. What is in it is in no other one.
type fifo[T any, P linked[T]] struct{ head, tail *T }

func (q *fifo[T, P]) empty() bool { return q.head == nil }

func (q *fifo[T, P]) push(x *T) {
	*P(x).link() = nil
	if q.head == nil {
		q.head = x
	} else {
		*P(q.tail).link() = x
	}
	q.tail = x
}

// pop takes the oldest; nil: there is none.
func (q *fifo[T, P]) pop() *T {
	x := q.head
	if x != nil {
		next := P(x).link()
		q.head, *next = *next, nil
	}
	return x
}

// prepend puts all of x before what is there, and empties x.
func (q *fifo[T, P]) prepend(x *fifo[T, P]) {
	if x.head == nil {
		return
	}
	if *P(x.tail).link() = q.head; q.head == nil {
		q.tail = x.tail
	}
	q.head, x.head = x.head, nil
}
