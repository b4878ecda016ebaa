// Command peers measures this module beside its peers, in one run:
//
//	go run ./test/peers [-sizes 1:4M] [-reps 5] [-only shm,tcp,onecpu] [-engine hooks]
//
// A comparison is a row of `demo pingpong` and a row of a C program of src/, which is compiled into a temporary folder
// first:
//
//	shm      ours over shared memory    Open MPI's default path, one rank per core
//	reuse    the same                   the same, the same bytes again and again, as OSU's tests send
//	tcp      ours over tcp, 1 byte      a busy-polling loop over one non-blocking socket
//	onecpu   ours, both on one CPU      two blocking pipes on that CPU
//	mpich, openmpi-tcp, mpich-tcp       more, when asked for with -only
//	argobots                            rows of demo bench beside Argobots' threads; -argobots says
//	                                    where they are installed
//	ranks, ranks-thread, ranks-explicit four and eight ranks on two CPUs, beside Open MPI whose waits yield
//	collectives, collectives-mpich      operations of nmad/mpi, two and four ranks on two CPUs, beside Open MPI and MPICH
//	onesided, onesided-...              puts, gets, atomics, signals and active messages, beside Open MPI, MPICH, UCX, a cache line
//
// The two take turns, one size at a time, and a probe (one cache line handed from core to core and back) runs before,
// between and after them:
//
//	probe  ours  probe  peer  probe        one pair
//
// and the programs probe again themselves, right before and after what they time. Machines change their pace: on some
// the probe jumps between two values every few seconds. A pair counts only if all its probes lie in one regime (below
// [regimeLimit] ns: near; above: far), and a ratio is made from the pairs of one regime: the median of ours divided by
// the median of the peer's. Pairs are repeated until one regime has as many as -reps asks for, or three times as many
// were tried.
//
// Each process is bound to one CPU: the first two that this process may use, or, for onecpu, the first. The MPI jobs
// run in a network namespace of their own, in which there is only loopback; where the kernel refuses one, settings
// alone keep them off the other interfaces.
//
// With -control each peer stands beside itself: the ratios show how far from 1 chance alone takes them on this machine
// now.
//
// What is missing, a compiler or a peer, is listed as skipped with the reason; what fails while running ends the
// command with exit status 1.
package main
