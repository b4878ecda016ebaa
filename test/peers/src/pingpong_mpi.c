// Ping-pong between two MPI ranks, blocking send and receive, as in OSU's latency test.
#include "ranks.h"

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

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	int rank = join_two(&argc, &argv, o.cpus, MPI_THREAD_SINGLE), peer = 1 - rank;

	pingpong(o, rank, (struct transport){mpi_send, mpi_recv, &peer}, o.probe ? shared_lines(o.probe) : NULL);
	MPI_Finalize();
	return 0;
}
