// Package datatype describes how the elements of a message lie in memory, as MPI's datatypes do. A Type is a list of basic
// elements, each with a displacement. It is kept as nested loops, so a column of a matrix takes as much memory as one
// number. A Buffer is an address, a count and a Type; it is a nmad.Data, so nmad moves it without packing it first.
//
//	struct{ int32; float64 }, 3 times:     0   4   8       16  20  24      32  36  40      48
//	                                       [i32|...|float64][i32|...|float64][i32|...|float64]
//	size 12, extent 16                     |---- extent ----|
//
// A Type does not change once it is made, and is safe for concurrent use.
package datatype
