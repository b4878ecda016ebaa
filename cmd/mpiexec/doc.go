// Command mpiexec starts programs as the processes of an MPI job, as users of MPICH's and of other launchers know it:
//
//	mpiexec -n 4 ./program
//	mpiexec -n 1 ./leader : -n 3 -env LEVEL 2 ./worker     several programs, one job
//	mpiexec -hosts node1,node2 -ppn 2 -n 4 ./program        two processes a host, over ssh
//	mpiexec -l -timeout 60 -n 2 ./program                   the rank before each line; at most a minute
//
// The programs are those that mpicc makes, those of packages nmad and nmad/mpi, and, on one host, those of every MPI
// library that starts by PMI 1.1, as MPICH does. It stands on package nmad/launch, as demo run does, and what docs say
// of that holds here: no process outlives the job, however the launcher ends. mpiexec -help lists the options.
//
// On another host it starts itself, by ssh or what -launcher-exec names, with the same options, and -ranks,
// -rendezvous, -listen besides. The secret of the job, and the life of this launcher, go there through the standard
// input.
package main
