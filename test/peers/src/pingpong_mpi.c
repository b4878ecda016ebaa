// Ping-pong between two MPI ranks, blocking send and receive, as in OSU's latency test.
#include "peer.h"

#include <mpi.h>

static void mpi_send(void *self, const void *p, size_t n)
{
	int peer = *(int *)self;

	MPI_Send(p, (int)n, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
}

static void mpi_recv(void *self, void *p, size_t n)
{
	int peer = *(int *)self;

	MPI_Recv(p, (int)n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// The launchers of Open MPI and of MPICH tell the rank before MPI_Init: so that
// also what MPI_Init touches first is touched on the right CPU.
static int early_rank(void)
{
	const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (getenv(names[i]))
			return atoi(getenv(names[i]));
	return -1;
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	int rank, size, peer;

	rank = early_rank();
	if (rank == 0 || rank == 1)
		bind_to(o.cpus[rank]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "%s needs 2 ranks, not %d\n", argv[0], size);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	bind_to(o.cpus[rank]);
	peer = 1 - rank;
	pingpong(o, rank, (struct transport){mpi_send, mpi_recv, &peer}, o.probe ? shared_lines(o.probe) : NULL);
	MPI_Finalize();
	return 0;
}
