// Package shm links two processes of one host through memory that both map.
//
// A message of up to 32 bytes moves one cache line from core to core, once, and
// nothing else: no second line, no system call, no lock. Whoever waits polls
// that line, or sleeps in the kernel and is rung for.
//
// # The segment
//
// One per link: a memfd, which has no name anywhere and vanishes with the last
// process that holds it. For either direction it has
//
//	cells        one line each: a packet. The header in its wire form, of which
//	             the first word is the ready word, and 32 bytes of body
//	body ring    bodies that do not fit into a cell, each in one piece
//	slots        pieces of the large track's stream, and a ready word for each
//	credits      how far the receiver is: two words for the packets, one for the slots
//
// and for either side two flags about its sleep. Words that different cores
// write are 128 bytes apart, as lines are fetched in pairs; cells are not, as
// each is written by one side and a neighbour fetched early is the next one.
//
// # Sending without asking
//
// All rings have one sender and one receiver. The classic ring shares two
// indexes, and so moves the line of an index besides the line of the data.
// Here the data says itself that it is there: the ready word of a cell or slot
// holds the number of the lap (cut to 15 or 31 bits, never zero), and the
// receiver polls it where the next one will be. This is the idea of
// FastForward (Giacomoni, Moseley, Vachharajani, PPoPP 2008) with laps in place
// of an empty value, so that the receiver need not write into the cell, which
// would move the line back. The lap lies in the header's 16 reserved bits, so
// one word tells that a packet is there, what it is and how long.
//
//	sender                                     receiver
//	header and body into cell, body ring       ready word: my lap?  no → nothing here
//	ready word: atomic store ── the line ───→  yes → header, body
//	                                           every quarter of a ring: credit, atomic store
//	credit: only when what I knew of is used
//
// Positions in the body ring need no word at all: both sides compute them from
// the lengths that have gone by. A body starts on a line of its own; one that
// does not fit before the end of the ring starts at its beginning.
//
// A quarter of a ring may be unreleased when the receiver has seen everything,
// one body may need another quarter, and a third be skipped before it: so with a
// ring of at least four of the largest bodies every packet fits sooner or
// later, and neither side ever waits for a credit that does not come.
//
// The large track is a ring of slots: while the receiver copies the first
// slots out, the sender copies the next ones in, each on its own core. Why two
// copies and not one through the kernel: docs/decisions/large-messages-over-shm.md.
//
// # Sleeping: the store-load argument
//
// Each side has a flag sleeping, and a flag wantRoom. To sleep:
//
//	S1  sleeping := 1                 atomic exchange (Arm)
//	S2  look at the ready words       something there: sleeping := 0, do not sleep
//	S3  epoll_wait on the Descriptor
//
// To send:
//
//	T1  ready word := lap             atomic store
//	T2  sleeping?                     atomic load; 0: done
//	T3  exchange sleeping with 0      it was 1: write to the peer's eventfd
//
// Go's atomics are sequentially consistent (on amd64 the exchange and the store
// are XCHG, a full barrier; on arm64 a load-acquire after a store-release is
// not reordered with it). So in the one order of all four, either S1 comes
// before T2, and the sender sees the flag and rings; or T2 before S1, hence T1
// before S2, and the sleeper sees the packet. Were T1 a plain store, it could
// still sit in the store buffer when T2 is done, while the sleeper does S1 and
// S2: both miss the other, and the sleeper sleeps on a packet. The ring is not
// lost either, as an eventfd stays readable until it is emptied; and it is
// emptied (Disarm) before the rings are looked at again.
//
// T3 is an exchange so that of several directions that find the flag one rings.
// It may do so after the sleeper has left for another reason: that ends the next
// sleep for nothing.
//
// Room works the same way with wantRoom in place of sleeping and the credit in
// place of the ready word: the sender that was refused sets wantRoom and then
// looks at the credit; the receiver writes the credit and then looks at wantRoom.
// The flags are written only by those who go to sleep or wake others, so that
// for two sides that are awake they are lines that stay in either cache.
//
// Rejected: a flag written at each poll (moves a line for each message); a
// futex in the segment (cannot be put into epoll); a barrier that the receiver
// forces upon the sender by membarrier(2) when it goes to sleep, which would
// make T1 a plain store. Measured: in a ping-pong no difference, as who sends
// waits for the line anyway; in a stream of 8-byte packets 8 ns each instead of
// 14. It would need both processes to register, and a kernel that lets them.
//
// # A dead peer
//
// The Unix socket by which the two met stays open and silent. The kernel closes
// it when the other process ends, however it ends. Its hang-up makes the
// Descriptor readable (an epoll set of eventfd and socket); those who poll look
// at it when a poll finds nothing, at most every 5 ms, and ask the clock for that
// only every 64th time. What the peer had published before is still delivered:
// the state is read before the ring is.
//
// # Trust
//
// The peer holds the secret, and is still not believed. The descriptors that it
// passes are checked: plain memory, of the size that was announced, sealed
// against shrinking and growing, so that no access can end in a SIGBUS; real
// eventfds, non-blocking. What is read from the segment is read once, compared
// with limits that lie in our own memory, and masked; a credit may only move
// forward, not past what was sent. What does not fit breaks the link with
// ErrProtocol. A body that Recv returns may change while it is read.
//
// # What the race detector sees
//
// Nothing of a segment: it does not know mapped memory, nor that two address
// ranges are the same. So the conformance suite runs over links in ordinary
// memory as well, where it sees every atomic and every copy; and over real
// segments without it, as a stress.
//
// # Close
//
// Close puts private empty pages in the place of the segment, in one step, so
// that a thread that is just polling neither crashes nor meets foreign memory;
// the address range goes when the link is collected, the descriptors when the
// last system call on them is over. A body from Recv must not be touched after
// Close.
package shm
