// Package ep is the embarrassingly parallel kernel of the NAS Parallel Benchmarks, class by class, after its published
// description (Bailey et al.: "The NAS Parallel Benchmarks", RNR-94-007, section 2.2.1); the code is our own.
//
// It makes pairs of Gaussian deviates by acceptance-rejection from the pseudo-random numbers x' = 5^13 x mod 2^46 and
// sums them up, a workload that only computes: what disturbs it is what an engine in the background costs. Its sums are
// published, so that a run proves that it did all of the work.
//
// The work is cut into batches of 2^16 pairs, each of which begins at its own place of the sequence: any number of
// threads may take them in any order. Sums are added in the order of the batches, so that they do not depend on it.
package ep
