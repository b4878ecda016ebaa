// Build makes the library for C in the folder of -o: libmpi_abi.so.1, the link libmpi_abi.so to it, libpm2_mpi.so,
// which it loads, and the header. It needs gcc, or the compiler that CC names.
//
//	go run ./nmad/mpi/abi/internal/build -o DIR
package main
