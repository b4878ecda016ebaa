// Package datatype describes how the elements of a message lie in memory, as MPI's datatypes do.
//
//	column, err := datatype.Vector(rows, 1, columns, datatype.Of(datatype.Float64)) // every columns-th number of a matrix
//	b := datatype.Buffer{Base: datatype.AddressOf(matrix), Count: 1, Type: column}
//	all := make([]byte, b.Size())
//	n := b.Pack(0, all) // by nmad the numbers travel from where they lie, without this copy
//
// A Type is a list of basic elements, each with its place, kept as loops over loops: so a column of a matrix takes as
// much memory as one number. A Type does not change once it is made, and is safe for concurrent use.
//
//	struct{ int32; float64 }, 3 times:     0   4   8       16  20  24      32  36  40      48
//	                                       [i32|...|float64][i32|...|float64][i32|...|float64]
//	size 12, extent 16                     |---- extent ----|
//
// A Buffer is an address, a count and a Type. It is a nmad.Data, so nmad moves its bytes without packing them first.
//
//	from Go types           OfGo; or mpi.On(slice) makes a Buffer
//	copies, at distances    Contiguous Vector Hvector Indexed Hindexed IndexedBlock HindexedBlock
//	different elements      Struct
//	parts of arrays         Subarray Darray
//	gaps at the ends        Resized
package datatype
