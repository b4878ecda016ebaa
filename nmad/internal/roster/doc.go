// Package roster brings the processes of a job together and tells each of them which ranks are there, have left, and
// have died. README.md has the protocol, docs/wire.md the frames.
//
//	rank 1 ----.                     control connections (TCP), kept open
//	rank 2 ------- rank 0            from Join until the process leaves
//	rank 3 ----'
//
// Rank 0 listens at the rendezvous address. Each other process dials it, both sides prove that they hold the job's
// secret (package meet), and then, in frames that are authenticated but not encrypted:
//
//	dialer                     rank 0
//	   |  --- CARD ----------->   |      pid, host, address of its driver's endpoint
//	   |  <-- TABLE -----------   |      all cards; the links are made
//	   |  --- READY ---------->   |
//	   |  <-- GO --------------   |      once all are ready
//	   |  --- LEAVE ---------->   |      a process closes its session: relayed
//	   |  <-- LEAVE, DEAD -----   |      another one has left, or has died
//	   |  <-- ABORT ---------->   |      before GO only: the job cannot start
//
// In a job of several hosts ([Config.Hosts]) the first rank of each is its leader, and stands between the other ranks
// of its host and rank 0, by a Unix socket (tree.go).
//
// # Guarantees
//
// A connection that ends without LEAVE is a death. The kernel closes the connections of a process however it ends, so
// the others know at once, whether or not a thread polls. The kernels of the others notice a host that cannot be
// reached within 4 s (hostLimit and a probe), or within [Config.Silence] if that is longer. If rank 0 or a leader is
// gone, its members connect anew, to the process that takes rank 0's place; in a job on one host without a silence they
// watch each other by pidfd instead.
//
// Everything read is untrusted until proven otherwise: before the proof a dialer may send two short frames within
// [Config.Handshake]; afterwards each frame is bounded by what its kind can need, authenticated, and in order.
package roster
