// Patterns of many MPI ranks, more than the CPUs that they have:
//
//   ranks_mpi alltoall|ring|burst|mpi-OPERATION SIZE SAMPLES
//
//   alltoall  each rank sends to every other one, and receives from it
//   ring      each sends to the next one, and receives from the one before
//   burst     the same, 100 messages at once
//   mpi-OPERATION  barrier, bcast, reduce, allreduce (of double, summed), allgather or alltoall of MPI; SIZE is what a rank gives, to each other
//                  one of alltoall. The root moves on by one each time
//
// Rank 0 prints the median time of one round of the pattern in ns: a sample is 20 rounds, since a rank that need not
// wait runs some rounds ahead, and then waits for long. ranks.go has ours.
#include "peer.h"

#include <mpi.h>

enum { BURST = 100, ROUNDS = 20, MAX_RANKS = 64, TAG = 1 };

static int rank, ranks, turn;
static size_t size;
static unsigned char *in, *out, *all;
static MPI_Request under_way[2 * (MAX_RANKS > BURST ? MAX_RANKS : BURST)];
static int nunder_way;

static void receive(int from, int slot)
{
	MPI_Irecv(in + (size_t)slot * size, (int)size, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &under_way[nunder_way++]);
}

static void send(int to) { MPI_Isend(out, (int)size, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &under_way[nunder_way++]); }

// collective does an operation of MPI once. Some of the result is looked at.
static void collective(const char *what)
{
	int root = turn % ranks, doubles = (int)(size / sizeof(double));
	double *give = (double *)out, *get = (double *)in;

	turn++;
	if (doubles > 0)
		give[0] = turn;
	if (strcmp(what, "barrier") == 0)
		MPI_Barrier(MPI_COMM_WORLD);
	else if (strcmp(what, "bcast") == 0)
		MPI_Bcast(out, (int)size, MPI_BYTE, root, MPI_COMM_WORLD);
	else if (strcmp(what, "reduce") == 0)
		MPI_Reduce(out, in, doubles, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
	else if (strcmp(what, "allreduce") == 0)
		MPI_Allreduce(out, in, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	else if (strcmp(what, "allgather") == 0)
		MPI_Allgather(out, (int)size, MPI_BYTE, in, (int)size, MPI_BYTE, MPI_COMM_WORLD);
	else if (strcmp(what, "alltoall") == 0)
		MPI_Alltoall(all, (int)size, MPI_BYTE, in, (int)size, MPI_BYTE, MPI_COMM_WORLD);
	if (strcmp(what, "allreduce") == 0 && doubles > 0 && get[0] != (double)turn * ranks) {
		fprintf(stderr, "rank %d: turn %d has the sum %g\n", rank, turn, get[0]);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

// bind_apart gives each rank a CPU of its own, if there are as many.
static void bind_apart(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < ranks)
		return;
	for (int cpu = 0, left = rank; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && left-- == 0) {
			bind_to(cpu);
			return;
		}
}

// round_of does the pattern once; the first and the last byte of each message say which turn it is of.
static void round_of(const char *pattern)
{
	int messages = *pattern == 'b' ? BURST : 1, slots = messages;

	if (*pattern == 'm') {
		collective(pattern + strlen("mpi-"));
		return;
	}
	nunder_way = 0;
	turn++;
	out[0] = out[size - 1] = (unsigned char)(turn % 251);
	if (*pattern == 'a') {
		slots = ranks - 1;
		for (int i = 1; i < ranks; i++)
			receive((rank + i) % ranks, i - 1);
		for (int i = 1; i < ranks; i++)
			send((rank + i) % ranks);
	} else {
		for (int i = 0; i < messages; i++)
			receive((rank + ranks - 1) % ranks, i);
		for (int i = 0; i < messages; i++)
			send((rank + 1) % ranks);
	}
	MPI_Waitall(nunder_way, under_way, MPI_STATUSES_IGNORE);
	for (int i = 0; i < slots; i++)
		if (in[(size_t)i * size] != turn % 251 || in[(size_t)(i + 1) * size - 1] != turn % 251) {
			fprintf(stderr, "rank %d: message %d of turn %d arrived wrong\n", rank, i, turn);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
}

int main(int argc, char **argv)
{
	const char *pattern = argc > 1 ? argv[1] : "";
	int samples = argc > 3 ? atoi(argv[3]) : 0;
	uint64_t *sample;

	size = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!(strcmp(pattern, "alltoall") == 0 || strcmp(pattern, "ring") == 0 || strcmp(pattern, "burst") == 0 || strncmp(pattern, "mpi-", 4) == 0) || size < 1 || samples < 1 || ranks > MAX_RANKS) {
		fprintf(stderr, "usage: ranks_mpi alltoall|ring|burst|mpi-OPERATION SIZE SAMPLES, with %d ranks at most\n", MAX_RANKS);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	in = buffer(size * (MAX_RANKS > BURST ? MAX_RANKS : BURST));
	out = buffer(size);
	all = buffer(size * MAX_RANKS);
	if (*pattern == 'm')
		bind_apart();
	sample = buffer(sizeof *sample * (size_t)samples);
	for (int i = 0; i < ROUNDS * (1 + samples / 10); i++)
		round_of(pattern);
	for (int i = 0; i < samples; i++) {
		uint64_t before = clock_ns();

		for (int k = 0; k < ROUNDS; k++)
			round_of(pattern);
		sample[i] = clock_ns() - before;
	}
	qsort(sample, (size_t)samples, sizeof *sample, ascending);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%.1f\n", (double)sample[samples / 2] / ROUNDS);
	MPI_Finalize();
	return 0;
}
