// How far an immediate collective operation of two MPI ranks overlaps with a computation at both.
//
//   overlap_collectives_mpi allreduce|bcast|alltoall -s SIZE -i ITERS -g GAP -e EVERY -l LONG -c CPU,CPU
//
// SIZE is bytes: of an operand, of the message, of the block for each rank. The computation takes as long as the operation alone, at the rank
// that is in it longer; how many steps that are each rank takes from the best of ITERS tries. GAP is for how many ns the ranks compute before
// each part, in step: the link's bucket is full then. EVERY is the ns of computation between two calls of MPI_Test, where there are such. ITERS
// times it makes, in turns,
//
//   the computation alone
//   start, computation, wait
//   start, computation with MPI_Test, wait
//   a computation LONG times as long alone
//   start, that computation with MPI_Test, wait: the CPU time that it takes beyond the computation is the operation's
//
// and prints a line for rank 0 and one for rank 1, in ns: operation alone, computation alone, total, of it the wait, total with MPI_Test, of it the
// wait, CPU time of the long computation, CPU time of it and the operation, the wait after it.
#include "ranks.h"
#include "work.h"

enum { ALLREDUCE, BCAST, ALLTOALL };

static int operation, rank, size;
static double rate; // steps of work per ns
static unsigned char *in, *out;

// part is what one part took at this rank, in ns.
struct part {
	double total, wait, cpu;
};

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void start(MPI_Request *r)
{
	int n = size / (int)sizeof(double);

	if (operation == ALLREDUCE)
		MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, r);
	else if (operation == BCAST)
		MPI_Ibcast(rank == 0 ? in : out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, r);
	else
		MPI_Ialltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD, r);
}

// give writes the operands of a turn.
static void give(int turn)
{
	int n = size / (int)sizeof(double);

	for (int i = 0; i < 2 * n; i++) {
		((double *)in)[i] = turn + rank + i % 1000;
		((double *)out)[i] = -1;
	}
}

// examine returns whether the result is right.
static void examine(int turn)
{
	int n = size / (int)sizeof(double);

	for (int i = 0; i < (operation == ALLTOALL ? 2 * n : n); i++) {
		double want = turn + i % 1000;

		if (operation == ALLREDUCE)
			want = 2 * want + 1;
		else if (operation == ALLTOALL) // block k is that of this rank, at rank k
			want = turn + i / n + (rank * n + i % n) % 1000;
		else if (rank == 0)
			return;
		if (((double *)out)[i] != want) {
			fprintf(stderr, "rank %d, turn %d: element %d is %g, want %g\n", rank, turn, i, ((double *)out)[i], want);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
}

// measure makes one part: a computation of so many ns, beside the operation if there is to be one. every is the ns between two calls of
// MPI_Test; 0: none.
static struct part measure(double gap, double ns, int beside, double every)
{
	static int turn;
	MPI_Request r = MPI_REQUEST_NULL;
	struct part p;
	uint64_t steps = (uint64_t)(ns * rate), piece = every > 0 ? (uint64_t)(every * rate) : steps;

	if (beside)
		give(++turn);
	work_steps((uint64_t)(gap * rate));
	MPI_Barrier(MPI_COMM_WORLD);
	double used = cpu_ns();
	uint64_t began = clock_ns();
	if (beside)
		start(&r);
	for (uint64_t done = 0; done < steps; done += piece) {
		int flag;

		work_steps(steps - done < piece ? steps - done : piece);
		if (beside && every > 0)
			MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
	}
	uint64_t computed = clock_ns();
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	uint64_t ended = clock_ns();
	p.cpu = cpu_ns() - used;
	p.total = (double)(ended - began);
	p.wait = (double)(ended - computed);
	if (beside)
		examine(turn);
	return p;
}

// longer is the larger one of what two ranks have measured.
static double longer(double ns)
{
	double most;

	MPI_Allreduce(&ns, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

// leave ends the job. MPICH over UCX waits in MPI_Finalize for acknowledgements of what it has put into the memory of the other rank, which has
// stopped looking by then; a fence waits for them while both look. Open MPI has no windows over tcp alone.
static void leave(void)
{
#ifdef MPICH_VERSION
	MPI_Win w;

	MPI_Win_create(out, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_fence(0, w);
	MPI_Put(in, 8, MPI_BYTE, 1 - rank, 0, 8, MPI_BYTE, w);
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
#endif
	MPI_Finalize();
}

int main(int argc, char **argv)
{
	const char *names[] = {"allreduce", "bcast", "alltoall"};
	int iters = 0, cpus[2] = {0, 1}, c, two = 1;
	double gap = 0, every = 0, longest = 0;

	while (operation < 3 && strcmp(argc > 1 ? argv[1] : "", names[operation]))
		operation++;
	for (optind = 2; optind < argc && (c = getopt(argc, argv, "s:i:g:e:l:c:")) != -1;) {
		if (c == 's')
			size = atoi(optarg);
		else if (c == 'i')
			iters = atoi(optarg);
		else if (c == 'g')
			gap = atof(optarg);
		else if (c == 'e')
			every = atof(optarg);
		else if (c == 'l')
			longest = atof(optarg);
		else if (c == 'c')
			two = sscanf(optarg, "%d,%d", &cpus[0], &cpus[1]) == 2;
	}
	if (operation == 3 || size < 8 || iters < 1 || every <= 0 || longest < 1 || !two) {
		fprintf(stderr, "usage: %s allreduce|bcast|alltoall -s SIZE -i ITERS -g GAP -e EVERY -l LONG -c CPU,CPU\n", argv[0]);
		return 2;
	}
	rank = join_two(&argc, &argv, cpus, MPI_THREAD_SINGLE);
	in = buffer(2 * (size_t)size);
	out = buffer(2 * (size_t)size);
	rate = steps_per_ns();
	double *some = buffer(sizeof *some * (size_t)(iters + 1));
	for (int i = 0; i <= iters; i++)
		some[i] = longer(measure(gap, 0, 1, 0).total);
	qsort(some + 1, (size_t)iters, sizeof *some, by_value); // the first one warms up
	double t = some[1 + iters / 2];
	MPI_Bcast(&t, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int i = 0; i < iters; i++)
		some[i] = measure(gap, t, 0, 0).total;
	qsort(some, (size_t)iters, sizeof *some, by_value);
	rate *= t / some[0];
	for (int i = 0; i < iters; i++) {
		struct part pure = measure(gap, t, 0, 0), plain = measure(gap, t, 1, 0), tested = measure(gap, t, 1, every);
		struct part idle = measure(gap, longest * t, 0, 0), busy = measure(gap, longest * t, 1, every);
		double mine[] = {t, pure.total, plain.total, plain.wait, tested.total, tested.wait, idle.cpu, busy.cpu, busy.wait};
		enum { FIGURES = sizeof mine / sizeof *mine };
		double all[2 * FIGURES];

		MPI_Gather(mine, FIGURES, MPI_DOUBLE, all, FIGURES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		for (int k = 0; rank == 0 && k < 2 * FIGURES; k++)
			printf("%.1f%c", all[k], k % FIGURES == FIGURES - 1 ? '\n' : ' ');
	}
	leave();
	return 0;
}
