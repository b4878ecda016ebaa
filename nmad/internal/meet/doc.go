// Package meet is how two processes of a job come to trust a connection: that of a link of a driver, and the control
// connection by which each hears of the others (package roster). One listens and one dials; they find out which rank
// the other one is, and prove to each other that they hold the job's secret, before the connection is used for more.
//
//	dialer                                        listener
//	  │ hello: version, use, job, rank, nonce ─────→ │ compares
//	  │ ←───── hello: version, use, job, rank, nonce │
//	  │ compares                                     │
//	  │ proof: HMAC("dialer", both hellos) ────────→ │ verifies, and decides
//	  │ ←── answer, proof: HMAC("listener", both ...)│
//	  │ verifies                                     │
//
// Either may answer a refusal instead, or that it lacks what its side of the link takes; both carry the reason as text.
// Then it closes: so both sides can say why. The exchange is the usual mutual challenge-response: each proof is
// HMAC-SHA256 under the secret over a label for the role, the answer and both hellos, in which either side put 32 fresh
// random bytes, so that it can neither be replayed nor be reflected. The dialer proves itself first, so that a process
// without the secret learns nothing that depends on it.
//
//	Dial, Dialer           connect, and the dialer's side of the exchange
//	Acceptor, Listener     accept, with slots for strangers, and the listener's side
//	Sealed                 goes on by frames that are authenticated (control connections)
//	Endpoint               what the endpoints of drivers have in common
//
// # Bounds
//
// A frame is a kind (1 byte), a length (4 bytes, little endian) and, in an exchange, at most [MaxFrame] bytes; nothing
// longer is ever read, and the caller bounds the time of the connection first. Never is a byte read beyond the last
// frame: what follows on the connection, descriptors included, is the user's. Of a sealed frame each kind has its
// bound; memory for it is taken as its bytes arrive.
//
// The reason is printed, so it is cut to printable ASCII.
package meet
