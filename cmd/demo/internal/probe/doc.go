// Package probe measures how long one cache line takes from one core to another.
//
// Two OS threads, bound to the two CPUs, hand one word to and fro in one cache line. Half a round trip is the figure:
// one line, one way. Everything that crosses cores moves with it, and some machines flip between two regimes within
// seconds, so the demo prints it beside every such row and never divides rows of different regimes by each other.
//
// The figure is the median of some twenty short batches, which costs one to three milliseconds, and ignores the batches
// in which the kernel took a thread away.
package probe
