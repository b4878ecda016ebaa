// Package mpi is MPI for Go, over nmad: communicators, messages between their ranks, datatypes and collective
// operations, which progress while the program computes. Any number of threads and goroutines may call everything at
// any time; a call that waits blocks its caller only; an error is returned, and ends nothing.
//
//	mpi.Main(func(world *mpi.Comm) error {
//		in, out := []float64{float64(world.Rank())}, make([]float64, 1)
//		err := mpi.Allreduce(world, mpi.Sum, in, out)
//		fmt.Println(out[0]) // 0 + 1 + 2 + ...
//		return err
//	})
//
//	       Send  Recv ...                    Allreduce  Bcast ...          Put  Get  Lock ...
//	             │                                │                              │
//	┌────────────▼────────────────────────────────▼──────────────────────────────▼──────────┐
//	│ Comm: ranks,             a plan of sends, receives,           Window: memory that     │
//	│ tags, its contexts       copies and reductions                the others reach        │
//	└────────────┬──────────────────────┬─────────┬──────────────────────────────┬──────────┘
//	             │     between hosts    │         │ of one host                  │
//	        nmad: gates, which any ◀────┘         ▼                          nmad/rma
//	        thread that waits moves      memory of the host's ranks
//
// Functions such as Send, Isend and Allreduce take slices, whose elements they find out themselves. Methods take
// Buffers: an address, a count and a datatype (package datatype), also such with gaps. An operation has three forms,
// with one name:
//
//	c.Send(b, to, tag)                   blocks
//	c.Immediate().Send(b, to, tag)       begins it, and returns a Request: also mpi.Isend(c, slice, to, tag)
//	c.Persistent().Send(b, to, tag)      returns a Request that Start begins, again and again
//
// Of the functions that take slices, Send, Recv, Bcast, Reduce, Allreduce, Scan, Exscan, Allgather and Alltoall have a form
// that begins them (Isend, Irecv, Ibcast ...). For all others make a Buffer with On, and use Immediate.
//
// What there is:
//
//	messages              Send Ssend Bsend Recv Sendrecv, Probe Mprobe; NewPartitionedSend; Request.Send, without garbage
//	collective            Barrier Bcast Gather Scatter Allgather Alltoall Reduce Allreduce ReduceScatter Scan Exscan
//	communicators         Dup Split SplitByHost Create CreateGroup; Idup, NewIntercomm, OpenSession
//	topologies            NewCart NewGraph NewDistGraph: NeighborAlltoall NeighborAllgather
//	memory                NewWindow NewAllocatedWindow NewSharedWindow NewDynamicWindow
//	after failures        Comm.Failures: Revoke Shrink Agree Failed Acknowledge, as in ULFM
//
// A collective operation is a plan of sends, receives, reductions and copies (internal/plan) that each rank makes for
// itself. All processes of a communicator call its collective operations in the same order. If one fails at a rank
// (an argument is wrong, a process has died, counts differ) it ends at every rank that waits for that one, and
// further ones of that communicator fail; messages, and other communicators, go on. If the communicator cannot be used,
// only
// the caller is told.
//
// The threads that move messages carry an immediate operation on. A persistent one has its place in the order where
// it is made, however often, and whenever, it is started. Blocking ones of one host go through shared memory
// (internal/segment), between hosts one rank of each sends messages.
//
// A communicator may have a domain of nmad of its own (KeyDomain). Files and process creation of MPI are not there.
package mpi
