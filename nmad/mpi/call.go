package mpi

// call is a collective operation.
type call uint8

const (
	barrier call = iota + 1
	bcast
	reduces
	allreduce
	scan
	exscan
	reduceScatter
	gather
	scatter
	allgather
	alltoall
	neighbors
	dups
	calls
)

var callNames = [calls]string{
	barrier: "barrier", bcast: "bcast", reduces: "reduce", allreduce: "allreduce", scan: "scan", exscan: "exscan", reduceScatter: "reduce-scatter",
	gather: "gather", scatter: "scatter", allgather: "allgather", alltoall: "alltoall", neighbors: "neighbor-alltoall", dups: "idup",
}

func (c call) String() string {
	if c == 0 || c >= calls {
		return "another operation"
	}
	return callNames[c]
}

// manner is whether the caller waits for the end of an operation, or it goes on by itself.
type manner bool

const (
	now   manner = true
	later manner = false
)
