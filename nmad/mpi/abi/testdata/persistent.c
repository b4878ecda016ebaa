/* Persistent operations that the ranks start in orders of their own: of one group, among neighbors, between two groups, and in parts. */
#include "check.h"

enum { ROUNDS = 12, MOST = 16 };

static int rank, size, next, last;

/* mixed starts n requests in an order that differs by rank and round, and waits for them. */
static void mixed(MPI_Request *r, int n, int round)
{
	int i, step = 1 + (rank + round) % (n - 1), at[MOST];
	for (i = 0; i < n; i++)
		at[i] = i;
	for (i = 0; i < n; i++) {
		int j = (i * step + rank * 5 + round) % n, x = at[i];
		at[i] = at[j], at[j] = x;
	}
	for (i = 0; i < n; i++)
		OK(MPI_Start(&r[at[i]]));
	OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
}

static void one_group(void)
{
	int cast, again, in, sum, most, i, round, *all = calloc(size, sizeof *all), *to = calloc(size, sizeof *to), *from = calloc(size, sizeof *from), *mine = calloc(size, sizeof *mine), scan, before;
	MPI_Request r[8];
	OK(MPI_Bcast_init(&cast, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
	OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
	OK(MPI_Allreduce_init(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]));
	OK(MPI_Bcast_init(&again, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[3]));
	OK(MPI_Allgather_init(&in, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[4]));
	OK(MPI_Alltoall_init(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[5]));
	OK(MPI_Reduce_scatter_block_init(MPI_IN_PLACE, mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[6]));
	OK(MPI_Scan_init(&in, &scan, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[7]));
	for (round = 0; round < ROUNDS; round++) {
		cast = rank == 0 ? round : -1, again = rank == size - 1 ? 3 * round : -1, in = rank + round;
		for (i = 0, before = 0; i < size; i++) {
			to[i] = 100 * rank + i + round, mine[i] = rank + i + round, from[i] = all[i] = -1;
			before += i <= rank ? i + round : 0;
		}
		mixed(r, 8, round);
		most = size * (size - 1) / 2;
		CHECK(cast == round && again == 3 * round && sum == most + size * round && scan == before && mine[0] == most + size * (rank + round));
		for (i = 0; i < size; i++)
			CHECK(all[i] == i + round && from[i] == 100 * i + rank + round);
		OK(MPI_Bcast(&cast, 1, MPI_INT, size - 1, MPI_COMM_WORLD)); /* in the order of calls, whatever was started before */
	}
	for (i = 0; i < 8; i++)
		OK(MPI_Request_free(&r[i]));
	free(all), free(to), free(from), free(mine);
}

static void neighbors(void)
{
	MPI_Comm ring, graph;
	MPI_Request r[3];
	int around = 1, round, i, out[2], in[2], one, there, own, from[2];
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &around, 0, &ring));
	OK(MPI_Dist_graph_create_adjacent(ring, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
	OK(MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, ring, MPI_INFO_NULL, &r[0]));
	OK(MPI_Neighbor_allgather_init(&own, 1, MPI_INT, from, 1, MPI_INT, ring, MPI_INFO_NULL, &r[1]));
	OK(MPI_Neighbor_alltoall_init(&one, 1, MPI_INT, &there, 1, MPI_INT, graph, MPI_INFO_NULL, &r[2]));
	for (round = 0; round < ROUNDS; round++) {
		out[0] = 10 * rank + round, out[1] = 1000 * rank + round, one = own = rank * 7 + round;
		mixed(r, 3, round);
		CHECK(in[0] == 1000 * last + round && in[1] == 10 * next + round && there == last * 7 + round && from[0] == last * 7 + round && from[1] == next * 7 + round);
	}
	for (i = 0; i < 3; i++)
		OK(MPI_Request_free(&r[i]));
	OK(MPI_Comm_free(&graph));
	OK(MPI_Comm_free(&ring));
}

static void between(void)
{
	MPI_Comm half, x;
	MPI_Request r[4];
	int odd = rank % 2, others, i, round, cast, in, sum, *all, root, expect;
	OK(MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half));
	OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 3, &x));
	OK(MPI_Comm_remote_size(x, &others));
	all = calloc(others, sizeof *all);
	root = odd ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
	OK(MPI_Bcast_init(&cast, 1, MPI_INT, root, x, MPI_INFO_NULL, &r[0]));
	OK(MPI_Allreduce_init(&in, &sum, 1, MPI_INT, MPI_SUM, x, MPI_INFO_NULL, &r[1]));
	OK(MPI_Barrier_init(x, MPI_INFO_NULL, &r[2]));
	OK(MPI_Allgather_init(&in, 1, MPI_INT, all, 1, MPI_INT, x, MPI_INFO_NULL, &r[3]));
	for (round = 0; round < ROUNDS; round++) {
		cast = rank == 0 ? 5 * round : -1, in = rank + round;
		mixed(r, 4, round);
		for (i = 0, expect = 0; i < others; i++) {
			CHECK(all[i] == 2 * i + 1 - odd + round);
			expect += all[i];
		}
		CHECK(sum == expect && (!odd || cast == 5 * round));
	}
	for (i = 0; i < 4; i++)
		OK(MPI_Request_free(&r[i]));
	free(all);
	OK(MPI_Comm_free(&x));
	OK(MPI_Comm_free(&half));
}

/* Two messages in parts, of one tag: the sides start them in different orders. */
static void parts(void)
{
	MPI_Request s[2], r[2];
	int out[2][4], in[2][4], i, round;
	for (i = 0; i < 2; i++) {
		OK(MPI_Psend_init(out[i], 2, 2, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s[i]));
		OK(MPI_Precv_init(in[i], 4, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]));
	}
	for (round = 0; round < ROUNDS; round++) {
		int first = (rank + round) % 2;
		for (i = 0; i < 8; i++)
			out[i / 4][i % 4] = 100 * round + 10 * rank + i;
		OK(MPI_Start(&r[first]));
		OK(MPI_Start(&s[1 - first]));
		OK(MPI_Start(&r[1 - first]));
		OK(MPI_Start(&s[first]));
		for (i = 0; i < 2; i++)
			OK(MPI_Pready_range(0, 1, s[i]));
		OK(MPI_Waitall(2, s, MPI_STATUSES_IGNORE));
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		for (i = 0; i < 8; i++)
			CHECK(in[i / 4][i % 4] == 100 * round + 10 * last + i);
	}
	for (i = 0; i < 2; i++) {
		OK(MPI_Request_free(&s[i]));
		OK(MPI_Request_free(&r[i]));
	}
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
	next = (rank + 1) % size, last = (rank + size - 1) % size;
	one_group();
	neighbors();
	if (size > 1)
		between();
	parts();
	return well();
}
