// Build makes the library for C: in the folder of -o libmpi_abi.so.1 (with libmpi_abi.so, which leads to it), libpm2_mpi.so beside it, which it loads, and include/mpi.h. It needs gcc, or what CC names.
//
//	go run ./nmad/mpi/abi/internal/build -o DIR
package main
