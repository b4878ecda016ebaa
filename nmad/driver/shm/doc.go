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
//	credits      how far the receiver is: two words for the packets, some for the large track
//	share        what of an offer is being fetched, and by whom
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
// slots out, the sender copies the next ones in, each on its own core. That always works.
//
// # Offers: one copy, by both sides at once
//
// Where the kernel lets both processes into each other's memory, a message of at least 32
// KiB need not go through slots. The sender puts an offer into the next slot: where the
// message is, and how long. The receiver reads pieces of it by process_vm_readv, from the
// front; if the sender polls meanwhile, it writes pieces of it into the receiver's buffer by
// process_vm_writev, from the back, until they meet. Each byte is copied once, by two cores at
// once; and if the sender has something better to do, by the receiver alone.
//
//	sender                                      receiver
//	address, size; ready word: lap, offerMark ─→ share: where it goes, piece; claims := all left
//	                                             takes a piece from the front: claims, CAS; reads it
//	takes a piece from the back: claims, CAS
//	writes it; written: share, how many ───────→ none left, and written covers what the sender took:
//	← ─────────────────────────────────────────  fetched += bytes, CAS
//	Push says that they are gone            all of the offer: slot released
//
// An offer of the sender:
//
//	none --- Push, ways says so --→ out --- all fetched ------------------→ none
//	                                      |----- declined: slot refilled ------→ none, the rest goes through slots
//	                                      '----- ReturnPush: withdrawn --------→ none, for good
//
// The receiver cuts the offer into shares, one for each buffer that Pull is given. A share
// has a number, which is in the word of the claims and in written: a claim on a share that is
// over fails, and what was written of it counts for no other one. The rest of a share is set
// before its claims and does not change while any of them can be taken; so who takes one has read
// what belongs to it.
//
// A piece that the sender has taken is written before the sender does anything else, but the
// sender may be descheduled, even stopped, meanwhile. The receiver does not wait inside
// Pull: it gives what it has up to there, and says so later when the rest is there. Until
// then its buffer is lent: ReturnPull takes the claims away, and says whether
// the last piece has landed. A request that was given up keeps its buffer until it has, or the
// peer is gone; so nothing writes into memory that serves another purpose by then.
//
// A stopped sender goes on in the middle of its write when it is continued, and the kernel
// offers no way to take that write back. So a peer that is given up (its gate has ended a second
// ago, or Close has waited for a second) and still has a piece is evicted: the receiver ends its
// process (peer_linux.go), as fault-tolerant MPI libraries do with a process that was
// declared dead and is not. A peer that this process may not end is never asked to help.
//
// The other way round nobody need wait. fetched counts what was handed out, and is changed by
// compare-and-swap, so that ReturnPush and Close of the sender, which set its highest bit, and
// the receiver agree upon how much that was: bytes read after the sender took its message back, and
// may have changed it, are never handed out.
//
// Declined is an offer that cannot be read (memory of a device; a peer that gave up the
// permission), and then no more is asked for; and one for which the receiver's buffers are so
// short that slots are better. declined is set after the last change of fetched and read before it,
// so that the sender goes on from the right byte. If the sender cannot write a piece it says so
// in written, the receiver reads that one, and the sender never takes another.
//
// Who sleeps: the sender waits for fetched or declined to change as it does for room; that
// there are pieces left does not wake it. The receiver waits for written as for a slot.
//
// Which way is faster depends on the machine, on the length, and on what the processes do with the
// bytes. So the receiver measures: of each size class, a power of two, a few messages go one
// way and a few the other (slots first, from 8 MiB on offers), the better way is kept for a while,
// the longer the more often it was confirmed, and then it is measured again (chooser). It tells the sender by ways, a bit for each class. The variable
// PM2_SHM_COPY says otherwise: "two" for slots only, "single" for offers wherever they are possible;
// "auto" is the default. What was measured: docs/decisions/large-messages-over-shm.md.
//
// Whether it is possible: when they link, each side tells the address of a random nonce, and
// its value. Only if it is found in the memory of the process at the other end of the Unix socket
// (SO_PEERCRED) does a side ask for offers, or write. Yama, seccomp, other users, namespaces in
// which the number means somebody else: all look the same, and the ring remains.
//
// # Memory that is lent
//
// Either side may hand the other one memory of its own besides the segment, once: by a frame over the
// socket by which they met, with a memfd (lend_linux.go). It is checked as the segment is, and mapped for reading by who gets it. The link
// has no more to do with it: what lies where in it packets say, and it may outlive the link.
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
//	T1  ready word := lap             atomic store (publish)
//	T2  sleeping?                     atomic load; 0: done
//	T3  exchange sleeping with 0      it was 1: write to the peer's eventfd
//
// Go's atomics are sequentially consistent (on amd64 the exchange and the store
// are XCHG, a full barrier; on arm64 a load-acquire after a store-release is
// not reordered with it). Those of a binary with the race detector are not, in memory that
// it does not know: a store is a store-release there, a MOV on amd64. So what is published
// is so by publish, which has a twin for it. In the one order of all four, either S1 comes
// before T2, and the sender sees the flag and rings; or T2 before S1, hence T1
// before S2, and the sleeper sees the packet. Were T1 a plain store, it could
// still sit in the store buffer when T2 is done, while the sleeper does S1 and
// S2: both miss the other, and the sleeper sleeps on a packet. The ring is not
// lost either, as an eventfd stays readable until it is emptied; and it is
// emptied (Disarm) before the rings are looked at again.
//
// T3 is an exchange so that exactly one of several sending directions rings. A late
// ring, after the sleeper has left for another reason, ends its next sleep spuriously.
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
// The Unix socket by which the two met stays open, and silent but for memory that is lent. The kernel closes
// it when the other process ends, however it ends. Its hang-up makes the
// Descriptor readable (an epoll set of eventfd and socket); those who poll look
// at it when a poll finds nothing, at most every 5 ms, and ask the clock for that
// only every 64th time. What the peer had published before is still delivered:
// the state is read before the ring is. An offer was not published but announced: of
// one that is not fetched completely the rest is lost with its process.
//
// Numbers of processes are used again. What was read counts only if the peer was still
// there after that, or not longer than those 5 ms before; nothing is written that long
// after it was. The numbers are given out in turn, and within that time they do not all
// come up.
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
// Addresses are the exception: they are used as they come, since they lie in the peer's own memory,
// and nowhere else, that being the process behind the socket. The kernel checks them. What
// comes from there ends up in the buffer of Pull and is no longer than that. A peer can make
// such a call take long, by memory that it does not let the kernel have; so they are system calls of
// which Go's scheduler knows. Who may read and write our memory could do so before: the nonce
// shows that the kernel allows it, it grants nothing.
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
// Close. The socket is closed after the last piece was written into the peer's memory: that it
// is hung up tells the peer so. A peer may still be reading a message that was offered, and will
// find that it was withdrawn.
package shm
