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
// Either may send a Refusal instead, with the reason as text, and then closes: so both sides can say why. Each proof is
// HMAC-SHA256 under the secret over a label for the role, the answer and both hellos, in which either side put 32 fresh
// random bytes, so that it can neither be replayed nor be reflected. The dialer proves itself first, so that a process
// without the secret learns nothing that depends on it.
//
// A frame is a kind (1 byte), a length (4 bytes, little endian) and, in an exchange, at most [MaxFrame] bytes; the
// caller bounds the time of the connection. Never is a byte read beyond the last frame: what follows on the connection,
// descriptors included, is the user's. A control connection goes on with the frames of [Sealed], each kind of which has
// a bound of its own; memory for them is taken as their bytes arrive.
package meet
