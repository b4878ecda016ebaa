// How long a caller is inside the calls of MPI that move one message between two ranks.
//
//   calls_mpi send|isend|late|early -s SIZE -i ITERS -t NS -c CPU,CPU
//
// Rank 0 is timed. It prints a line of ITERS times in ns for each call; the first message is left out.
//
//   send    a blocking send, whose receive is posted
//   isend   two lines: MPI_Isend, and, after a computation of NS, MPI_Wait
//   late    a blocking receive after a computation of NS, at whose beginning the message left
//   early   a blocking receive that is posted before its message leaves
#include "ranks.h"
#include "work.h"

enum { READY = 1, DATA, HAVE };

static int rank, size;
static uint64_t steps;
static unsigned char *data;

// sends is the part of rank 0 where it sends: the times inside the send, and inside the wait for it.
static void sends(int waits, double *inside, double *wait)
{
	MPI_Request r;

	MPI_Recv(NULL, 0, MPI_BYTE, 1, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	uint64_t began = clock_ns();
	if (waits)
		MPI_Isend(data, size, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &r);
	else
		MPI_Send(data, size, MPI_BYTE, 1, DATA, MPI_COMM_WORLD);
	*inside = (double)(clock_ns() - began);
	if (waits) {
		work_steps(steps);
		began = clock_ns();
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		*wait = (double)(clock_ns() - began);
	}
	MPI_Recv(NULL, 0, MPI_BYTE, 1, HAVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void answers(void)
{
	MPI_Request r;

	MPI_Irecv(data, size, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &r);
	MPI_Send(NULL, 0, MPI_BYTE, 0, READY, MPI_COMM_WORLD);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Send(NULL, 0, MPI_BYTE, 0, HAVE, MPI_COMM_WORLD);
}

// receives is the part of rank 0 where it receives; the other one sends when it hears READY.
static void receives(int late, double *inside)
{
	MPI_Send(NULL, 0, MPI_BYTE, 1, READY, MPI_COMM_WORLD);
	if (late)
		work_steps(steps);
	uint64_t began = clock_ns();
	MPI_Recv(data, size, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	*inside = (double)(clock_ns() - began);
	MPI_Send(NULL, 0, MPI_BYTE, 1, HAVE, MPI_COMM_WORLD);
}

// serves waits for the word that its message has come: a sender that ends before that may leave it in a queue.
static void serves(void)
{
	MPI_Recv(NULL, 0, MPI_BYTE, 0, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(data, size, MPI_BYTE, 0, DATA, MPI_COMM_WORLD);
	MPI_Recv(NULL, 0, MPI_BYTE, 0, HAVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	const char *names[] = {"send", "isend", "late", "early"};
	int way = 0, iters = 0, cpus[2] = {0, 1}, c, two = 1;
	double ns = 0;

	while (way < 4 && strcmp(argc > 1 ? argv[1] : "", names[way]))
		way++;
	for (optind = 2; optind < argc && (c = getopt(argc, argv, "s:i:t:c:")) != -1;) {
		if (c == 's')
			size = atoi(optarg);
		else if (c == 'i')
			iters = atoi(optarg);
		else if (c == 't')
			ns = atof(optarg);
		else if (c == 'c')
			two = sscanf(optarg, "%d,%d", &cpus[0], &cpus[1]) == 2;
	}
	if (way == 4 || size < 1 || iters < 1 || !two) {
		fprintf(stderr, "usage: %s send|isend|late|early -s SIZE -i ITERS -t NS -c CPU,CPU\n", argv[0]);
		return 2;
	}
	rank = join_two(&argc, &argv, cpus, MPI_THREAD_SINGLE);
	data = buffer((size_t)size);
	if (rank == (way < 2 ? 0 : 1))
		fill(data, (size_t)size, 7);
	if (rank == 0 && ns > 0)
		steps = (uint64_t)(ns * steps_per_ns());
	double *inside = buffer(sizeof *inside * (size_t)(iters + 1)), *wait = buffer(sizeof *wait * (size_t)(iters + 1));
	for (int i = 0; i <= iters; i++) {
		if (way < 2 && rank == 0)
			sends(way == 1, &inside[i], &wait[i]);
		else if (way < 2)
			answers();
		else if (rank == 0)
			receives(way == 2, &inside[i]);
		else
			serves();
	}
	if (rank == (way < 2 ? 1 : 0))
		check(data, (size_t)size, 7);
	for (int line = 0; rank == 0 && line < (way == 1 ? 2 : 1); line++) {
		for (int i = 1; i <= iters; i++)
			printf("%.1f ", (line == 0 ? inside : wait)[i]);
		printf("\n");
	}
	MPI_Finalize();
	return 0;
}
