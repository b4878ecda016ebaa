package mpi

// operationKind is the kind of a collective operation.
type operationKind uint8

const (
	barrier operationKind = iota + 1
	bcast
	reduce
	allreduce
	scan
	exscan
	reduceScatter
	gather
	scatter
	allgather
	alltoall
	neighbors
	idup
	operationKinds
)

var operationNames = [operationKinds]string{
	barrier: "barrier", bcast: "bcast", reduce: "reduce", allreduce: "allreduce", scan: "scan", exscan: "exscan", reduceScatter: "reduce-scatter",
	gather: "gather", scatter: "scatter", allgather: "allgather", alltoall: "alltoall", neighbors: "neighbor-alltoall", idup: "idup",
}

func (o operationKind) String() string {
	if o == 0 || o >= operationKinds {
		return "another operation"
	}
	return operationNames[o]
}

// manner is the form of an operation: its caller waits for its end, or it goes on by itself, at once or whenever it is
// started.
type manner uint8

const (
	now manner = iota
	later
	lasting
)

var mannerNames = [...]string{now: "", later: "immediate ", lasting: "persistent "}
