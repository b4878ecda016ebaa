package flow

// linked is a *T that has room for the next one of its queue.
type linked[T any] interface {
	*T
	link() **T
}

// fifo is a first-in-first-out queue. What is in it is in no other one.
type fifo[T any, P linked[T]] struct{ head, tail *T }

func (fi *fifo[T, P]) empty() bool { return fi.head == nil }

func (fi *fifo[T, P]) push(x *T) {
	*P(x).link() = nil
	if fi.head == nil {
		fi.head = x
	} else {
		*P(fi.tail).link() = x
	}
	fi.tail = x
}

// pop takes the oldest; nil: there is none.
func (fi *fifo[T, P]) pop() *T {
	x := fi.head
	if x != nil {
		next := P(x).link()
		fi.head, *next = *next, nil
	}
	return x
}

// prepend puts all of x before what is there, and empties x.
func (fi *fifo[T, P]) prepend(x *fifo[T, P]) {
	if x.head == nil {
		return
	}
	if *P(x.tail).link() = fi.head; fi.head == nil {
		fi.tail = x.tail
	}
	fi.head, x.head = x.head, nil
}
