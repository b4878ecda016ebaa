// Package life has what the links of all drivers have in common of their ends: which of its sides has ended a link,
// with which error its calls fail from then on, and when what it has is freed.
//
//	State    0 ── End, of this side ──▶ Closed
//	         0 ── Break: the peer has violated the protocol ──▶ Broken
//	         0 ── Lose: the peer has closed the link, or has died ──▶ Lost
//
// Close may come while other threads are inside the link: their calls end undisturbed, a call that comes later fails,
// and what they used is freed once the last one has returned. No call ever waits.
//
// That is so because a file descriptor must not be closed under a system call in progress elsewhere: its number may by
// then belong to another file. It is the idea of the reference count in Go's internal/poll fdMutex, split into one
// counter for each caller, so that callers on different cores share no line.
package life
