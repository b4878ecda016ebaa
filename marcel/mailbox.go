package marcel

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/sched"
)

var (
	// ErrClosed: a send to a Mailbox that is closed, or a receive from one that is closed and drained.
	ErrClosed = errors.New("marcel: the mailbox is closed")
	// ErrWouldBlock: a TrySend or TryRecv that would have to wait.
	ErrWouldBlock = errors.New("marcel: it would block")
)

// Mailbox is a bounded queue of messages, as a Go channel is, for threads and goroutines alike. With
// capacity 0 a send waits for its receive.
//
// Messages come out in the order in which they went in. Waiting receivers, and waiting senders, are
// served in order of arrival, and no newcomer overtakes them: a message that is sent while receivers
// wait goes straight to the receiver that has waited longest. After Close sends fail; receives get
// what is left, then fail as well. Unlike a channel's, a send to a closed mailbox is an error and no
// panic, and closing twice does no harm.
//
// In the sense of the Go memory model a send is synchronized before the receive of its message, with capacity 0 or a
// full mailbox also the receive before the end of the send, and Close before whatever fails because of it.
//
// The zero value is open and has capacity 0. It must not be copied after first use.
type Mailbox[T any] struct {
	mu        sched.Spin // guards all but spare
	closed    bool
	n, first  int                       // messages in buf, and the index of the oldest one
	buf       []T                       // a ring
	senders   sched.WaitQueue           // not empty: buf is full, and no receiver waits
	receivers sched.WaitQueue           // not empty: buf is empty, and no sender waits
	spare     atomic.Pointer[parcel[T]] // unused parcels, a stack
}

// parcel is the note of a waiter: the message of a sender, or the place for that of a receiver. Until it wakes the
// waiter, only the thread that has popped it uses the parcel.
type parcel[T any] struct {
	v    T
	ok   bool       // the message has passed; false: closed
	next *parcel[T] // in Mailbox.spare
}

// mostBytes is the largest allocation that the Go runtime can make, in bytes.
const mostBytes = 1 << 48

// NewMailbox returns a mailbox for n messages. It panics if n is negative, or if no address space has room for them.
func NewMailbox[T any](n int) *Mailbox[T] {
	if n < 0 {
		panic(fmt.Sprintf("marcel: a mailbox of capacity %d: it cannot be negative", n))
	}
	if size := reflect.TypeFor[T]().Size(); size > 0 && uint64(n) > mostBytes/uint64(size) {
		panic(fmt.Sprintf("marcel: a mailbox of capacity %d: of messages of %d bytes %d can be", n, size, mostBytes/uint64(size)))
	}
	return &Mailbox[T]{buf: make([]T, n)}
}

// Len returns how many messages are stored; the number may change at once.
func (m *Mailbox[T]) Len() int {
	_ = &m.mu // nil panics here, not while the VP is held
	c := sched.Visit()
	m.mu.Lock()
	n := m.n
	m.mu.Unlock()
	c.Leave()
	return n
}

// Cap returns how many messages can be stored.
func (m *Mailbox[T]) Cap() int { return len(m.buf) }

// Send and Recv stand beside those with a limit: as one function, with a nil limit, a message takes a fifth longer.

// Send sends v, or waits until there is room or, with capacity 0, a receiver. It returns ErrClosed if the mailbox is
// closed, or gets closed while it waits.
func (m *Mailbox[T]) Send(v T) error {
	_ = &m.mu
	c := sched.EnterLibrary()
	m.mu.Lock()
	w, ok := m.put(&v)
	if ok || m.closed {
		return m.endAtOnce(c, w, ok)
	}
	p := m.parcel()
	p.v = v
	c.As(sched.InMailbox).WaitNote(&m.senders, &m.mu, p)
	return m.sendOutcome(p)
}

