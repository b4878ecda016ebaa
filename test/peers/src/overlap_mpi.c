// How far a message between two MPI ranks overlaps with a computation.
//
//   overlap_mpi SIDE -s SIZE -i ITERS -f 0,0.5,1,2 -c CPU,CPU
//   overlap_mpi SIDE -s SIZE -i ITERS -t 0,1000,100000 -c CPU,CPU
//
// SIDE is sender, receiver or both; -t has lengths of the computation in ns, -f multiples of what
// the message alone takes. Per length it prints a line: what the message alone takes; the length; and
// the times of ITERS messages, all in ns, from the start of the send to the receiver's word that it has all.
//
//   rank 0                                 rank 1
//     how long you compute ───────────────▶  MPI_Irecv
//     clock on      ◀─────────────────────   ready
//     MPI_Isend, compute, MPI_Wait  ══════▶  compute, MPI_Wait
//     clock off     ◀─────────────────────   have it
#include "ranks.h"
#include "work.h"

enum { ORDER = 1, READY, DATA, HAVE };

static int rank, size;
static double rate; // steps of work per ns
static unsigned char *data;

static void compute(double ns)
{
	if (ns > 0)
		work_steps((uint64_t)(ns * rate));
}

// send_one returns the time in ns; mine and theirs are how long the ranks compute.
static double send_one(double mine, double theirs)
{
	MPI_Request r;

	MPI_Send(&theirs, 1, MPI_DOUBLE, 1, ORDER, MPI_COMM_WORLD);
	MPI_Recv(NULL, 0, MPI_BYTE, 1, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	uint64_t began = clock_ns();
	MPI_Isend(data, size, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &r);
	compute(mine);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Recv(NULL, 0, MPI_BYTE, 1, HAVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return (double)(clock_ns() - began);
}

// receive_all carries out orders until one is negative.
static void receive_all(void)
{
	for (unsigned turn = 0;; turn++) {
		MPI_Request r;
		double ns;

		MPI_Recv(&ns, 1, MPI_DOUBLE, 0, ORDER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (ns < 0)
			return;
		MPI_Irecv(data, size, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &r);
		MPI_Send(NULL, 0, MPI_BYTE, 0, READY, MPI_COMM_WORLD);
		compute(ns);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Send(NULL, 0, MPI_BYTE, 0, HAVE, MPI_COMM_WORLD);
		if (turn == 0)
			check(data, (size_t)size, 7);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	double lengths[MAX_SIZES];
	int n = 0, absolute = 0, iters = 0, cpus[2] = {0, 1}, c, at_sender, at_receiver;
	const char *side = argc > 1 ? argv[1] : "";

	at_sender = !strcmp(side, "sender") || !strcmp(side, "both");
	at_receiver = !strcmp(side, "receiver") || !strcmp(side, "both");
	for (optind = 2; optind < argc && (c = getopt(argc, argv, "s:i:f:t:c:")) != -1;) {
		if (c == 's')
			size = atoi(optarg);
		else if (c == 'i')
			iters = atoi(optarg);
		else if (c == 'c')
			n = sscanf(optarg, "%d,%d", &cpus[0], &cpus[1]) == 2 ? n : -1;
		else if (c == 'f' || c == 't') {
			absolute = c == 't';
			for (char *p = strtok(optarg, ","); p && n >= 0 && n < MAX_SIZES; p = strtok(NULL, ","))
				lengths[n++] = atof(p);
		}
	}
	if (!(at_sender || at_receiver) || size < 1 || iters < 1 || n < 1) {
		fprintf(stderr, "usage: %s sender|receiver|both -s SIZE -i ITERS -f FACTOR,...|-t NS,... -c CPU,CPU\n", argv[0]);
		return 2;
	}
	rank = join_two(&argc, &argv, cpus, MPI_THREAD_MULTIPLE);
	data = buffer((size_t)size);
	rate = steps_per_ns();
	if (rank == 1) {
		receive_all();
		MPI_Finalize();
		return 0;
	}
	fill(data, (size_t)size, 7);
	double *sample = buffer(sizeof *sample * (size_t)(iters + 1));
	for (int i = 0; i <= iters; i++)
		sample[i] = send_one(0, 0);
	qsort(sample + 1, (size_t)iters, sizeof *sample, by_value); // the first one warms up
	double alone = sample[1 + iters / 2];
	for (int k = 0; k < n; k++) {
		double t = absolute ? lengths[k] : lengths[k] * alone;

		printf("%.1f %.1f", alone, t);
		for (int i = 0; i < iters; i++)
			printf(" %.1f", send_one(at_sender ? t : 0, at_receiver ? t : 0));
		printf("\n");
	}
	double end = -1;
	MPI_Send(&end, 1, MPI_DOUBLE, 1, ORDER, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
