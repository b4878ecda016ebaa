/* Collective operations whose blocks differ, and those that are under way or kept: of a group, in place, and among the neighbors of graphs and grids. */
#include "check.h"

enum { ROUNDS = 3 };

static int rank, size, total; /* rank r has r+1 elements, r*100 and so on; total is how many there are with a gap of one behind each block */
static int *counts, *places;

/* waited waits for a request, which is over then. */
static void waited(MPI_Request *r)
{
	OK(MPI_Wait(r, MPI_STATUS_IGNORE));
	CHECK(*r == MPI_REQUEST_NULL);
}

/* fill has n elements from a first one on. */
static void fill(int *x, int n, int first)
{
	int i;
	for (i = 0; i < n; i++)
		x[i] = first + i;
}

/* blocks says that the blocks of all ranks are at their places, and the gaps as they were. */
static int blocks(const int *x, int first)
{
	int r, i;
	for (r = 0; r < size; r++) {
		for (i = 0; i < counts[r]; i++)
			if (x[places[r] + i] != first + r * 100 + i)
				return 0;
		if (x[places[r] + counts[r]] != -1)
			return 0;
	}
	return 1;
}

static int *fresh(int n)
{
	int *x = malloc((n + 1) * sizeof *x), i;
	for (i = 0; i <= n; i++)
		x[i] = -1;
	return x;
}

