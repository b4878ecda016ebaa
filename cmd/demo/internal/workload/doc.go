// Package workload has a small program that does a bit of everything threads do, so that there is something to look at:
// demo trace work and demo top run it.
package workload
