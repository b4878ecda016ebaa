/* Collective operations, with neighbors too, and messages of the rarer modes: begun, and made once and started twice. */
#include "check.h"

static int rank, size, next, before;

static void done(MPI_Request *r)
{
	OK(MPI_Wait(r, MPI_STATUS_IGNORE));
	CHECK(*r == MPI_REQUEST_NULL);
}

static void reductions(void)
{
	int in[16], out[16], counts[16], i, sum = 0, y = -1, root = size - 1;
	MPI_Request r;
	for (i = 0; i < size; i++)
		in[i] = 100 * rank + i, counts[i] = 1, sum += i;
	memset(out, 0, sizeof out);
	OK(MPI_Ireduce(in, out, size, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &r));
	done(&r);
	for (i = 0; i < size; i++)
		CHECK(out[i] == (rank == root ? 100 * sum + size * i : 0));
	OK(MPI_Ireduce_scatter(in, &y, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r));
	done(&r);
	CHECK(y == 100 * sum + size * rank);
	OK(MPI_Ireduce_scatter_block(in, &y, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r));
	done(&r);
	CHECK(y == 100 * (size - 1) + rank);
	OK(MPI_Iscan(&rank, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r));
	done(&r);
	CHECK(y == rank * (rank + 1) / 2);
}

/* AGAIN starts a request twice, after what is sent has changed. */
#define AGAIN(make, change, check) \
	do { \
		MPI_Request r_; \
		int k; \
		OK(make); \
		r_ = r; \
		for (k = 0; k < 2; k++) { \
			change; \
			OK(MPI_Start(&r)); \
			OK(MPI_Wait(&r, MPI_STATUS_IGNORE)); \
			CHECK(r == r_); \
			check; \
		} \
		OK(MPI_Request_free(&r)); \
	} while (0)

static void reductions_again(void)
{
	int in[16], counts[16], i, sum = 0, y = -1;
	MPI_Request r;
	for (i = 0; i < size; i++)
		counts[i] = 1, sum += i;
	AGAIN(MPI_Reduce_init(in, &y, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r), in[0] = rank + 10 * k, CHECK(rank != 0 || y == sum + 10 * k * size));
	AGAIN(MPI_Reduce_scatter_init(in, &y, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r), for (i = 0; i < size; i++) in[i] = i + k * rank, CHECK(y == size * rank + k * sum));
}

/* Rank i gets i+1 ints, which lie from place 20*i on at the root, in the opposite order of the ranks. */
static void scatters(void)
{
	int in[400], out[20], counts[16], places[16], one[16], i, y, root = size - 1, n = rank + 1;
	MPI_Request r;
	for (i = 0; i < size; i++)
		counts[i] = i + 1, places[i] = 20 * (size - 1 - i), one[i] = 50 + i;
	for (i = 0; i < 400; i++)
		in[i] = i;
	OK(MPI_Scatterv(in, counts, places, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD));
	for (i = 0; i < n; i++)
		CHECK(out[i] == places[rank] + i);
	memset(out, 0, sizeof out);
	OK(MPI_Iscatterv(in, counts, places, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD, &r));
	done(&r);
	for (i = 0; i < n; i++)
		CHECK(out[i] == places[rank] + i);
	OK(MPI_Iscatter(one, 1, MPI_INT, &y, 1, MPI_INT, 0, MPI_COMM_WORLD, &r));
	done(&r);
	CHECK(y == 50 + rank);
	AGAIN(MPI_Scatter_init(one, 1, MPI_INT, &y, 1, MPI_INT, root, MPI_COMM_WORLD, MPI_INFO_NULL, &r), for (i = 0; i < size; i++) one[i] = 7 * i + k, CHECK(y == 7 * rank + k));
	AGAIN(MPI_Scatterv_init(in, counts, places, MPI_INT, out, n, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r), for (i = 0; i < 400; i++) in[i] = i + 1000 * k, CHECK(out[0] == places[rank] + 1000 * k && out[rank] == out[0] + rank));
}