// TrySend sends v if that is possible at once. If not it returns ErrWouldBlock, or ErrClosed. It never blocks, and
// hooks may call it.
func (m *Mailbox[T]) TrySend(v T) error {
	_ = &m.mu
	c := sched.Visit()
	m.mu.Lock()
	w, ok := m.put(&v)
	if ok || m.closed {
		return m.endAtOnce(c, w, ok)
	}
	m.mu.Unlock()
	c.Leave()
	return ErrWouldBlock
}

// SendTimeout is Send for at most d; then it returns context.DeadlineExceeded, and v has not been sent. If d <= 0 it
// does not wait.
func (m *Mailbox[T]) SendTimeout(v T, d time.Duration) error {
	return m.sendUntil(v, *within(d))
}

// SendContext is Send until ctx is done. It then returns the cause, and has not sent v. If ctx is
// done when SendContext is called, it does not send v even if there is room.
func (m *Mailbox[T]) SendContext(ctx context.Context, v T) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return m.sendUntil(v, sched.Limit{Context: ctx})
}

// sendUntil is Send within lim.
func (m *Mailbox[T]) sendUntil(v T, lim sched.Limit) error {
	_ = &m.mu
	c := sched.EnterLibrary()
	m.mu.Lock()
	w, ok := m.put(&v)
	if ok || m.closed {
		return m.endAtOnce(c, w, ok)
	}
	p := m.parcel()
	p.v = v
	lim.Note = p
	if _, err := c.As(sched.InMailbox).WaitUntil(&m.senders, &m.mu, lim); err != nil {
		m.recycle(p)
		return err
	}
	return m.sendOutcome(p)
}

// put stores *v, or gives it to the receiver that has waited longest, which the caller then wakes. It returns false if
// it can do neither. Under mu.
func (m *Mailbox[T]) put(v *T) (w *sched.Waiter, ok bool) {
	if m.closed {
		return nil, false
	}
	if !m.receivers.Empty() {
		if w = m.receivers.Pop(); w != nil {
			p := w.Note().(*parcel[T])
			p.v, p.ok = *v, true
			return w, true
		}
	}
	if m.n == len(m.buf) {
		return nil, false
	}
	m.store(v)
	return nil, true
}

// store adds *v to buf, which has room. Under mu.
func (m *Mailbox[T]) store(v *T) {
	i := m.first + m.n
	if i >= len(m.buf) {
		i -= len(m.buf)
	}
	m.buf[i] = *v
	m.n++
}

// endAtOnce ends a send or a receive that need not wait: it unlocks mu, wakes w, and leaves. ok: it has succeeded;
// otherwise the mailbox is closed.
func (m *Mailbox[T]) endAtOnce(c *sched.Co, w *sched.Waiter, ok bool) error {
	m.mu.Unlock()
	if w != nil {
		c.Wake(w)
	}
	c.Leave()
	if !ok {
		return ErrClosed
	}
	return nil
}

// sendOutcome ends a send that has waited with parcel p.
func (m *Mailbox[T]) sendOutcome(p *parcel[T]) error {
	ok := p.ok
	m.recycle(p)
	if !ok {
		return ErrClosed
	}
	return nil
}

// Recv receives a message, or waits until there is one. It returns ErrClosed if the mailbox is closed and empty, or
// gets closed while it waits.
func (m *Mailbox[T]) Recv() (v T, err error) {
	_ = &m.mu
	c := sched.EnterLibrary()
	m.mu.Lock()
	w, ok := m.get(&v)
	if ok || m.closed {
		return v, m.endAtOnce(c, w, ok)
	}
	p := m.parcel()
	c.As(sched.InMailbox).WaitNote(&m.receivers, &m.mu, p)
	return m.recvOutcome(p)
}

// TryRecv receives a message if there is one. If not it returns ErrWouldBlock, or ErrClosed. It never blocks, and hooks
// may call it.
func (m *Mailbox[T]) TryRecv() (v T, err error) {
	_ = &m.mu
	c := sched.Visit()
	m.mu.Lock()
	w, ok := m.get(&v)
	if ok || m.closed {
		return v, m.endAtOnce(c, w, ok)
	}
	m.mu.Unlock()
	c.Leave()
	return v, ErrWouldBlock
}

