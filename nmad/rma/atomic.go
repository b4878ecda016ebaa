package rma

// Fetch applies op with v to the word at a Ref, atomically, and returns the previous value. All atomics of this
// package on a word, by all processes, come one after the other, whichever way they go; so do the program's own by
// sync/atomic in memory that is mapped. The address is a multiple of the word's size (ErrAlign). Where the word is
// mapped, Fetch is the processor's instruction (for Xor, Min, Max and floats a loop of compare-and-swap); else it
// blocks the calling thread until the target has answered. It orders the accesses of the same thread to mapped memory
// before it and after it.
func Fetch[T Word](d *Domain, op AtomicOp, at Ref, v T) (old T, err error) {
	if op >= opCompareAndSwap {
		op = numOps // an operation that does not exist: ErrOp
	}
	bits, err := d.atomic(kindOf[T](), op, at, bitsOf(v), 0, true)
	return wordOf[T](bits), err
}

// UpdateNBI is Fetch without a result: it does not wait for an answer; Flush completes it.
func UpdateNBI[T Word](d *Domain, op AtomicOp, at Ref, v T) error {
	if op >= opCompareAndSwap {
		op = numOps
	}
	_, err := d.atomic(kindOf[T](), op, at, bitsOf(v), 0, false)
	return err
}

// CompareAndSwap stores next in the word if its bits are those of old, and returns the previous value: if that has the
// bits of old, next was stored. See Fetch.
func CompareAndSwap[T Word](d *Domain, at Ref, old, next T) (T, error) {
	bits, err := d.atomic(kindOf[T](), opCompareAndSwap, at, bitsOf(next), bitsOf(old), true)
	return wordOf[T](bits), err
}

// Load reads the word atomically. See Fetch.
func Load[T Word](d *Domain, at Ref) (T, error) {
	bits, err := d.atomic(kindOf[T](), opLoad, at, 0, 0, true)
	return wordOf[T](bits), err
}

// Store writes the word atomically, and returns when that is remotely complete. It wakes no WaitSignal that sleeps;
// PutSignal does. See Fetch.
func Store[T Word](d *Domain, at Ref, v T) error {
	_, err := d.atomic(kindOf[T](), opStore, at, bitsOf(v), 0, true)
	return err
}

// atomic applies an operation to the word at a Ref. waits: it returns the previous value, else it may return before
// the target has answered.
func (d *Domain) atomic(k wordKind, o AtomicOp, at Ref, v, other uint64, waits bool) (uint64, error) {
	if n := k.bytes(); k.takes(o) {
		if r := d.reach(at, n); r != nil && r.aligned(at.offset, n) {
			return r.apply(k, o, at.offset, v, other), nil
		}
	}
	return d.atomicOther(k, o, at, v, other, waits)
}

// atomicOther is atomic where reach has found no word: it says what is wrong, or sends a message.
func (d *Domain) atomicOther(k wordKind, o AtomicOp, at Ref, v, other uint64, waits bool) (uint64, error) {
	try := attempt{o.String(), at, k.bytes()}
	if !k.takes(o) {
		return 0, try.refusal(statusOp, 0)
	}
	r, err := d.plan(try)
	if err != nil {
		return 0, err
	}
	if r.base != nil {
		if !r.aligned(at.offset, try.n) {
			return 0, try.refusal(statusAlign, r.size)
		}
		return r.apply(k, o, at.offset, v, other), nil
	}
	p, err := d.begin(try, askAtomic)
	if err != nil {
		return 0, err
	}
	p.request.kind, p.request.op, p.request.operand, p.request.compared = k, o, v, other
	if !waits {
		p.start(nil, nil)
		return 0, nil
	}
	a, err := p.wait(nil, nil)
	return a.old, err
}
