package rma

// Fetch does an atomic on the word at a Ref, and returns what was there before. All atomics of this package on a
// word, of all processes, come one after the other, whichever way they go; the program's own by sync/atomic in memory
// that is mapped are among them. The address is a multiple of the word's size (ErrAlign). Where the word is mapped it
// is the processor's instruction (for Xor, Min, Max and floats a loop of them); else it waits for an answer. It
// orders what comes before it and after it in the same thread, where all of that is mapped.
func Fetch[T Word](d *Domain, op Op, at Ref, v T) (old T, err error) {
	if op >= opCompareAndSwap {
		op = ops // which there is none of
	}
	bits, err := d.atomic(kindOf[T](), op, at, bitsOf(v), 0, true)
	return wordOf[T](bits), err
}

// Post is Fetch without a result: it does not wait for an answer; Flush completes it.
func Post[T Word](d *Domain, op Op, at Ref, v T) error {
	if op >= opCompareAndSwap {
		op = ops
	}
	_, err := d.atomic(kindOf[T](), op, at, bitsOf(v), 0, false)
	return err
}

// CompareAndSwap stores next in the word if its bits are those of old, and returns what was there before: the bits of
// old if it has stored. See Fetch.
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

// atomic does one on the word at a Ref.
func (d *Domain) atomic(k wordKind, o Op, at Ref, v, other uint64, waits bool) (uint64, error) {
	if n := k.bytes(); k.takes(o) {
		if r := d.reach(at, n); r != nil && r.aligned(at.offset, n) {
			return r.apply(k, o, at.offset, v, other), nil
		}
	}
	return d.atomicOther(k, o, at, v, other, waits)
}

func (d *Domain) atomicOther(k wordKind, o Op, at Ref, v, other uint64, waits bool) (uint64, error) {
	x := attempt{o.String(), at, k.bytes()}
	if !k.takes(o) {
		return 0, x.refusal(statusOp, 0)
	}
	r, err := d.plan(x)
	if err != nil {
		return 0, err
	}
	if r.base != nil {
		if !r.aligned(at.offset, x.n) {
			return 0, x.refusal(statusAlign, r.size)
		}
		return r.apply(k, o, at.offset, v, other), nil
	}
	p, err := d.begin(x, askAtomic)
	if err != nil {
		return 0, err
	}
	p.q.kind, p.q.op, p.q.v, p.q.other = k, o, v, other
	if !waits {
		p.start(nil, nil)
		return 0, nil
	}
	a, err := p.wait(nil, nil)
	return a.old, err
}
