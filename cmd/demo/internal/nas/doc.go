// Package nas is three kernels of the NAS Parallel Benchmarks over nmad/mpi, after their published description (Bailey
// et al.: "The NAS Parallel Benchmarks", RNR-94-007); the code is our own. EP only computes, but for one reduction; IS
// sorts integers, and exchanges nearly all of them; CG has a matrix without structure, and reduces and gathers a vector
// in each of its many steps. Each verifies its result against the published one.
package nas
