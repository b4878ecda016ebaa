// Package reduce has the operations of reductions: MPI's predefined ones, for each kind of element for which they make
// sense, and those of a user.
//
//	err := reduce.Sum.Check(t)      // can these elements be added?
//	reduce.Sum.Apply(in, inout)     // inout[i] = in[i] + inout[i]
//	hypot := reduce.User("hypot", true, func(in, inout datatype.Buffer) { ... })
//
// An operation takes two runs of elements of one type, the left operand first, and leaves the results in the second,
// or, by Combine, in a third:
//
//	in      [ a0 a1 a2 ... ]   op   inout [ b0 b1 b2 ... ]   ──▶   inout [ a0 op b0, a1 op b1, ... ]
//
// An Op does not change, and several threads may use it at once.
package reduce
