package marcel

// Value is what a thread returns that Compute has begun.
type Value[T any] struct {
	thread Thread
	value  T
}

// Compute begins a thread that returns a value.
//
//	sum := marcel.Compute(func() int { return add(rows) })
//	... // meanwhile
//	n, err := sum.Join()
func Compute[T any](f func() T) *Value[T] { return ComputeWith(Attr{}, f) }

// ComputeWith is Compute with attributes.
func ComputeWith[T any](a Attr, f func() T) *Value[T] {
	v := &Value[T]{}
	v.thread = SpawnWith(a, func() { v.value = f() })
	return v
}

// Join waits for the end of the thread and returns its value. The error is that of Thread.Join, such as a *PanicError of a thread with Attr.Catch; then the value is the zero one. Several may call it, any number of times.
func (v *Value[T]) Join() (value T, err error) {
	if err := v.thread.Join(); err != nil {
		return value, err
	}
	return v.value, nil
}

// Thread is the thread.
func (v *Value[T]) Thread() Thread { return v.thread }
