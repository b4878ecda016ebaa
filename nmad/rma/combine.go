package rma

import "fmt"

// CombineNBI is UpdateNBI of op with v[i] on the word i, for each of len(v) words from a Ref on, without gaps. The
// previous values go into old, which is nil or as long as v. Each word is changed by an atomic of its own, as by Fetch;
// all of them together are not atomic. Flush completes it: until then the caller must not change v, nor touch old.
// Where the words are mapped, CombineNBI is done when it returns; else it sends messages of up to 8 KiB of words each.
// It waits only while the most operations that may be under way to that process are, and for the answer of the target
// when memory that is not from Alloc is used for the first time. Errors: ErrAlign, ErrRange, ErrOp; ErrSize if old has
// another length. After an error some words may have changed.
func CombineNBI[T Word](d *Domain, op AtomicOp, at Ref, v, old []T) error {
	if op >= opCompareAndSwap {
		op = numOps // an operation that does not exist: ErrOp
	}
	return d.combine(wordArrays{kindOf[T](), op, bytesOf(v), nil, bytesOf(old)}, at)
}

// CompareAndSwapNBI is CompareAndSwap of each of len(next) words from a Ref on, without gaps: the word i becomes
// next[i] if its bits are those of old[i]. The previous values go into previous. The three slices have one length. See
// CombineNBI.
func CompareAndSwapNBI[T Word](d *Domain, at Ref, old, next, previous []T) error {
	return d.combine(wordArrays{kindOf[T](), opCompareAndSwap, bytesOf(next), bytesOf(old), bytesOf(previous)}, at)
}

// wordArrays is one operation on each word of a run of words: the slices have one length, a multiple of the word's.
type wordArrays struct {
	kind     wordKind
	op       AtomicOp
	operands []byte // operands
	compared []byte // of opCompareAndSwap: the values to compare with; else nil
	previous []byte // the previous values go here; nil: they are not asked for
}

// part is the operation on the n bytes of words that begin at byte from.
func (ws *wordArrays) part(from, n int) wordArrays {
	y := wordArrays{kind: ws.kind, op: ws.op, operands: ws.operands[from : from+n]}
	if ws.compared != nil {
		y.compared = ws.compared[from : from+n]
	}
	if ws.previous != nil {
		y.previous = ws.previous[from : from+n]
	}
	return y
}

// most is how many bytes of words one message has at most.
func (ws *wordArrays) most() int {
	if ws.compared != nil {
		return inlineBytes / 2
	}
	return inlineBytes
}

// ofWordsTexts are the names of the operations in errors. They are made once: combine allocates nothing.
var ofWordsTexts = func() (all [numOps + 1]string) {
	for op := range all {
		all[op] = AtomicOp(op).String() + " of words"
	}
	return all
}()

// combine carries out or starts an operation on a run of words: CombineNBI, and CompareAndSwapNBI.
func (d *Domain) combine(all wordArrays, at Ref) error {
	try := attempt{ofWordsTexts[all.op], at, uint64(len(all.operands))}
	swaps := all.op == opCompareAndSwap
	switch n := len(all.operands); {
	case !all.kind.takes(all.op):
		return try.refusal(statusOp, 0)
	case (all.previous != nil || swaps) && len(all.previous) != n || swaps && len(all.compared) != n:
		return try.fails(fmt.Errorf("%w: %d B of operands, %d B for what was there: give as many", ErrSize, n, len(all.previous)))
	case n == 0:
		return nil
	}
	r := d.reach(at, try.n)
	if r == nil {
		var err error
		if r, err = d.plan(try); err != nil {
			return err
		}
	}
	if r.base != nil {
		if !r.aligned(at.offset, all.kind.bytes()) {
			try.n = all.kind.bytes()
			return try.refusal(statusAlign, r.size)
		}
		r.applyAll(&all, at.offset)
		return nil
	}
	for len(all.operands) > 0 {
		n := min(len(all.operands), all.most())
		part := all.part(0, n)
		o, err := d.begin(attempt{try.what, at, uint64(n)}, askCombine)
		if err != nil {
			return err
		}
		o.request.kind, o.request.op, o.compared = part.kind, part.op, part.compared
		if part.previous != nil {
			o.request.operand = 1
		}
		o.start(part.operands, part.previous)
		all, at = all.part(n, len(all.operands)-n), at.Add(int64(n))
	}
	return nil
}

// combined returns the operation that a request asks for, and whether the answer is to have the previous values.
func (q *wireRequest) combined(body []byte) (arrays wordArrays, fetches bool) {
	arrays = wordArrays{kind: q.kind, op: q.op, operands: body[:q.bytes]}
	if q.op == opCompareAndSwap {
		arrays.compared = body[q.bytes:]
	}
	return arrays, q.operand == 1
}

// combines reports whether q is a valid request of the kind askCombine.
func (q *wireRequest) combines(body []byte) bool {
	n := q.bytes
	if q.op == opCompareAndSwap {
		n *= 2
	}
	swaps := q.op == opCompareAndSwap && q.operand == 1
	return q.kind < kinds && q.kind.takes(q.op) && q.op != opLoad && q.op != opStore && q.bytes <= inlineBytes && q.bytes%q.kind.bytes() == 0 && n == uint64(len(body)) && (swaps || q.op != opCompareAndSwap && q.operand <= 1)
}

// combine carries out the operation that a request asks for.
func (a *pendingAnswer) combine(q *wireRequest, body []byte) {
	arrays, fetches := q.combined(body)
	if fetches {
		if a.previous == nil {
			a.previous = make([]byte, inlineBytes)
		}
		arrays.previous = a.previous[:q.bytes]
		a.parts[1] = arrays.previous
	}
	a.memory.applyAll(&arrays, q.at.offset)
}
