package marcel

import "github.com/pm2-go/pm2/sched"

// Key gives each thread a value of its own: POSIX thread-specific data. The zero value is a key without a destructor;
// NewKey makes a key that has one. All methods act on the value of the calling thread, which no other thread sees; they
// do not block. The first Set of a thread allocates, later ones do not. A key must not be copied after first use.
type Key[T any] struct {
	_       [0]sched.Spin // go vet reports copies
	destroy func(T)
	id      byte // its address identifies the key to the scheduler
}

// cell is a thread's value of one key.
type cell[T any] struct {
	v   T
	set bool
}

// NewKey returns a key with a destructor. When a thread ends that has a value, the thread calls destroy with it, after
// its at-exit callbacks, in the order in which the keys were first set. By then Get finds no value. If destructors set
// values again, these are destroyed as well, in four rounds at most.
func NewKey[T any](destroy func(T)) *Key[T] { return &Key[T]{destroy: destroy} }

// Get returns the calling thread's value; ok is false if it has none, or if the caller is a plain goroutine.
func (key *Key[T]) Get() (v T, ok bool) {
	if p := key.own(); p != nil {
		v, ok = p.v, p.set
	}
	return v, ok
}

// Set sets the calling thread's value; the former one is not destroyed. On a plain goroutine it returns ErrNotThread.
func (key *Key[T]) Set(v T) error {
	p := key.own()
	if p == nil {
		p = &cell[T]{}
		if err := calls.SetLocal(&key.id, p, func() func() { return key.drop(p) }); err != nil {
			return err
		}
	}
	p.v, p.set = v, true
	return nil
}

// Clear takes the calling thread's value away and returns it; ok is false if it had none. The destructor is not called.
func (key *Key[T]) Clear() (v T, ok bool) {
	if p := key.own(); p != nil {
		v, ok = p.v, p.set
		*p = cell[T]{}
	}
	return v, ok
}

// own returns the calling thread's cell; nil: it has none.
func (key *Key[T]) own() *cell[T] {
	p, _ := calls.Local(&key.id).(*cell[T]) // nil panics here, not when the thread ends
	return p
}

// drop clears a cell and returns the call of the destructor; nil: there is nothing to destroy.
func (key *Key[T]) drop(p *cell[T]) func() {
	if !p.set || key.destroy == nil {
		return nil
	}
	v := p.v
	*p = cell[T]{}
	return func() { key.destroy(v) }
}
