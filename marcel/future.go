package marcel

import (
	"context"
	"time"
)

// Future is the value that a thread made by Compute will return. Any number of threads and goroutines may use it at a
// time.
type Future[T any] struct {
	thread Thread
	value  T
}

// Compute runs f on a new thread, as Spawn does, and returns a Future of the value that f returns.
//
//	sum := marcel.Compute(func() int { return add(rows) })
//	... // meanwhile
//	n, err := sum.Join()
func Compute[T any](f func() T) *Future[T] { return ComputeWith(Attr{}, f) }

// ComputeWith is Compute with attributes.
func ComputeWith[T any](a Attr, f func() T) *Future[T] {
	v := &Future[T]{}
	v.thread = SpawnWith(a, func() { v.value = f() })
	return v
}

// Join waits for the end of the thread and returns its value. The error is that of Thread.Join, such as a *PanicError
// of a thread with Attr.Catch; then the value is the zero one. It may be called any number of times.
func (v *Future[T]) Join() (T, error) { return v.result(v.thread.Join()) }

// TryJoin is Join if the thread has ended. It does not block.
func (v *Future[T]) TryJoin() (value T, ended bool, err error) {
	return v.resultIfEnded(v.thread.TryJoin())
}

// JoinTimeout is Join for at most d.
func (v *Future[T]) JoinTimeout(d time.Duration) (value T, ended bool, err error) {
	return v.resultIfEnded(v.thread.JoinTimeout(d))
}

// JoinContext is Join until ctx is done; then the error is its cause.
func (v *Future[T]) JoinContext(ctx context.Context) (value T, ended bool, err error) {
	return v.resultIfEnded(v.thread.JoinContext(ctx))
}

// result returns what Join returns after Thread.Join has returned err.
func (v *Future[T]) result(err error) (value T, _ error) {
	if err == nil {
		value = v.value
	}
	return value, err
}

// resultIfEnded returns what TryJoin returns after that of the Thread has returned ended and err.
func (v *Future[T]) resultIfEnded(ended bool, err error) (value T, _ bool, _ error) {
	if ended {
		value, err = v.result(err)
	}
	return value, ended, err
}

// Thread returns the thread that computes the value.
func (v *Future[T]) Thread() Thread { return v.thread }
