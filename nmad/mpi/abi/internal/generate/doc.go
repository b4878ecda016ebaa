// Generate makes from table.txt what differs from function to function only by names and types: the prototypes of the
// header, the C functions in front/calls_gen.h, and Go's table, in which it reads the arguments. From include/mpi.h it
// makes Go's constants. go generate in nmad/mpi/abi runs it there; with -o it writes to another folder.
package main
