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
// Functions such as Send and Allreduce take slices, and find the datatype of their elements. Methods take Buffers: an
// address, a count and a datatype (package datatype), which may have gaps. An operation has three forms, with one name:
//
//	c.Send(b, to, tag)                   blocks
//	c.Immediate().Send(b, to, tag)       begins it, and returns a Request
//	c.Persistent().Send(b, to, tag)      returns a Request that Start begins, again and again
//
// A collective operation of slices takes the view in place of the communicator: Allreduce(c.Immediate(), Sum, in, out)
// returns a Request. Messages of slices are begun by Isend, Issend and Irecv.
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
// further ones of that communicator fail; messages, and other communicators, go on. If the communicator cannot be
// used, only the caller is told.
//
// The threads that move messages also take the steps of an immediate operation. A persistent operation has its place in
// the order where it is made, however often, and whenever, it is started. A blocking operation goes through memory that
// the ranks of a host share (internal/segment); between hosts one rank of each sends messages.
//
// A communicator may have a domain of nmad of its own (KeyDomain). Files and process creation of MPI are not there.
package mpi
