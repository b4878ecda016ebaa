// Patterns of many MPI ranks, more than the CPUs that they have:
//
//   ranks_mpi alltoall|ring|burst SIZE SAMPLES
//
//   alltoall  each rank sends to every other one, and receives from it
//   ring      each sends to the next one, and receives from the one before
//   burst     the same, 100 messages at once
//
// Rank 0 prints the median time of one round of the pattern in ns: a sample is 20 rounds, since a rank that need not
// wait runs some rounds ahead, and then waits for long. ranks.go has ours.
#include "peer.h"

#include <mpi.h>

enum { BURST = 100, ROUNDS = 20, MAX_RANKS = 64, TAG = 1 };

static int rank, ranks, turn;
static size_t size;
static unsigned char *in, *out;
static MPI_Request under_way[2 * (MAX_RANKS > BURST ? MAX_RANKS : BURST)];
static int nunder_way;

static void receive(int from, int slot)
{
	MPI_Irecv(in + (size_t)slot * size, (int)size, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &under_way[nunder_way++]);
}

static void send(int to) { MPI_Isend(out, (int)size, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &under_way[nunder_way++]); }

// round_of does the pattern once; the first and the last byte of each message say which turn it is of.
static void round_of(const char *pattern)
{
	int messages = *pattern == 'b' ? BURST : 1, slots = messages;

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
	if (!(strcmp(pattern, "alltoall") == 0 || strcmp(pattern, "ring") == 0 || strcmp(pattern, "burst") == 0) || size < 1 || samples < 1 || ranks > MAX_RANKS) {
		fprintf(stderr, "usage: ranks_mpi alltoall|ring|burst SIZE SAMPLES, with %d ranks at most\n", MAX_RANKS);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	in = buffer(size * (MAX_RANKS > BURST ? MAX_RANKS : BURST));
	out = buffer(size);
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
