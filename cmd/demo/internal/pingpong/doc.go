// Package pingpong is the demo's main experiment: two processes exchange messages between marcel threads, or between
// plain goroutines, and every byte of every message is checked.
//
//	rank 0 (this process)                      rank 1 (started by it)
//	bound to the first CPU                     bound to the second
//
//	per pair of threads, message i:
//	    fill the message                           fill the answer
//	    |  --------------------- ask ------------>  |
//	    |  <------------------ ready(i) ---------  |
//	 t0 |  ------------------- message(i) ------>  |
//	    |  <------------------ answer(i) --------  |  sent before the message is checked
//	 t1 |
//	    check the answer                           check the message
//
// # What is timed, and how every byte can be checked all the same
//
// Only t1 - t0 is timed: a send and a receive, nothing else. Half of it is the one-way latency. Messages are filled
// before t0; rank 1 answers first and checks the message afterwards; rank 0 checks the answer after t1. So that rank
// 1's checking of message i cannot delay message i+1, it says ready when it is about to receive, and rank 0 starts the
// clock no sooner. It says so when it is asked, after t1: unasked, its word would come right behind the answer, and the
// thread that takes the answer would wait, within the time, for the kernel's lock on the socket, which is held while
// that word is put there: 0.4 us of 2.2 over Unix sockets. Asked, the two take turns throughout. That puts both sides
// into the state that they have in the usual latency tests without verification (rank 1 has just sent and waits, rank 0
// has just received), which is what those measure. Message and answer differ in every iteration and from each other
// (package pattern), so a stale buffer does not pass; the length is checked, and a guard behind the buffer. What
// filling and checking change is the state of the caches: a message has just been written by its sender, as in a real
// program, whereas a test that sends the same buffer again finds it shared.
//
// The two readings of the cycle counter cost some nanoseconds themselves; what an empty pair costs is measured at start
// and subtracted.
//
// # Percentiles
//
// Each exchange is a sample, in a histogram of three significant digits (package hdrhistogram). With several pairs, all
// pairs' samples are one population: the latency is that of a message among many. Bandwidth is size / median one-way
// latency, times the pairs, in 10^6 bytes per second.
//
// # Iterations
//
// Each size runs a warm-up of a tenth of its iterations first (10 to 1000), which is checked but not counted. Beyond 8
// KiB the iterations shrink with the size, down to 50 (or what was asked for, if less), so that each row moves about as
// many bytes.
//
// # Ends
//
// Rank 0 watches its child: should it end early, the run ends within two seconds with the rank and the cause. The
// kernel sends rank 1 SIGTERM when rank 0 dies (PDEATHSIG); it says so and ends. An interrupt (Ctrl-C) is for rank 0,
// which ends rank 1; the latter has a process group of its own and ignores SIGINT.
package pingpong
