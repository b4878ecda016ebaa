// Package lock has the locks of gates: Spin is a spin lock; Domain is one lock for all gates of a domain, which may be
// biased to its owner; Gate is the lock of one gate, which is a Spin of its own or stands for the lock of its domain.
package lock
