/* Rank 1 comes to the end that the argument names, while the others wait for it. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, x = 0;
	const char *how = argv[1];
	CHECK(argc == 2);
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank != 1) {
		MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("it went on\n");
		return 0;
	}
	if (strcmp(how, "killed") == 0)
		raise(SIGKILL);
	if (strcmp(how, "stopped") == 0)
		raise(SIGSTOP);
	if (strcmp(how, "crashed") == 0)
		*(volatile int *)16 = 1;
	if (strcmp(how, "aborted") == 0)
		abort();
	if (strcmp(how, "divided") == 0) {
		volatile int zero = x, big = 12;
		return big / zero;
	}
	if (strcmp(how, "returned") == 0)
		return 0;
	if (strcmp(how, "exited") == 0)
		exit(3);
	if (strcmp(how, "left") == 0)
		_exit(4);
	MPI_Abort(MPI_COMM_WORLD, 7);
	return 0;
}
