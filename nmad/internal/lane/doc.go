// Package lane has the memory layouts by which the library for C (nmad/mpi/abi) takes part in short messages: C sends a
// message into shared memory, or receives the next one, itself, because a call from C into Go costs as much as the
// message. No driver and no program needs it.
//
//	Lane   a gate, its protocol and its link: where each word lies that C reads and writes
//	Ring   one direction of the link
//	Way    how the messages of one context go over a lane
//	Slip   a receive that C has begun
//
// C takes the lock of the gate, as each thread of Go does that uses the gate, checks by these words that the case is
// the usual one, and then does what the protocol and the link do in Go. It leaves all other cases to Go.
// docs/decisions/messages-from-c.md has the protocol, nmad/mpi/abi/front/lane.h the same layouts for C, and
// nmad/mpi/abi/layout_test.go compares both.
package lane
