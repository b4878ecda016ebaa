package rma

import "fmt"

// Combine is Post of each of len(v) words that lie one behind the other from a Ref on: op with v[i] on the word i.
// What was there before goes into old, which is nil, or has as many. Each word is changed by an atomic of its own, as
// by Fetch; all of them together are not one. Flush completes it: until then v and old stay as they are. Where the
// words are mapped it is done when it returns; else a message has those of up to 8 KiB. It waits only where as many
// operations as there may be to that process are under way, and when memory that is not from Alloc is used for the
// first time. ErrAlign, ErrRange, ErrOp, ErrSize: old has not as many. Of an error that Flush tells some words may
// have changed.
func Combine[T Word](d *Domain, op Op, at Ref, v, old []T) error {
	if op >= opCompareAndSwap {
		op = ops // which there is none of
	}
	return d.combine(wordArrays{kindOf[T](), op, bytesOf(v), nil, bytesOf(old)}, at)
}

// CompareAndSwapAll is CompareAndSwap of each of len(next) words that lie one behind the other from a Ref on: the
// word i becomes next[i] if its bits are those of old[i]. What was there before goes into was. All have as many. See
// Combine.
func CompareAndSwapAll[T Word](d *Domain, at Ref, old, next, was []T) error {
	return d.combine(wordArrays{kindOf[T](), opCompareAndSwap, bytesOf(next), bytesOf(old), bytesOf(was)}, at)
}

// wordArrays are what is done to words that lie one behind the other.
type wordArrays struct {
	kind  wordKind
	op    Op
	v     []byte // operands
	other []byte // what is compared, as many; nil: nothing is
	old   []byte // where what was there goes, as many; nil: nowhere
}

// part is n bytes of them from one on.
func (ws *wordArrays) part(from, n int) wordArrays {
	y := wordArrays{kind: ws.kind, op: ws.op, v: ws.v[from : from+n]}
	if ws.other != nil {
		y.other = ws.other[from : from+n]
	}
	if ws.old != nil {
		y.old = ws.old[from : from+n]
	}
	return y
}

// most is how many bytes of words travel in a message.
func (ws *wordArrays) most() int {
	if ws.other != nil {
		return inlineBytes / 2
	}
	return inlineBytes
}

// ofWordsTexts are what errors call them, by operation: a text made at each call would be garbage.
var ofWordsTexts = func() (all [ops + 1]string) {
	for op := range all {
		all[op] = Op(op).String() + " of words"
	}
	return all
}()

func (d *Domain) combine(all wordArrays, at Ref) error {
	x := attempt{ofWordsTexts[all.op], at, uint64(len(all.v))}
	swaps := all.op == opCompareAndSwap
	switch n := len(all.v); {
	case !all.kind.takes(all.op):
		return x.refusal(statusOp, 0)
	case (all.old != nil || swaps) && len(all.old) != n || swaps && len(all.other) != n:
		return x.fails(fmt.Errorf("%w: %d B of operands, %d B for what was there: give as many", ErrSize, n, len(all.old)))
	case n == 0:
		return nil
	}
	r := d.reach(at, x.n)
	if r == nil {
		var err error
		if r, err = d.plan(x); err != nil {
			return err
		}
	}
	if r.base != nil {
		if !r.aligned(at.offset, all.kind.bytes()) {
			x.n = all.kind.bytes()
			return x.refusal(statusAlign, r.size)
		}
		r.applyAll(&all, at.offset)
		return nil
	}
	for len(all.v) > 0 {
		n := min(len(all.v), all.most())
		part := all.part(0, n)
		o, err := d.begin(attempt{x.what, at, uint64(n)}, askCombine)
		if err != nil {
			return err
		}
		o.q.kind, o.q.op, o.more = part.kind, part.op, part.other
		if part.old != nil {
			o.q.v = 1
		}
		o.start(part.v, part.old)
		all, at = all.part(n, len(all.v)-n), at.Add(int64(n))
	}
	return nil
}

// combined is what a request of a process asks for: words, and whether what was there is to be sent back.
func (q *wireRequest) combined(body []byte) (x wordArrays, fetches bool) {
	x = wordArrays{kind: q.kind, op: q.op, v: body[:q.n]}
	if q.op == opCompareAndSwap {
		x.other = body[q.n:]
	}
	return x, q.v == 1
}

// combines says whether a request of that kind is one of ours.
func (q *wireRequest) combines(body []byte) bool {
	n := q.n
	if q.op == opCompareAndSwap {
		n *= 2
	}
	swaps := q.op == opCompareAndSwap && q.v == 1
	return q.kind < kinds && q.kind.takes(q.op) && q.op != opLoad && q.op != opStore && q.n <= inlineBytes && q.n%q.kind.bytes() == 0 && n == uint64(len(body)) && (swaps || q.op != opCompareAndSwap && q.v <= 1)
}

// combine does it.
func (a *pendingAnswer) combine(q *wireRequest, body []byte) {
	x, fetches := q.combined(body)
	if fetches {
		if a.olds == nil {
			a.olds = make([]byte, inlineBytes)
		}
		x.old = a.olds[:q.n]
		a.parts[1] = x.old
	}
	a.x.applyAll(&x, q.at.offset)
}
