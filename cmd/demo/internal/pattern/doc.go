// Package pattern fills messages with bytes that a receiver can check without being told, and checks every one of them.
//
// A message is identified by a seed, made of its row, its pair of threads, its direction and its number. The bytes are
// an arithmetic progression of 64-bit words that starts at the seed, so that each word depends on its place: bytes that
// are missing, stale, shifted, doubled or of another message are found. The first byte of two messages in a row of one
// pair and direction always differs, so that a receive that wrote nothing is found even for 1-byte messages, where a
// hash alone would let one in 256 pass.
//
// Filling and checking run at about the speed of memory. Behind the message lies a guard of [Guard] bytes, which must
// stay as they are.
package pattern
