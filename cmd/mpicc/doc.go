// Command mpicc compiles and links C programs against the MPI library of this project, libmpi_abi.so.1:
//
//	mpicc -O2 -o program program.c
//	mpicc -c part.c && mpicc -o program part.o -lm
//	mpicc -show -o program program.c      the command, without running it
//	mpicc -showme:compile                 the flags of the compiler; -showme:link those of the linker
//
// Called mpicxx or mpic++ it does so for C++, in which the functions are those of C.
//
// It runs cc, or what PM2_MPICC_CC names, for C++ c++, or what PM2_MPICXX_CXX names, with the flags it was given and
// those that the library needs. The program finds the library where mpicc has found it. That is beside itself: the
// header in PREFIX/include and the library in PREFIX/lib of a mpicc in PREFIX/bin, where make install puts them;
// PM2_MPI_PREFIX names another PREFIX.
package main
