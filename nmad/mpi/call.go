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

func (cc call) String() string {
	if cc == 0 || cc >= calls {
		return "another operation"
	}
	return callNames[cc]
}

// manner is how an operation goes: its caller waits for its end, or it goes on by itself, at once or whenever it is started.
type manner uint8

const (
	now manner = iota
	later
	lasting
)

var mannerNames = [...]string{now: "", later: "immediate ", lasting: "persistent "}
