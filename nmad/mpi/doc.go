// Package mpi is MPI for Go, over nmad: communicators, messages between their ranks, datatypes and collective
// operations, which progress while the program computes. Any number of threads and goroutines may call everything at
// any time; a call that waits blocks its caller only; an error is returned, and ends nothing.
//
//	mpi.Main(func(world *mpi.Comm) error {
//		in, out := []float64{float64(world.Rank())}, make([]float64, 1)
//		return mpi.Allreduce(world, mpi.Sum, in, out) // 0 + 1 + 2 + ...
//	})
//
//	       Send  Recv  Isend ...            Allreduce  Bcast ...           Put  Get  Lock ...
//	             │                                │                              │
//	┌────────────▼────────────────────────────────▼──────────────────────────────▼──────────┐
//	│ Comm: ranks,             a plan of sends, receives,           Window: memory that     │
//	│ tags, its contexts       copies and reductions                the others reach        │
//	└────────────┬──────────────────────┬─────────┬──────────────────────────────┬──────────┘
//	             │     between hosts    │         │ of one host                  │
//	        nmad: gates, which any ◀────┘         ▼                          nmad/rma
//	        thread that waits moves      memory of the host's ranks
//
// Functions such as Send and Allreduce take slices, whose elements they find out themselves. The methods of Comm take
// Buffers: an address, a count and a datatype (package datatype), also such with gaps:
//
//	messages              Send Ssend Bsend Rsend, with I in front, with Init behind; Recv Irecv RecvInit, Probe Mprobe, Sendrecv
//	collective            Barrier Bcast Gather Scatter Allgather Alltoall Reduce Allreduce ReduceScatter Scan Exscan; I, Init
//	communicators         Dup Idup Split SplitByHost Create CreateGroup Intercomm, with a topology Cart Graph DistGraph
//	memory                CreateWindow AllocateWindow AllocateShared DynamicWindow
//	after failures        Revoke Shrink Agree Failed Acknowledge, as in ULFM
//
// A collective operation is a plan of sends, receives, reductions and copies (internal/plan) that each rank makes for
// itself. All processes of a communicator call its collective operations in the same order. If one fails at a rank
// (an argument is wrong, a process has died, counts differ) it ends at all that wait for that rank, and further ones
// of that communicator fail; messages, and other communicators, go on. Only a communicator that cannot be used is
// told to the caller alone.
//
// Each has an immediate form (Iallreduce), which the threads that move messages carry on, and a persistent one
// (Comm.AllreduceInit), which has its place in the order where it is made, however often, and when, it is started.
// Blocking ones of one host go through shared memory (internal/segment), between hosts one rank of each sends
// messages.
//
// A communicator whose processes have died in part is revoked, and shrunk (Comm.Revoke, Comm.Shrink, Comm.Agree). One
// may have a domain of nmad of its own (KeyDomain).
//
// Files and process creation of MPI are not there.
package mpi