// RecvTimeout is Recv for at most d; then it returns context.DeadlineExceeded. If d <= 0 it does not wait.
func (m *Mailbox[T]) RecvTimeout(d time.Duration) (T, error) {
	return m.recvUntil(*within(d))
}

// RecvContext is Recv until ctx is done: then it returns the cause, also if there is a message.
func (m *Mailbox[T]) RecvContext(ctx context.Context) (v T, err error) {
	if ctx.Err() != nil {
		return v, context.Cause(ctx)
	}
	return m.recvUntil(sched.Limit{Context: ctx})
}

// recvUntil is Recv within lim.
func (m *Mailbox[T]) recvUntil(lim sched.Limit) (v T, err error) {
	_ = &m.mu
	c := sched.EnterLibrary()
	m.mu.Lock()
	w, ok := m.get(&v)
	if ok || m.closed {
		return v, m.endAtOnce(c, w, ok)
	}
	p := m.parcel()
	lim.Note = p
	if _, err := c.As(sched.InMailbox).WaitUntil(&m.receivers, &m.mu, lim); err != nil {
		m.recycle(p)
		return v, err
	}
	return m.recvOutcome(p)
}

// get takes the first message into *v, and stores that of the sender that has waited longest, which the caller then
// wakes. It returns false if there is no message. Under mu.
func (m *Mailbox[T]) get(v *T) (w *sched.Waiter, ok bool) {
	if !m.senders.Empty() {
		w = m.senders.Pop()
	}
	if m.n == 0 {
		if w == nil {
			return nil, false
		}
		p := w.Note().(*parcel[T])
		*v, p.ok = p.v, true
		return w, true
	}
	var none T
	*v, m.buf[m.first] = m.buf[m.first], none
	m.n--
	if m.first++; m.first == len(m.buf) {
		m.first = 0
	}
	if w != nil {
		p := w.Note().(*parcel[T])
		m.store(&p.v)
		p.ok = true
	}
	return w, true
}

// recvOutcome ends a receive that has waited with parcel p.
func (m *Mailbox[T]) recvOutcome(p *parcel[T]) (v T, err error) {
	v = p.v
	if !p.ok {
		err = ErrClosed
	}
	m.recycle(p)
	return v, err
}

// Close closes the mailbox. Sends fail from now on, waiting senders included. Receives get the
// messages that are stored, then fail. It never blocks. Closing again does nothing.
func (m *Mailbox[T]) Close() {
	_ = &m.mu
	c := sched.Visit()
	m.mu.Lock()
	m.closed = true
	s, r := m.senders.PopAll(), m.receivers.PopAll() // ok of their parcels is false
	m.mu.Unlock()
	c.WakeAll(s)
	c.WakeAll(r)
	c.Leave()
}

// All yields messages as Recv does, until the mailbox is closed and empty: for range loops.
func (m *Mailbox[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for {
			if v, err := m.Recv(); err != nil || !yield(v) {
				return
			}
		}
	}
}

// parcel returns an unused parcel. Under mu, so only one thread at a time takes from the stack: while it reads the next
// of the first parcel, no other thread can take that parcel and return it.
func (m *Mailbox[T]) parcel() *parcel[T] {
	for p := m.spare.Load(); p != nil; p = m.spare.Load() {
		if m.spare.CompareAndSwap(p, p.next) { // counterpart: recycle
			return p
		}
	}
	return &parcel[T]{}
}

// recycle keeps a parcel for the next waiter. It may be called without mu.
func (m *Mailbox[T]) recycle(p *parcel[T]) {
	*p = parcel[T]{}
	for {
		p.next = m.spare.Load()
		if m.spare.CompareAndSwap(p.next, p) { // counterpart: parcel
			return
		}
	}
}
