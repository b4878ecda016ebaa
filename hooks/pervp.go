package hooks

// PerVP has a T for each VP, at least 128 bytes apart from the next T and from all other data, so that writes of one VP
// do not slow down the others. (128, because CPUs fetch lines in pairs.) Hooks of several points may share one.
//
// PerVP does not guard what is in it. Calls in the name of one VP follow one another at Idle, and at Timer; but a call
// at one point may run at the same time as one at another point, and at Switch, Yield and Library a thread may lose its
// VP in the middle of a hook, which then runs on beside the next one. So a state that hooks of several points share, or
// that Switch, Yield or Library hooks use, has to be atomic.
type PerVP[T any] struct{ slots []perVP[T] }

// perVP is the state of one VP, behind its distance from the one before.
type perVP[T any] struct {
	_     [128]byte
	state T
}

// NewPerVP returns zero states for VPs 0 to n-1; none if n is negative.
func NewPerVP[T any](n int) *PerVP[T] {
	return &PerVP[T]{make([]perVP[T], max(n, 0)+1)} // the last element only pads
}

// Len returns for how many VPs there is a state.
func (p *PerVP[T]) Len() int {
	if p == nil || p.slots == nil {
		return 0
	}
	return len(p.slots) - 1
}

// At returns the state of VP vp, nil if it has none. It is the same at each call, and valid for ever.
func (p *PerVP[T]) At(vp int) *T {
	if uint(vp) >= uint(p.Len()) {
		return nil
	}
	return &p.slots[vp].state
}

// Hook returns a Func for Register that calls f with the state of the VP. For a VP that has none f is not called, and
// the verdict is Quiet.
func (p *PerVP[T]) Hook(f func(vp int, state *T) Verdict) Func {
	if p == nil || f == nil {
		return nil
	}
	return func(vp int) Verdict {
		if state := p.At(vp); state != nil {
			return f(vp, state)
		}
		return Quiet
	}
}
