// Package driver is the interface between nmad and its networks: how nmad opens a network, links two processes by it,
// and moves bytes along a link without ever blocking. The layers above know no network; the networks know neither
// threads nor progress engine.
//
//	d, err := driver.Lookup("tcp") // registered by import _ ".../nmad/driver/tcp"
//	if err != nil {
//		panic(err)
//	}
//	end, _ := d.Open(driver.Config{Rank: 0, Size: 2, Job: "example", Secret: secret})
//	peer, _ := d.Open(driver.Config{Rank: 1, Size: 2, Job: "example", Secret: secret})
//	go func() { _, _, _ = peer.Accept(ctx) }()
//	link, err := end.Dial(ctx, 1, peer.Addr())
//	if err != nil {
//		panic(err)
//	}
//	sent, err := link.Send(&driver.Header{Body: 5}, []byte("hello"), nil, false) // never blocks; if sent is false, try again
//	fmt.Println(sent, err, link.Close())
//
//	     nmad: gates, tags, matching, strategies
//	───────────────┬─────────────────────────────────── Driver, Endpoint, Link
//	nmad/driver/shm│nmad/driver/tcp│nmad/driver/unix│...
//	               └ internal/stream a link of two stream sockets
//	                 nmad/internal/meet  which process is there, and whether it knows the secret
//	                 internal/listener   what endpoints have in common
//	                 internal/life   how a link ends, also while other threads are inside
//	                 internal/raw    non-blocking system calls (unsafe)
//
// # The two tracks
//
// A Link has a small track, of packets that arrive whole and in order, each a [Header] and at most MaxBody bytes, and a
// large track, a stream of bytes that is only used for what both sides agreed upon (rendezvous), so that it needs no
// framing and can be read straight into the buffer of the user. This is the pair of tracks of NewMadeleine (Aumage,
// Brunet, Furmento, Namyst: "NewMadeleine: a fast communication scheduling engine for high performance networks",
// 2007).
//
// # Sleeping
//
// A poller needs nothing but Recv and Pull. A waiter that wants to sleep instead takes these steps, in this order:
//
//  1. Arm. If it returns false, something is there: the waiter goes on polling, and nothing is armed.
//  2. Sleep in epoll_wait on a set that holds Descriptor.
//  3. Disarm, whatever has ended the sleep.
//  4. Poll every track until nothing is there; if Flush has left bytes, Flush; if a Send or Push was refused, try it
//     again.
//
// No arrival between 1 and 2 is lost: each driver's documentation has the argument. The waiter may wake although
// nothing is there; it does not sleep on although something is.
//
// # Errors
//
// A link breaks once and for all: every later call fails with the same error. That is [ErrClosed] after Close on this
// side; [ErrPeerLost] when the peer's process has ended, or has closed the link (Recv and Pull still return what had
// arrived before); and [ErrProtocol] when the peer has sent what it must not send. Whatever comes from a peer is
// bounded and checked, even though the peer has proved that it holds the secret of the job. Bytes on the way are
// neither encrypted nor signed: the secret only keeps processes out that are not of the job.
//
// # Faults
//
// Package fault is a driver around any other one. It keeps a record of what passes, and causes the faults that a plan
// lists: "fault:tcp", with the plan in PM2_FAULTS.
//
// # Long messages
//
// A driver may have the peer fetch the bytes of the large track straight from the buffer of Push, or put them into that
// of Pull: see Caps.Borrows. Over shared memory PM2_SHM_COPY decides: with "auto" (the default) the driver takes what
// it has measured to be faster, with "two" it never does this, with "single" always when the system allows it.
//
// # Lending and exposing
//
// A driver may know which process its peer is, if the two can map memory of one another: see Caps.Process. The layer
// above maps the memory. A driver may also read the memory of the peer, at an address that a packet tells: see
// Caps.Fetches, Caps.Exposes, [Link.Fetch] and [Link.Withdraw]. A link whose network writes and reads memory of the
// peer by itself is a [RemoteMemory].
//
// # Where a link lies
//
// A link may know near which processors it lies, on a machine of several NUMA nodes: see Caps.Locality. The layer above
// polls it from there. A link over shared memory asks the kernel for memory of the receiver's node; a link over
// TCP lies where its network device does.
//
// # Choosing a driver
//
// Drivers register under their name when their package is imported; [Lookup] finds them. An option of a driver is a
// variable of the environment. Open reads it, whatever Config it is given, and fails with [ErrConfig] for a wrong
// value. A program that gives the Driver itself (nmad.Config.Custom) sets a field of the Driver, which overrides the
// variable.
package driver
