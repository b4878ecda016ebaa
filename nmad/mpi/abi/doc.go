// Abi is MPI for programs in C, by the standard's own binary interface (MPI 5.0): a program that was compiled with
// its header runs with any library that has that interface, of which this is one, over package mpi.
//
//	go run ./nmad/mpi/abi/internal/build -o DIR     # the library, and include/mpi.h
//
//	program in C ── MPI_Send ──▶ libmpi_abi.so.1 (front, C) ─┬─ a short message on this host ──▶ shared memory
//	                                                         └─ all else ──▶ libpm2_mpi.so (this package, Go) ──▶ package mpi
//
// libmpi_abi.so.1 is small C (front): it has the functions of the header, all of table.txt, answers what needs no
// engine, and loads libpm2_mpi.so, which is this package, with the first call that needs more. Each such call crosses
// once, with its arguments in a row in the caller's stack (pm2_call; type cCall here), and runs the method of cCall
// that has its name: table_gen.go reads the arguments that the method takes, and writes its results (table.txt says
// how). Short messages to ranks of the host do not cross (front/moves.h, front/slips.h): C has the addresses of what
// the gate to that rank knows (way.go), and its lock.
//
// A handle of a predefined object is the standard's number; of another one it is the number of its place in a table
// with how often that place was used, so a handle that is used after its end is an error. Functions of the program
// are called with handles of C.
//
// An error goes to the error handler of the communicator, window or session that it is of, or that it would have
// made; those that have none to the one of MPI_COMM_SELF, if it was set, and else of MPI_COMM_WORLD. From the start
// that is MPI_ERRORS_ARE_FATAL: it says which rank had which error in which function, and ends the job.
package main
