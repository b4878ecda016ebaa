// Package hello is how two processes of a job find out, over a fresh
// connection, which rank the other one is, and prove to each other that they hold the
// job's secret, before any driver trusts the connection with more.
//
//	dialer                                        listener
//	  │ hello: version, driver, job, rank, nonce ───→ │ compares
//	  │ ←─── hello: version, driver, job, rank, nonce │
//	  │ compares                                      │
//	  │ proof: HMAC("dialer", both hellos) ─────────→ │ verifies
//	  │ ←───────── proof: HMAC("listener", both ...)  │
//	  │ verifies                                      │
//
// Either may answer a refusal instead, or that it lacks what its side of the link takes;
// both carry the reason as text. Then it closes: so both sides can say why. The exchange is the usual mutual
// challenge-response: each proof is HMAC-SHA256 under the secret over a label
// for the role and both hellos, in which either side put 32 fresh random bytes,
// so that it can neither be replayed nor be reflected. The dialer proves
// itself first, so that a process without the secret learns nothing that depends on it.
//
// # Bounds
//
// A frame is a kind (1 byte), a length (2 bytes, little endian) and at most
// [MaxFrame] bytes; nothing longer is ever read, and the caller bounds
// the time of the connection first. Never is a byte read beyond the last
// frame: what follows on the connection, descriptors included, is the driver's.
//
// The reason is printed, so it is cut to printable ASCII.
package hello
