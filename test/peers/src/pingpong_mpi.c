// Ping-pong between two MPI ranks, blocking send and receive, as in OSU's latency test; or
// windows of MPI_Isend and MPI_Irecv from and into one buffer, as in OSU's bandwidth test.
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

static MPI_Request under_way[MAX_WINDOW];
static MPI_Status ended[MAX_WINDOW];

static void mpi_send_all(void *self, const void *p, size_t n, int window)
{
	int peer = *(int *)self;

	for (int i = 0; i < window; i++)
		MPI_Isend(p, (int)n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &under_way[i]);
	MPI_Waitall(window, under_way, ended);
}

static void mpi_recv_all(void *self, void *p, size_t n, int window)
{
	int peer = *(int *)self;

	for (int i = 0; i < window; i++)
		MPI_Irecv(p, (int)n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &under_way[i]);
	MPI_Waitall(window, under_way, ended);
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	int rank = join_two(&argc, &argv, o.cpus, MPI_THREAD_SINGLE), peer = 1 - rank;

	pingpong(o, rank, (struct transport){mpi_send, mpi_recv, &peer, mpi_send_all, mpi_recv_all}, o.probe ? shared_lines(o.probe) : NULL);
	MPI_Finalize();
	return 0;
}
