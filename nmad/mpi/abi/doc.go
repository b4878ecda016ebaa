// Abi is MPI for programs in C, with the binary interface of the MPI 5.0 standard, over package mpi. A program that was
// compiled with the standard's header runs with any library that has this interface.
//
//	go run ./nmad/mpi/abi/internal/build -o DIR     # the library, and include/mpi.h
//
//	program in C ── MPI_Send ──▶ libmpi_abi.so.1 (front, C) ─┬─ a short message on this host ──▶ shared memory
//	                                                         └─ all else ──▶ libpm2_mpi.so (this package, Go) ──▶ package mpi
//
// libmpi_abi.so.1 is small C (front). It has the functions of the header, which are those of table.txt. It answers a
// call that needs no engine itself, and loads libpm2_mpi.so, which is this package, with the first call that needs one.
//
// C passes a call to Go as a struct in the caller's stack (pm2_call in C, cCall here). pm2_enter runs the entry of the
// function: the entry reads the arguments, calls the method of cCall with the function's name, and writes its results.
// The entries are generated from table.txt (table_gen.go). C moves short messages to ranks of the host without a call
// of Go (front/moves.h, front/slips.h): it works on the state of the gate to that rank under the gate's lock (way.go).
//
// A handle of a predefined object is a number of the standard. Another handle is the object's place in a table and how
// often that place was used, so a handle that is used after its object was freed is an error (handle.go).
//
// An error goes to the error handler of the communicator, window or session of the call, or, of a call that makes one
// with an error handler as argument, to that handler. Calls without such an object use the handler of MPI_COMM_SELF if
// that was changed, and otherwise that of MPI_COMM_WORLD. Both are MPI_ERRORS_ARE_FATAL at first: the job ends with a
// line that names rank, function and error.
package main
