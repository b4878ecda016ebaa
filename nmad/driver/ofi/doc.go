// Package ofi links processes over libfabric, by any of its providers: verbs, cxi, efa, psm3, opx, and, on any
// machine, tcp and shm. Programs that are built with the tag ofi and cgo have it; docs/platforms.md says what that
// takes. PM2_OFI_PROVIDER names the provider, or the driver's name does: "ofi:verbs".
//
//	nmad: a gate        a gate            a gate
//	      │ link        │ link            │ link          inbox, window, credit: Go
//	──────┴─────────────┴─────────────────┴───
//	      port: one lock, one poll for all of them        Go; one call of libfabric for a poll, one for a packet
//	──────────────────────────────────────────
//	      endpoint, address vector, completion queue      libfabric, reliable datagrams
//
// All links of a driver.Endpoint share one endpoint of libfabric, the port. The thread that holds the port's lock polls
// it for all links: one call reads the completions into memory of C, and the thread hands what has come to the links.
// A caller that does not get the lock returns, since the holder looks for it, too.
//
// # Small track
//
// The sender copies a packet into a registered slot, and the provider sends it from there. A packet of up to 4 KiB, if
// the provider allows that, is copied by the provider, so its slot is free at once. Receive buffers of half a megabyte
// are posted ahead; each takes many packets (multi-receive). A packet has a number, because the provider promises order
// and the receiver checks it, and a token, which the receiver has given to the sender of that link alone. Packets that
// a link has received lie in its inbox until Recv. The sender sends only what has room there (credit); each packet that
// comes the other way tells it how much has become free.
//
// # Large track
//
// Push opens a window onto the buffer and tells the peer. The peer's Pull reads from the window, by a remote read of
// the provider, and tells how much it has read. The key of a window is random; where registrations are not kept, it is
// valid for one transfer. Push tells of the bytes that were read before Recv hands out the packets that came after
// them. The driver copies nothing. The buffers are pinned, the receiver's until the provider is done with it. Where a
// provider wants local buffers registered the driver registers them, and keeps the registrations of Go's memory for the
// next transfer.
//
// Over shm Pull reads by process_vm_readv, as that provider would, but without the provider's lock. The bytes count
// only if the sender had not taken the window back by then: it says so by a byte on the control connection.
//
// # Remote memory
//
// A link exposes memory to its peer under a key of its own, and puts to and gets from what the peer has exposed
// (driver.RemoteMemory), by remote writes and reads of the provider. Reads of the large track and these are transfers of
// one kind (transfer_linux.go). A link that ends closes its keys; if its peer has not said goodbye, the peer is cut off.
//
// # Sleeping
//
// A link's descriptor is an epoll set: the control connection, a timer, and, while the link is armed, the descriptor of
// the completion queue. A provider without such a descriptor (shm) is polled by the timer: after 50 us, then twice as
// long each time, up to 2 ms. These times are multiplied by the number of the port's links that are armed, at most by
// 16, so that all of them together wake as often as one would. A single link is then polled every 32 ms at the latest.
//
// # Ends
//
// Two processes prove to each other over a TCP connection that they belong to the job. This control connection stays,
// and ends when its process does. A side that closes its link says so behind all that it has sent. Packets of a process
// that was killed are waited for 100 ms. A peer that is given up while its bytes arrive is cut off (sockets_linux.go).
// The provider shm guards memory of several processes by locks, of which one that a process holds when it is killed
// would stay closed: nmad/driver/ofi/spin.c has locks that know their holder.
//
// # Trust
//
// What comes is bounded and checked, and a packet without the token of its link is dropped. But libfabric neither
// encrypts nor authenticates: the fabric is trusted. A process that can send into it and guesses 64 bits speaks for a
// peer.
package ofi
