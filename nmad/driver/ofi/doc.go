// Package ofi links processes over libfabric, by whichever of its providers there is: verbs, cxi, efa, psm3, opx, and,
// on any machine, tcp and shm. It is there in programs that are built with the tag ofi, by cgo; what it takes is in
// docs/platforms.md. The provider is the one that PM2_OFI_PROVIDER names.
//
//	nmad: a gate        a gate            a gate
//	      │ link        │ link            │ link          inbox, window, credit: Go
//	──────┴─────────────┴─────────────────┴───
//	      port: one lock, one poll for all of them        Go; a call of C for each poll, and for each packet
//	──────────────────────────────────────────
//	      endpoint, address vector, completion queue      libfabric, reliable datagrams; fabric.c
//
// All links of an endpoint share one of libfabric's. The thread that holds the port's lock polls it for all: one call drains the
// completion queue into memory that Go reads, and what has come goes to the link that it is for. A caller that does not
// get the lock leaves the look to the one that has it.
//
// # Small track
//
// A packet is copied into a registered slot, and from there sent, in one call; one of up to 4 KiB, if the provider says so, is copied by
// the provider, and its slot is free at once. Receive buffers of half a megabyte are posted ahead, each for many packets. Packets
// have a number, since the provider has to order them, and a token, which the receiver has
// given to that sender alone. What a link has received and not handed out lies in its inbox; a sender sends what has a place there, of which
// it is told by each packet that comes the other way.
//
// # Large track
//
// Push opens a window onto the buffer, and tells the peer; Pull reads from it, by a remote read of the provider, and tells how much it has. The key of a window
// is random, and valid for that one transfer where registrations are not kept. No byte is copied here. Push tells what was read before Recv hands out what came after it.
// The buffers are pinned, the receiver's until the provider is done with it. A provider that wants local buffers
// registered gets them registered; what is Go's stays so for the next transfer, as long as there is room (registrations).
// Over shm Pull reads by process_vm_readv, as that provider would, but without its lock; what it has read counts if the sender has not
// taken the window back by then, of which a byte on the control connection tells.
//
// # Sleeping
//
// The descriptor is an epoll set with the control connection, a timer, and, for the time of a nap, the descriptor of the completion queue. Where a
// provider has none (shm), the timer goes off after 50 us, then twice as much, to 2 ms.
//
// # Ends
//
// Two processes prove to each other over a TCP connection that they belong to the job; it then stays, and carries nothing: it ends
// when the process does. A side that closes its link says so behind all that it has sent. What has been sent
// before a process was killed is waited for 100 ms. The provider shm guards memory of several processes by locks, of which one that is killed inside would never
// be opened: nmad/driver/ofi/spin.c has locks that know their holder.
//
// # Trust
//
// What comes is bounded and checked; packets without the token of a link are dropped. But libfabric encrypts and proves nothing: the
// fabric is trusted. A process that can send into it and guesses 64 bits speaks for a peer.
package ofi
