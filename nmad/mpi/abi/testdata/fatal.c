/* An error without a handler of the program's; with an argument, MPI_Abort, of a status or with input that another thread waits for; a class of the program's; and processes that end without a word. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static void *reads(void *unused)
{
	char line[10];
	if (fgets(line, sizeof line, stdin) == NULL)
		_exit(9);
	return unused;
}

int main(int argc, char **argv)
{
	int rank, x = 0;
	const char *how = argc > 1 ? argv[1] : "";
	MPI_Init(&argc, &argv);
	rank = rank_of(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(how, "abort") == 0 && rank == 0) {
		printf("was buffered"); /* no end of the line */
		MPI_Abort(MPI_COMM_WORLD, 7);
	}
	if (strcmp(how, "reads") == 0 && rank == 0) {
		int ends[2];
		pthread_t t;
		CHECK(pipe(ends) == 0 && dup2(ends[0], 0) == 0); /* nothing ever comes */
		CHECK(pthread_create(&t, NULL, reads, NULL) == 0);
		usleep(100000);
		MPI_Abort(MPI_COMM_WORLD, 256);
	}
	if (strcmp(how, "class") == 0 && rank == 0) {
		OK(MPI_Add_error_class(&x));
		CHECK(x % 256 == 0);
		MPI_Comm_call_errhandler(MPI_COMM_WORLD, x);
	}
	if (strcmp(how, "dies") == 0) {
		MPI_Request r[2];
		if (rank == 1)
			_exit(5);
		MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r[0]);
		MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r[1]);
		MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	if (strcmp(how, "leaves") == 0 && rank == 1)
		_exit(0);
	if (rank == 1 && *how == 0)
		MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("it went on\n");
	return 0;
}
