// The core-to-core probe: two processes hand one word back and forth in shared
// memory, each writing its own cache line. Its "size" is 1, its time that of one
// cache line, one way: it tells in which regime the machine is.
#include "peer.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	struct lines *l = shared_lines(NULL);
	uint64_t *sample = buffer(sizeof *sample * (size_t)o.iters);
	double none[2] = {0, 0};
	int rank, status = 0;

	if (o.cpus[0] == o.cpus[1]) {
		fprintf(stderr, "the probe needs two CPUs\n");
		return 2;
	}
	rank = second_process(o);
	probe_turns(l, rank, o.warmup, NULL);
	probe_turns(l, rank, o.iters, sample);
	if (rank != 0)
		return 0;
	printf("{\"rows\":[");
	print_row(1, sample, o.iters, ns_per_tick(), none, 1);
	printf("]}\n");
	if (wait(&status) < 0 || status != 0)
		return 1;
	return 0;
}
