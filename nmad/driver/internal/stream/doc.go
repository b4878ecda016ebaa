// Package stream makes a link of two stream sockets between two processes, one for each track: it is what the drivers
// tcp and unix have in common. They say how to listen, what an address looks like, and how to set a socket up
// ([Network]).
//
//	small track   header (32 bytes) and body, one after the other; one write
//	              sends a packet, one read brings in what has arrived
//	large track   the bare stream: from the user's buffer into the kernel, from
//	              the kernel into the user's buffer, no framing and no copy of ours
//
// Two connections, so that a long message does not stand in the way of the packets that agree upon the next one, and so
// that the receiver of a long message knows without looking that all that arrives is its own.
//
// # System calls
//
// A call of Send, Recv, Push or Pull makes one system call: sendto or recvfrom with MSG_DONTWAIT and, for sending,
// MSG_NOSIGNAL. Packets with more behind them stay in the link, and Flush makes it for all of them. They bypass Go's
// poller, which would park the goroutine (10-20 us until it runs again), and the scheduler's bookkeeping around system
// calls, which costs as much as the call. Connecting and the exchange of package meet go through Go's net package; the
// descriptors are then duplicated and taken out of its poller.
//
// # Linking
//
// The dialer connects twice. Both connections prove themselves, and the second one names the link, by 16 random bytes,
// that the first one began.
//
// # Sleeping
//
// The Descriptor is an epoll set, level triggered. The sockets are in it only from Arm to Disarm: while a thread polls,
// each packet and each segment of a long message would otherwise take the lines of the set from core to core, a tenth
// of the latency of TCP and a thirtieth of its throughput. What has arrived in the kernel makes the set readable when
// the socket joins it, so an arrival before the sleep cannot be missed. The last read may have brought in more than the
// packet that was handed out; the kernel knows nothing of that, so Arm looks itself. To wait for room, Arm adds
// EPOLLOUT to the socket that refused, or in whose buffer a part of a packet is left. Over a network for which that
// works (Network.WakeBytes) the kernel announces a long message to a sleeper when so much of it is there, or its rest:
// see lowWater.
//
// # Trust
//
// A header announces a body within the limit that both sides agreed upon when they linked, and has zeros where it must;
// else the link breaks with ErrProtocol. No word of a peer makes this package allocate.
//
// # Close
//
// The kernel goes on sending what it has taken. A side that closes with bytes unread makes its kernel reset the
// connection, which may overtake what the peer has not read yet: the layer above says goodbye first.
package stream
