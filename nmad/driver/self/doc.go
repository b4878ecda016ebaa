// Package self is the link of a process to itself: one end, which receives what it sends. So a process sends messages
// to itself as to any other one. It is no driver, because no other process is in reach.
//
//	small track   a ring of packets with one sender and one receiver, each of which moves its own position on
//	large track   no buffer: Push says where its bytes are, Pull copies them from there into place, once
//
// # Taking back
//
// Pull reads the bytes of Push after Push has returned, so the link borrows them (driver.Caps.Borrows). Pull, and what
// takes the bytes back, hold the state of the stream for that time:
//
//	free <── Pull copies a piece ──> copying
//	free --- ReturnPush, Close ---> withdrawn, for good
//
// Nothing waits but Close, for the copy of one piece.
//
// # Sleeping
//
// No thread sleeps on the link: what it is given is there in the same call (driver.Caps.Echoes), so the thread that
// sends receives it.
package self
