// Package roster brings the processes of a job together and tells each of them which ranks are there, have left, and
// have died.
//
//	rank 1 ----.                     control connections (TCP), kept open
//	rank 2 ------- rank 0            from Join until the process leaves
//	rank 3 ----'
//
// In a job of several hosts ([Config.Hosts]) the first rank of each is its leader, and stands between the other ranks
// of its host and rank 0, by a Unix socket (tree.go); so rank 0 has as many connections as there are hosts and
// neighbours. README.md says what becomes of the connections when rank 0 or a leader ends or falls silent.
//
// Rank 0 listens at the rendezvous address. Each other process dials it, both sides prove that they hold the job's
// secret (package meet), and the dialer hands in its [Card]: pid, host, driver, address of its driver's endpoint. When
// all cards are there, rank 0 sends the table of them to all.
//
//	dialer                      rank 0
//	   |  <== exchange =====>   |      of package meet
//	   |  ==== frames, each with a truncated HMAC of its own ====
//	   |  --- CARD ----------->   |
//	   |  <-- TABLE -----------   |      once all cards are in
//	   |      (links are made)    |
//	   |  --- READY ---------->   |
//	   |  <-- GO --------------   |      once all are ready
//	   |  --- LEAVE ---------->   |      a process closes its session: relayed
//	   |  <-- LEAVE, DEAD -----   |      another one has left, or has died
//	   |  <-- ABORT ---------->   |      before GO only: the job cannot start
//
// Each process has one [Roster], with one lock, whatever its place: its connection to its parent (parent.go,
// search.go), those of its members (members.go), and the ranks that are gone, of which there is one list with one way
// into it (Roster.depart in fate.go).
//
// # Guarantees
//
// A connection that ends without LEAVE is a death. The kernel closes the connections of a process however it ends, so
// the others know at once, whether or not a thread polls; rank 0 and the leaders relay it. A host that cannot be
// reached is noticed by the kernels of the others within 4 s (hostLimit and a probe), or within [Config.Silence] if
// that is longer. If rank 0 or a leader is gone, the processes that were connected to it connect anew, to the process
// that takes rank 0's place; in a job on one host without a silence they watch each other by pidfd instead.
//
// Everything read is untrusted until proven otherwise: before the proof a dialer may send two short frames within
// [Config.Handshake]; afterwards each frame is bounded by what its kind can need, authenticated, and in order. Frames
// are authenticated, not encrypted: a listener on the network sees the addresses in the table. The secret itself never
// travels.
//
// The exact layout of each frame is in docs/wire.md.
package roster
