// Command heat2d is a port of the two-dimensional heat equation of LLNL's MPI tutorial: a master, workers, and their
// neighbors.
package main
