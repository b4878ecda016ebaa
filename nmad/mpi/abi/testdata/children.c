/* Children after MPI_Init: one that ends by itself, one that runs another program, and one that calls MPI, which says why it cannot. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child)
{
	int status;
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* What C does itself, once messages have gone that way, is refused as well. */
static void short_messages(void)
{
	int other = 1 - rank_of(MPI_COMM_WORLD), i, x, y = 7;
	MPI_Request r;
	pid_t child;
	for (i = 0; i < 10; i++) {
		OK(MPI_Irecv(&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r));
		OK(MPI_Send(&y, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
	OK(MPI_Irecv(&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r));
	for (i = 0; i < 3; i++) {
		child = fork();
		if (child == 0) {
			fclose(stderr);
			if (i == 0)
				MPI_Send(&y, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
			else if (i == 1)
				MPI_Recv(&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			else
				MPI_Wait(&r, MPI_STATUS_IGNORE);
			_exit(0);
		}
		CHECK(status_of(child) == 1);
	}
	OK(MPI_Send(&y, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
	pid_t child;
	OK(MPI_Init(&argc, &argv));
	short_messages();
	child = fork();
	if (child == 0)
		exit(5);
	CHECK(status_of(child) == 5);
	child = fork();
	if (child == 0) {
		execlp("true", "true", NULL);
		_exit(2);
	}
	CHECK(status_of(child) == 0);
	child = fork();
	if (child == 0) {
		fclose(stderr);
		MPI_Barrier(MPI_COMM_WORLD);
		_exit(0);
	}
	CHECK(status_of(child) == 1);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	return well();
}
