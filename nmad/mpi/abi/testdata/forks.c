/* A program that forks before MPI_Init: both processes may call it. Handles of null objects, sizes and the time need no engine, so they may be had before, too. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int status, n;
	pid_t child;
	OK(MPI_Type_size(MPI_DOUBLE, &n));
	CHECK(n == 8 && MPI_Wtime() > 0 && MPI_Comm_toint(MPI_COMM_NULL) == 0x100);
	child = fork();
	if (child == 0) {
		OK(MPI_Init(&argc, &argv));
		CHECK(size_of(MPI_COMM_WORLD) == 1);
		OK(MPI_Finalize());
		return 42;
	}
	OK(MPI_Init(&argc, &argv));
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42);
	return well();
}
