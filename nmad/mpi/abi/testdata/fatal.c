/* An error without a handler of the program's; with an argument, MPI_Abort. */
#include "check.h"

int main(int argc, char **argv)
{
	int rank, x = 0;
	MPI_Init(&argc, &argv);
	rank = rank_of(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (argc > 1 && rank == 0) {
		printf("was buffered"); /* no end of the line */
		MPI_Abort(MPI_COMM_WORLD, 7);
	}
	if (rank == 1 && argc == 1)
		MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("it went on\n");
	return 0;
}
