// Package segment is memory that the processes of a communicator on one host share for its collective operations. Each of these members has a station there, which it alone writes, but for the
// bits of those that sleep: a ring of slots, and how far it has read those of others. A member publishes a piece by writing it to a slot, and then a flag beside it; any other member reads it there.
// So members tell each other nothing but by flags (as XHC of Open MPI does: Katevenis, Ploumidis, Marazakis 2022), and a short piece lies in the cache line of its flag.
//
//	operation n, piece k     slot (n + k) mod Slots; its flag is mark(n, k), which only grows
//	a reader                 waits until the flag is that mark; says what it has read by its own word "taken": all up to a mark
//	a writer                 waits, before it uses a slot again, until the readers of what is in it have taken that
//	a waiter that sleeps     sets its bit at a member, looks once more whether it still waits for that one, and sleeps until a message comes
//	a writer of a word       looks for bits afterwards, clears them, and sends these members a message
//
// The stores of words are full fences, as is the one of a bit: so either the waiter sees the word, or the writer the bit. What a peer writes is bounded here: a reader takes only sizes that it expects.
// Linux only; elsewhere Create fails, and operations go by messages.
package segment