/* A ring: each process has two neighbors, the one before it and the next one, which with two processes are the same, and with one the process itself. */
static void neighbors(void)
{
	int dims[1], wraps[1] = {1}, in[2], out[4], counts[2], places[2], sends[2] = {1, 1}, from[2] = {0, 1}, i;
	MPI_Aint at[2] = {0, sizeof(int)}, to[2] = {2 * sizeof(int), 0};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	MPI_Comm ring;
	MPI_Request r;
	dims[0] = size;
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, wraps, 0, &ring));
	/* What comes from the one before lies behind what comes from the next one. */
	counts[0] = counts[1] = 1, places[0] = 2, places[1] = 0;
	memset(out, 0xff, sizeof out);
	in[0] = 10 * rank;
	OK(MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, ring));
	CHECK(out[2] == 10 * before && out[0] == 10 * next && out[1] == -1 && out[3] == -1);
	AGAIN(MPI_Neighbor_allgatherv_init(in, 1, MPI_INT, out, counts, places, MPI_INT, ring, MPI_INFO_NULL, &r), in[0] = 10 * rank + k, CHECK(out[2] == 10 * before + k && out[0] == 10 * next + k));
	for (i = 0; i < 2; i++)
		in[i] = 10 * rank + i;
	/* The first int goes to the one before, the second to the next one: from the one before comes its second. */
	OK(MPI_Neighbor_alltoallv(in, sends, from, MPI_INT, out, counts, places, MPI_INT, ring));
	CHECK(out[2] == 10 * before + 1 && out[0] == 10 * next && out[1] == -1);
	AGAIN(MPI_Neighbor_alltoallv_init(in, sends, from, MPI_INT, out, counts, places, MPI_INT, ring, MPI_INFO_NULL, &r), in[0] = 10 * rank + 5 * k; in[1] = in[0] + 1, CHECK(out[2] == 10 * before + 5 * k + 1 && out[0] == 10 * next + 5 * k));
	for (i = 0; i < 2; i++)
		in[i] = 10 * rank + i;
	OK(MPI_Neighbor_alltoallw(in, sends, at, types, out, counts, to, types, ring));
	CHECK(out[2] == 10 * before + 1 && out[0] == 10 * next);
	AGAIN(MPI_Neighbor_alltoallw_init(in, sends, at, types, out, counts, to, types, ring, MPI_INFO_NULL, &r), in[0] = 10 * rank + 5 * k; in[1] = in[0] + 1, CHECK(out[2] == 10 * before + 5 * k + 1 && out[0] == 10 * next + 5 * k && out[3] == -1));
	OK(MPI_Comm_free(&ring));
}

static void messages(void)
{
	int x = 100 + rank, y = -1, k, flag;
	MPI_Request r, in;
	MPI_Status s;
	OK(MPI_Irecv(&y, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &in));
	OK(MPI_Barrier(MPI_COMM_WORLD)); /* all have begun to receive, which MPI_Irsend asks for */
	OK(MPI_Irsend(&x, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &r));
	done(&r);
	done(&in);
	CHECK(y == 100 + before);
	OK(MPI_Irecv(&y, 1, MPI_INT, before, 6, MPI_COMM_WORLD, &in));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Rsend((int[1]){200 + rank}, 1, MPI_INT, next, 6, MPI_COMM_WORLD));
	done(&in);
	CHECK(y == 200 + before);
	OK(MPI_Isendrecv_replace(&x, 1, MPI_INT, next, 2, before, 2, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, &s));
	CHECK(x == 100 + before && s.MPI_SOURCE == before && s.MPI_TAG == 2);
	OK(MPI_Rsend_init(&x, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &r));
	for (k = 0; k < 2; k++) {
		x = 10 * rank + k;
		OK(MPI_Irecv(&y, 1, MPI_INT, before, 3, MPI_COMM_WORLD, &in));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		done(&in);
		CHECK(y == 10 * before + k && r != MPI_REQUEST_NULL);
	}
	OK(MPI_Request_free(&r));
	OK(MPI_Ssend_init(&x, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &r));
	for (k = 0; k < 2; k++) {
		x = 20 * rank + k;
		OK(MPI_Start(&r));
		OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
		OK(MPI_Barrier(MPI_COMM_WORLD)); /* all found that before any receives */
		OK(MPI_Recv(&y, 1, MPI_INT, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(!flag && y == 20 * before + k);
	}
	OK(MPI_Request_free(&r));
}

/* Parts of a message that are ready in an order of their own. */
static void parts(void)
{
	int x[6], y[6], i, k, first[3] = {5, 0, 3}, then[3] = {1, 4, 2};
	MPI_Request r[2];
	OK(MPI_Psend_init(x, 6, 1, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
	OK(MPI_Precv_init(y, 6, 1, MPI_INT, before, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
	for (k = 0; k < 2; k++) {
		memset(y, 0, sizeof y);
		OK(MPI_Startall(2, r));
		for (i = 0; i < 6; i++)
			x[i] = 100 * rank + 10 * k + i;
		OK(MPI_Pready_list(3, first, r[0]));
		OK(MPI_Pready_list(3, then, r[0]));
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		for (i = 0; i < 6; i++)
			CHECK(y[i] == 100 * before + 10 * k + i);
	}
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), next = (rank + 1) % size, before = (rank + size - 1) % size;
	CHECK(size <= 16);
	reductions();
	reductions_again();
	scatters();
	neighbors();
	messages();
	parts();
	return well();
}
