// What the programs of two MPI ranks share: who am I, and where do I run.
#ifndef RANKS_H
#define RANKS_H

#include "peer.h"

#include <mpi.h>

// early_rank is the rank before MPI_Init, which the launchers of Open MPI and of MPICH
// tell: so that also what MPI_Init touches first is touched on the right CPU.
static int early_rank(void)
{
	const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (getenv(names[i]))
			return atoi(getenv(names[i]));
	return -1;
}

// join_two binds this process to its CPU and joins the job, which must have two ranks; it
// returns ours. threads is the thread level that MPI must grant.
static int join_two(int *argc, char ***argv, const int cpus[2], int threads)
{
	int rank = early_rank(), size, granted;

	if (rank == 0 || rank == 1)
		bind_to(cpus[rank]);
	MPI_Init_thread(argc, argv, threads, &granted);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "%s needs 2 ranks, not %d\n", (*argv)[0], size);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (granted < threads) {
		fprintf(stderr, "%s needs thread level %d, this MPI grants %d\n", (*argv)[0], threads, granted);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	bind_to(cpus[rank]);
	return rank;
}

#endif
