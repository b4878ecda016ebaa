// Package self links a process to itself: what one end of a link sends comes in at the other one, and both are in
// this process. [Loop] makes a link of which one end is both, which is how a process sends messages to
// itself. It is the shortest driver that does all that [driver.Link] asks for.
//
//	small track   a ring of packets with one sender and one receiver, each of which moves its own position on
//	large track   no buffer: Push says where its bytes are, Pull copies them from there into place, once
//
// # Taking back
//
// The bytes of Push are read by the other end between the calls, so the link borrows them (Caps.Borrows). What
// reads, or takes them back, holds the stream's state for that time:
//
//	free <── Pull copies a piece ──> copying
//	free --- ReturnPush, Close of the sending end ---> withdrawn, for good
//
// Nothing waits but Close, for the copy of one piece.
//
// # Sleeping
//
// As in package shm, with an eventfd for each end: Arm writes its flag and then looks, the sender writes its position and
// then looks at the flag, all with sequentially consistent atomics, so one of them sees the other. A loop has no eventfd:
// what it is given is there in the same call (driver.Caps.Echoes), so the thread that sends receives it, and nothing is
// left to wait for.
package self