static void gathers(void)
{
	int *own = fresh(rank + 1), *all = fresh(total), round, i, root = size - 1, *each = fresh(size);
	MPI_Request r;
	fill(own, rank + 1, rank * 100);
	OK(MPI_Gatherv(own, rank + 1, MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD));
	CHECK(rank == root ? blocks(all, 0) : all[0] == -1);
	fill(own, rank + 1, rank * 100 + 1);
	OK(MPI_Igatherv(own, rank + 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD, &r));
	waited(&r);
	CHECK(rank != 0 || blocks(all, 1));
	/* in place: the root's block is there */
	free(all);
	all = fresh(total);
	fill(all + places[rank], rank + 1, rank * 100);
	OK(MPI_Gatherv(rank == 0 ? MPI_IN_PLACE : all + places[rank], rank + 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD));
	CHECK(rank != 0 || blocks(all, 0));
	OK(MPI_Gatherv_init(own, rank + 1, MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	for (round = 0; round < ROUNDS; round++) {
		fill(own, rank + 1, rank * 100 + round);
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(r != MPI_REQUEST_NULL && (rank != root || blocks(all, round)));
	}
	OK(MPI_Request_free(&r));
	OK(MPI_Igather(&rank, 1, MPI_INT, each, 1, MPI_INT, root, MPI_COMM_WORLD, &r));
	waited(&r);
	for (i = 0; i < size; i++)
		CHECK(each[i] == (rank == root ? i : -1));
	OK(MPI_Gather_init(own, 1, MPI_INT, each, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	for (round = 0; round < ROUNDS; round++) {
		own[0] = rank + 10 * round;
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		for (i = 0; i < size && rank == 0; i++)
			CHECK(each[i] == i + 10 * round);
	}
	OK(MPI_Request_free(&r));
	i = rank == root ? 77 : -1;
	OK(MPI_Ibcast(&i, 1, MPI_INT, root, MPI_COMM_WORLD, &r));
	waited(&r);
	CHECK(i == 77);
	free(own), free(all), free(each);
}

static void allgathers(void)
{
	int *own = fresh(rank + 1), *all = fresh(total), *each = fresh(size), round, i;
	MPI_Request r;
	OK(MPI_Iallgather(&rank, 1, MPI_INT, each, 1, MPI_INT, MPI_COMM_WORLD, &r));
	waited(&r);
	for (i = 0; i < size; i++)
		CHECK(each[i] == i);
	fill(own, rank + 1, rank * 100);
	OK(MPI_Iallgatherv(own, rank + 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, &r));
	waited(&r);
	CHECK(blocks(all, 0));
	fill(all + places[rank], rank + 1, rank * 100 + 4);
	OK(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD, &r));
	waited(&r);
	CHECK(blocks(all, 4));
	OK(MPI_Allgatherv_init(own, rank + 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	for (round = 0; round < ROUNDS; round++) {
		fill(own, rank + 1, rank * 100 + round);
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(blocks(all, round));
	}
	OK(MPI_Request_free(&r));
	free(own), free(all), free(each);
}

/* told fills what this rank tells each one: r+1 elements for rank r. */
static void told(int *to, int round)
{
	int r;
	for (r = 0; r < size; r++)
		fill(to + places[r], r + 1, rank * 1000 + r * 10 + round);
}

/* heard says that each rank's rank+1 elements are where at has the places. */
static int heard(const int *from, const int *at, int round)
{
	int r, i;
	for (r = 0; r < size; r++)
		for (i = 0; i <= rank; i++)
			if (from[at[r] + i] != r * 1000 + rank * 10 + round + i)
				return 0;
	return 1;
}

static void alltoalls(void)
{
	int *to = fresh(total), n = size * (rank + 1), *from = fresh(n), *mine = fresh(size), *at = fresh(size), i, round;
	int *bytes_to = fresh(size), *bytes_from = fresh(size);
	MPI_Datatype *types = malloc(size * sizeof *types);
	MPI_Request r;
	for (i = 0; i < size; i++) {
		mine[i] = rank + 1, at[i] = (size - 1 - i) * (rank + 1), types[i] = MPI_INT;
		bytes_to[i] = places[i] * (int)sizeof(int), bytes_from[i] = at[i] * (int)sizeof(int);
	}
	told(to, 0);
	OK(MPI_Alltoallv(to, counts, places, MPI_INT, from, mine, at, MPI_INT, MPI_COMM_WORLD));
	CHECK(heard(from, at, 0) && from[n] == -1);
	told(to, 1);
	OK(MPI_Ialltoallv(to, counts, places, MPI_INT, from, mine, at, MPI_INT, MPI_COMM_WORLD, &r));
	waited(&r);
	CHECK(heard(from, at, 1));
	told(to, 2);
	OK(MPI_Ialltoallw(to, counts, bytes_to, types, from, mine, bytes_from, types, MPI_COMM_WORLD, &r));
	waited(&r);
	CHECK(heard(from, at, 2));
	OK(MPI_Alltoallv_init(to, counts, places, MPI_INT, from, mine, at, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	for (round = 0; round < ROUNDS; round++) {
		told(to, round + 3);
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(heard(from, at, round + 3));
	}
	OK(MPI_Request_free(&r));
	OK(MPI_Alltoallw_init(to, counts, bytes_to, types, from, mine, bytes_from, types, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	for (round = 0; round < ROUNDS; round++) {
		told(to, round + 6);
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(heard(from, at, round + 6) && from[n] == -1);
	}
	OK(MPI_Request_free(&r));
	/* in place: what goes out to a rank is where what comes from it goes */
	for (i = 0; i < size; i++)
		mine[i] = 1, at[i] = i, from[i] = rank * 10 + i;
	OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, from, mine, at, MPI_INT, MPI_COMM_WORLD));
	for (i = 0; i < size; i++)
		CHECK(from[i] == i * 10 + rank);
	for (i = 0; i < size; i++)
		bytes_from[i] = i * (int)sizeof(int);
	OK(MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, from, mine, bytes_from, types, MPI_COMM_WORLD, &r));
	waited(&r);
	for (i = 0; i < size; i++)
		CHECK(from[i] == rank * 10 + i);
	free(to), free(from), free(mine), free(at), free(bytes_to), free(bytes_from), free(types);
}

static void scans(void)
{
	int x[2] = {rank + 1, 1}, y[2] = {-1, -1}, round, sum = rank * (rank + 1) / 2;
	MPI_Request r;
	OK(MPI_Iexscan(x, y, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r));
	waited(&r);
	CHECK(rank == 0 || (y[0] == sum && y[1] == rank));
	OK(MPI_Iexscan(MPI_IN_PLACE, x, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r));
	waited(&r);
	CHECK(rank == 0 || (x[0] == sum && x[1] == rank));
	OK(MPI_Exscan_init(x, y, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	for (round = 1; round <= ROUNDS; round++) {
		x[0] = (rank + 1) * round, x[1] = round;
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(rank == 0 || (y[0] == sum * round && y[1] == rank * round));
	}
	OK(MPI_Request_free(&r));
}

/* came checks, and forgets, what each of n neighbors told this rank alone, at the places at; NULL: one behind the other. */
static void came(const int *tell, int n, int *in, const int *at, int me)
{
	int i;
	for (i = 0; i < n; i++) {
		int *x = &in[at ? at[i] : i];
		CHECK(*x == (tell[i] == MPI_PROC_NULL ? -1 : tell[i] * 100 + me));
		*x = -1;
	}
}

/* around has each immediate form among the neighbors of a communicator: n ranks that tell this one, and m that it tells. */
static void around(MPI_Comm c, int n, const int *tell, int m, const int *told)
{
	int *out = fresh(2 * m), *in = fresh(3 * n), *ones = malloc((n + m + 1) * sizeof *ones), *at = malloc((n + m + 1) * sizeof *at), *to = malloc((m + 1) * sizeof *to), i;
	MPI_Aint *bytes_in = malloc((n + 1) * sizeof *bytes_in), *bytes_out = malloc((m + 1) * sizeof *bytes_out);
	MPI_Datatype *types = malloc((n + m + 1) * sizeof *types);
	MPI_Request r;
	int me = rank_of(c);
	OK(MPI_Ineighbor_allgather(&me, 1, MPI_INT, in, 1, MPI_INT, c, &r));
	waited(&r);
	for (i = 0; i < n; i++)
		CHECK(in[i] == (tell[i] == MPI_PROC_NULL ? -1 : tell[i]));
	CHECK(in[n] == -1);
	for (i = 0; i < n + m; i++)
		ones[i] = 1, types[i] = MPI_INT;
	for (i = 0; i < n; i++)
		in[i] = -1, at[i] = 3 * (n - 1 - i), bytes_in[i] = at[i] * (MPI_Aint)sizeof(int);
	OK(MPI_Ineighbor_allgatherv(&me, 1, MPI_INT, in, ones, at, MPI_INT, c, &r));
	waited(&r);
	for (i = 0; i < n; i++)
		CHECK(in[at[i]] == (tell[i] == MPI_PROC_NULL ? -1 : tell[i]) && in[at[i] + 1] == -1);
	for (i = 0; i < m; i++)
		out[i] = me * 100 + told[i], to[i] = i, bytes_out[i] = i * (MPI_Aint)sizeof(int);
	for (i = 0; i < n; i++)
		in[at[i]] = -1;
	OK(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c, &r));
	waited(&r);
	came(tell, n, in, NULL, me);
	OK(MPI_Ineighbor_alltoallv(out, ones, to, MPI_INT, in, ones, at, MPI_INT, c, &r));
	waited(&r);
	came(tell, n, in, at, me);
	OK(MPI_Ineighbor_alltoallw(out, ones, bytes_out, types, in, ones, bytes_in, types, c, &r));
	waited(&r);
	came(tell, n, in, at, me);
	for (i = 0; i < 3 * n; i++)
		CHECK(in[i] == -1);
	free(out), free(in), free(ones), free(at), free(to), free(bytes_in), free(bytes_out), free(types);
}

static void neighbors(void)
{
	MPI_Comm c;
	int next = (rank + 1) % size, last = (rank + size - 1) % size, i, *ends = fresh(size), *edges = fresh(2 * size), one[2];
	/* a line of ranks, whose ends have one neighbor only */
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){0}, 0, &c));
	one[0] = rank == 0 ? MPI_PROC_NULL : rank - 1, one[1] = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
	around(c, 2, one, 2, one);
	OK(MPI_Comm_free(&c));
	/* what rank 0 tells all, by edges of one direction */
	for (i = 0; i < size; i++)
		edges[i] = i;
	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (int[]){0}, MPI_UNWEIGHTED, rank == 0 ? size : 0, edges, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
	around(c, 1, (int[]){0}, rank == 0 ? size : 0, edges);
	OK(MPI_Comm_free(&c));
	/* a ring, of three ranks at least, so that each edge is there in both directions once */
	for (i = 0; i < size; i++)
		ends[i] = 2 * (i + 1), edges[2 * i] = (i + size - 1) % size, edges[2 * i + 1] = (i + 1) % size;
	if (size > 2) {
		OK(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &c));
		around(c, 2, (int[]){last, next}, 2, (int[]){last, next});
		OK(MPI_Comm_free(&c));
	}
	free(ends), free(edges);
}

int main(int argc, char **argv)
{
	int i;
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
	counts = fresh(size), places = fresh(size);
	for (i = 0; i < size; i++)
		counts[i] = i + 1, places[i] = total, total += i + 2;
	gathers();
	allgathers();
	alltoalls();
	scans();
	neighbors();
	free(counts), free(places);
	return well();
}
