package flow

// linked is a *T that can be an element of a fifo: link returns the address of its pointer to the next element.
type linked[T any] interface {
	*T
	link() **T
}

// fifo is a first-in-first-out queue, linked through its elements. An element is in one queue at a time.
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

// pop takes out the oldest element; nil if there is none.
func (fi *fifo[T, P]) pop() *T {
	x := fi.head
	if x != nil {
		next := P(x).link()
		fi.head, *next = *next, nil
	}
	return x
}

// prepend moves all elements of x to the front of fi.
func (fi *fifo[T, P]) prepend(x *fifo[T, P]) {
	if x.head == nil {
		return
	}
	if *P(x.tail).link() = fi.head; fi.head == nil {
		fi.tail = x.tail
	}
	fi.head, x.head = x.head, nil
}
