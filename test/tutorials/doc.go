// Package tutorials runs programs of public MPI tutorials, ported to package mpi, in jobs of one to four processes.
// Each compares what the ranks have computed together with what one computes alone, and says so in lines that the test
// knows. docs/measurements/2026-11-27-tutorials.md tells what the ports took.
package tutorials
