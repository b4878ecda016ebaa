// Package reduce has the operations of reductions: MPI's predefined ones, for the kinds of elements for which MPI defines
// them, and operations of a program (User). An operation combines two Buffers of elements, of which the first has the left
// operands, and stores the results in the second.
package reduce
