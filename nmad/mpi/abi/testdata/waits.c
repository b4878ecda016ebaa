/* A program that waits for a message that never comes. */
#include "check.h"

static __attribute__((noinline)) void waits_here(int *x)
{
	OK(MPI_Recv(x, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE));
	printf("it has come\n");
}

int main(int argc, char **argv)
{
	int x;
	OK(MPI_Init(&argc, &argv));
	printf("about to wait\n");
	fflush(stdout);
	waits_here(&x);
	return well();
}
