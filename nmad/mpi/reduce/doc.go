// Package reduce has the operations of reductions: MPI's predefined ones, for each kind of element for which they make sense, and those of a user.
// An operation takes two runs of elements and leaves the results in the second; the first is the left operand.
package reduce
