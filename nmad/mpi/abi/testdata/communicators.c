/* Communicators: those that are made of others, grids and graphs, and those between two groups. */
#include "check.h"

static int rank, size;

static void made(void)
{
	MPI_Comm c, d;
	MPI_Group g, h;
	MPI_Request r;
	int n, ranks[1] = {0};
	char name[MPI_MAX_OBJECT_NAME];
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &c));
	CHECK(size_of(c) == (size + 1 - rank % 2) / 2 && rank_of(c) == size_of(c) - 1 - rank / 2);
	OK(MPI_Comm_set_name(c, "half"));
	OK(MPI_Comm_get_name(c, name, &n));
	CHECK(strcmp(name, "half") == 0 && n == 4);
	OK(MPI_Comm_free(&c));
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &c));
	CHECK((c == MPI_COMM_NULL) == (rank == 0));
	if (c != MPI_COMM_NULL)
		OK(MPI_Comm_free(&c));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &g));
	OK(MPI_Group_incl(g, 1, ranks, &h));
	OK(MPI_Comm_create(MPI_COMM_WORLD, h, &c));
	CHECK((c != MPI_COMM_NULL) == (rank == 0));
	if (c != MPI_COMM_NULL)
		OK(MPI_Comm_free(&c));
	OK(MPI_Comm_idup(MPI_COMM_WORLD, &c, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_Comm_compare(c, MPI_COMM_WORLD, &n));
	CHECK(n == MPI_CONGRUENT && size_of(c) == size);
	OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &d));
	CHECK(size_of(d) == size);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_free(&c));
	OK(MPI_Group_free(&h));
	OK(MPI_Group_free(&g));
}

static void grids(void)
{
	MPI_Comm c, d;
	int dims[2] = {0, 0}, around[2] = {1, 0}, at[2], n, from, to, kind, in[4], out[4], i;
	OK(MPI_Dims_create(size, 2, dims));
	CHECK(dims[0] * dims[1] == size && dims[0] >= dims[1]);
	OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &c));
	OK(MPI_Topo_test(c, &kind));
	CHECK(kind == MPI_CART);
	OK(MPI_Cart_coords(c, rank, 2, at));
	OK(MPI_Cart_rank(c, at, &n));
	CHECK(n == rank);
	OK(MPI_Cart_shift(c, 1, 1, &from, &to));
	CHECK((at[1] == 0) == (from == MPI_PROC_NULL));
	for (i = 0; i < 4; i++)
		out[i] = rank, in[i] = -1;
	OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c));
	OK(MPI_Cart_shift(c, 0, 1, &from, &to));
	CHECK(in[0] == from && in[1] == to && (in[2] == -1) == (at[1] == 0));
	OK(MPI_Comm_dup(c, &d));
	OK(MPI_Cartdim_get(d, &n));
	CHECK(n == 2);
	OK(MPI_Comm_free(&d));
	OK(MPI_Cart_sub(c, (int[]){1, 0}, &d));
	CHECK(size_of(d) == dims[0]);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_free(&c));
}

static void graphs(void)
{
	MPI_Comm c;
	int next = (rank + 1) % size, last = (rank + size - 1) % size, one = 1, in = -1, a, b, weighted, got, weight, other;
	OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, (int[]){rank + 7}, MPI_INFO_NULL, 0, &c));
	OK(MPI_Dist_graph_neighbors_count(c, &a, &b, &weighted));
	CHECK(a == 1 && b == 1 && weighted);
	OK(MPI_Dist_graph_neighbors(c, 1, &got, &weight, 1, &other, &a));
	CHECK(got == last && weight == last + 7 && other == next && a == rank + 7);
	OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, &in, 1, MPI_INT, c));
	CHECK(in == last);
	OK(MPI_Comm_free(&c));
}

static void between(void)
{
	MPI_Comm half, x, both, y;
	int low = rank < size / 2, n, sum, a = rank, b = -1, flag, root;
	MPI_Status s;
	if (size < 2)
		return;
	OK(MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half));
	OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 5, &x));
	OK(MPI_Comm_test_inter(x, &flag));
	OK(MPI_Comm_remote_size(x, &n));
	CHECK(flag && n == (low ? size - size / 2 : size / 2));
	OK(MPI_Sendrecv(&a, 1, MPI_INT, rank_of(half), 1, &b, 1, MPI_INT, rank_of(half), 1, x, &s));
	CHECK(b == (low ? rank + size / 2 : rank - size / 2) && s.MPI_SOURCE == rank_of(half));
	OK(MPI_Allreduce(&a, &sum, 1, MPI_INT, MPI_SUM, x));
	CHECK(sum == (low ? (size / 2 + size - 1) * (size - size / 2) / 2 : (size / 2 - 1) * (size / 2) / 2));
	root = low ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
	b = low ? 321 : 0;
	OK(MPI_Bcast(&b, 1, MPI_INT, root, x));
	CHECK(b == 321);
	OK(MPI_Comm_split(x, 0, -rank, &y));
	CHECK(size_of(y) == size_of(half) && rank_of(y) == size_of(half) - 1 - rank_of(half));
	OK(MPI_Sendrecv(&a, 1, MPI_INT, rank_of(y), 1, &b, 1, MPI_INT, rank_of(y), 1, y, &s));
	CHECK(b == (low ? rank + size / 2 : rank - size / 2));
	OK(MPI_Comm_free(&y));
	OK(MPI_Intercomm_merge(x, low, &both));
	CHECK(size_of(both) == size && (rank_of(both) < size / 2) == !low);
	OK(MPI_Comm_free(&both));
	OK(MPI_Comm_free(&x));
	OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
	made();
	grids();
	graphs();
	between();
	return well();
}
