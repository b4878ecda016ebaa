// A computation that can be made to any length, and stays it whoever else uses the CPU: a
// number of steps rather than a time. Each depends on the one before.
#ifndef WORK_H
#define WORK_H

#include "peer.h"

__attribute__((unused)) static void work_steps(uint64_t n)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < n; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
}

// steps_per_ns is how fast this CPU is when nothing else uses it: the best of as many tries, of as many
// steps, as ours makes (lab/work.go).
__attribute__((unused)) static double steps_per_ns(void)
{
	const uint64_t n = 500000;
	double best = 0;

	for (int i = 0; i < 10; i++) {
		uint64_t began = clock_ns();
		work_steps(n);
		double rate = (double)n / (double)(clock_ns() - began);
		if (rate > best)
			best = rate;
	}
	return best;
}

#endif
