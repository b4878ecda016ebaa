package marcel

import "github.com/pm2-go/pm2/sched"

// Receiver is the case "Recv" of a mailbox. It is made once and may be used by one Select at a time, again and again.
type Receiver[T any] struct {
	_       [0]sched.Spin // go vet reports copies
	Value   T             // the message, once the case has been taken
	OK      bool          // false: the mailbox is closed and empty
	mailbox *Mailbox[T]
	parcel  parcel[T]
}

// Receiver returns a case that can be taken when Recv would not wait: there is a message, or the mailbox is closed and
// empty. Then Value and OK say what came.
func (m *Mailbox[T]) Receiver() *Receiver[T] {
	_ = &m.mu
	return &Receiver[T]{mailbox: m}
}

// Try is for Select.
func (r *Receiver[T]) Try() bool {
	v, err := r.mailbox.TryRecv()
	if err == ErrWouldBlock {
		return false
	}
	r.Value, r.OK = v, err == nil
	return true
}

// Enlist is for Select.
func (r *Receiver[T]) Enlist(w *sched.Waiter) bool {
	m := r.mailbox
	w.SetNote(&r.parcel)
	return enlist(&m.receivers, &m.mu, w, func() bool { return m.n == 0 && !m.closed && !calls.Others(&m.senders, w) })
}

// Withdraw is for Select.
func (r *Receiver[T]) Withdraw(w *sched.Waiter) {
	withdraw(&r.mailbox.receivers, &r.mailbox.mu, w)
	w.SetNote(nil)
}

// Taken is for Select.
func (r *Receiver[T]) Taken(*sched.Waiter) bool {
	r.Value, r.OK = r.parcel.v, r.parcel.ok
	r.parcel = parcel[T]{}
	return true
}

// Sender is the case "Send" of a mailbox. It is made once and may be used by one Select at a time, again and again.
type Sender[T any] struct {
	_       [0]sched.Spin // go vet reports copies
	Value   T             // what is to be sent
	Err     error         // ErrClosed if the case was taken because the mailbox is closed
	mailbox *Mailbox[T]
	parcel  parcel[T]
}

// Sender returns a case that can be taken when Send would not wait: there is room, or a receiver, or the mailbox is
// closed. It sends v, or whatever Value is when Select is called.
func (m *Mailbox[T]) Sender(v T) *Sender[T] {
	_ = &m.mu
	return &Sender[T]{Value: v, mailbox: m}
}

// Try is for Select.
func (s *Sender[T]) Try() bool {
	err := s.mailbox.TrySend(s.Value)
	if err == ErrWouldBlock {
		return false
	}
	s.Err = err
	return true
}

// Enlist is for Select.
func (s *Sender[T]) Enlist(w *sched.Waiter) bool {
	m := s.mailbox
	s.parcel.v = s.Value
	w.SetNote(&s.parcel)
	return enlist(&m.senders, &m.mu, w, func() bool { return m.n == len(m.buf) && !m.closed && !calls.Others(&m.receivers, w) })
}

// Withdraw is for Select.
func (s *Sender[T]) Withdraw(w *sched.Waiter) {
	withdraw(&s.mailbox.senders, &s.mailbox.mu, w)
	w.SetNote(nil)
}

// Taken is for Select.
func (s *Sender[T]) Taken(*sched.Waiter) bool {
	s.Err = nil
	if !s.parcel.ok {
		s.Err = ErrClosed
	}
	s.parcel = parcel[T]{}
	return true
}
