// Generate makes, of table.txt, what differs from function to function only by names: the prototypes in include/mpi.h, the C functions in front/calls_gen.h, and the table of Go's side. It is run by
// go generate in nmad/mpi/abi, whose path is the working directory; -o has it write to another folder.
package main
