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

int main(int argc, char **argv)
{
	pid_t child;
	OK(MPI_Init(&argc, &argv));
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
