// Package lock has the locks of gates: a spin lock, one lock for all gates of a domain, which may be biased to its owner, and
// the lock of a gate, which is its own or that of its domain.
package lock
