// Package managers tests jobs that the process managers of clusters have started: MPICH's hydra on this
// host, on several hosts that are one, and on network name spaces that are joined by a bridge; and a Slurm of
// this test's own with two nodes on this machine. What is not installed, or not permitted, is said and skipped.
package managers
