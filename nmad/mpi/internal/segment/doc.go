// Package segment is memory that the processes of a communicator on one host, its members there, share for blocking
// collective operations. Each member has a station in it: a ring of slots for pieces that it publishes, a word that
// says which pieces of others it has released, and bits of members that sleep. Only the member itself writes its
// station, except for the bits. A member publishes a piece by writing it to a slot, and then the slot's flag; other
// members read it there. Members tell each other nothing else (as in XHC of Open MPI: Katevenis, Ploumidis, Marazakis
// 2022), and a short piece lies in the cache line of its flag.
//
//	piece k of operation n   lies in slot (n + k) mod Slots; its flag is mark(n, k), which only grows
//	a reader                 waits until the flag is that mark, reads, and releases the piece: it stores in its word
//	                         "released" the mark up to which it has read
//	a writer                 uses a slot again when all readers of the piece in it have released that piece
//	a waiter that sleeps     sets its bit at a member, checks once more that it still waits for that member, and sleeps
//	                         until a message comes
//	a writer of a flag,      looks for bits afterwards, clears them, and sends the members that have set them a message
//	or of "released"
//
// The stores of flags, of "released" and of bits are full fences: so either the waiter sees the word, or the writer
// sees the bit. A reader takes only sizes that it expects, so a peer that writes a wrong size does not make it read
// beyond a slot.
//
// The package is for Linux, as nmad is.
package segment
