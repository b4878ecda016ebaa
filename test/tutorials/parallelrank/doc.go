// Command parallelrank is a port of the parallel rank of "mpitutorial.com": each rank learns which place its number
// has.
package main
