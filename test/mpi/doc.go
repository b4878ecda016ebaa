// Command mpi runs test suites of MPI that others have written, and makes tables of what came out:
//
//	go run ./test/mpi build -suite mpich -from SOURCE -to FOLDER -mpicc PREFIX/bin/mpicc
//	go run ./test/mpi run -suite mpich -in FOLDER -mpiexec PREFIX/bin/mpiexec -folders pt2pt,coll -table table.md
//	go run ./test/mpi build -suite osu -from SOURCE -to FOLDER -mpicc PREFIX/bin/mpicc
//	go run ./test/mpi run -suite osu -in FOLDER -mpiexec PREFIX/bin/mpiexec -table table.md
//
// Nothing of the suites is here, and nothing is fetched: -from is a folder with their public sources. PREFIX is where
// make install has put the library; the commands of another MPI, such as mpicc.mpich and mpiexec.hydra, do as well.
//
//	mpich   the folder test/mpi of MPICH (github.com/pmodels/mpich), with the whole repository around it. To build it
//	        takes autoconf, automake, libtool, python3 and perl. A test passes if mpiexec ends with status 0 and there
//	        is a line "No Errors"; its list may ask for something else.
//	osu     OSU's benchmarks, 7.4 or later. Each is run with 2 and with 4 processes, with few repetitions and
//	        validation. One passes if mpiexec ends with status 0 and no line tells of a failed validation.
//
// # Lists
//
// A list has a line for each test, as MPICH's file testlist: the program, the number of processes, and its settings.
//
//	sendflood 8 timeLimit=600
//	allred 4 arg=-count=10 env=NAME=VALUE
//	scancel 2 xfail=ticket2266
//
// arg, env and mpiexecarg may be there several times. A name that is a folder stands for the list there. These tests
// are left out, each with its reason:
//
//   - those that their list expects to fail (xfail);
//   - those that need more memory than -memory (mem), a graphics processor (hasgpu), a later version of the standard than
//     -standard (mpiversion), what goes beyond the standard (strict=false), or more processes than -most;
//   - those of -exclude, a file with a line "FOLDER/PROGRAM: reason" for each;
//   - those that no library with the standard's binary interface can pass.
package main
