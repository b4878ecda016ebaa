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
	operationKinds // 1 more than the last kind
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

// form is how an operation is called.
type form uint8

const (
	blocking   form = iota // the caller waits for the end of the operation
	immediate              // the call begins the operation, and returns a request
	persistent             // the call makes a request, which Request.Start begins, again and again
)

var formNames = [...]string{blocking: "", immediate: "immediate ", persistent: "persistent "}
