/* Collective operations: that wait, that go on, and that are started again and again; operations of the program, and of numbers that only C has. */
#include "check.h"
#include <complex.h>

static int rank, size;

static void sums(void)
{
	int in[2], out[2], i, expect = size * (size - 1) / 2;
	long double x = rank + 0.5L, y = 0;
	double complex z = rank + I, w = 0;
	struct { double v; int i; } a = {rank % 2, rank}, b;
	struct { long double v; int i; } c = {-rank, rank}, d;
	MPI_Request r;
	in[0] = rank, in[1] = 1;
	OK(MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(out[0] == expect && out[1] == size);
	OK(MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(in[0] == expect && in[1] == size);
	OK(MPI_Reduce(&x, &y, 1, MPI_LONG_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD));
	if (rank == size - 1)
		CHECK(y == expect + 0.5L * size);
	OK(MPI_Allreduce(&z, &w, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD));
	CHECK(creal(w) == expect && cimag(w) == size);
	OK(MPI_Allreduce(&a, &b, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
	CHECK(b.v == (size > 1) && b.i == (size > 1));
	OK(MPI_Allreduce(&c, &d, 1, MPI_LONG_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
	CHECK(d.v == -(size - 1) && d.i == size - 1);
	in[0] = rank;
	OK(MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	for (i = 0; i < 3; i++) {
		in[0] = rank + i, out[0] = -1;
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(out[0] == size - 1 + i);
	}
	OK(MPI_Request_free(&r));
	in[0] = 1;
	OK(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(out[0] == rank + 1);
	OK(MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(rank == 0 || out[0] == rank);
}

/* Not commutative: a digit behind others. */
static void digits(void *in, void *inout, int *n, MPI_Datatype *t)
{
	int i, *a = in, *b = inout, size;
	MPI_Type_size(*t, &size);
	for (i = 0; i < *n && size == 2 * (int)sizeof(int); i++) {
		int both[2] = {a[2 * i] * b[2 * i + 1] + b[2 * i], a[2 * i + 1] * b[2 * i + 1]};
		memcpy(b + 2 * i, both, sizeof both);
	}
}

static void users(void)
{
	MPI_Op op;
	MPI_Datatype t, old;
	MPI_Request r;
	int in[2] = {rank + 1, 10}, out[2], i, expect = 0, commutes;
	for (i = 0; i < size; i++)
		expect = expect * 10 + i + 1;
	OK(MPI_Type_contiguous(2, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Op_create(digits, 0, &op));
	OK(MPI_Op_commutative(op, &commutes));
	CHECK(!commutes);
	OK(MPI_Allreduce(in, out, 1, t, op, MPI_COMM_WORLD));
	CHECK(out[0] == expect);
	memset(out, 0, sizeof out);
	OK(MPI_Iallreduce(in, out, 1, t, op, MPI_COMM_WORLD, &r));
	OK(MPI_Op_free(&op));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(out[0] == expect);
	OK(MPI_Op_create(digits, 0, &op));
	OK(MPI_Allreduce_init(in, out, 1, t, op, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	old = t;
	OK(MPI_Type_free(&t)); /* the request, and the calls of its operation, have it still */
	for (i = 0; i < 2; i++) {
		memset(out, 0, sizeof out);
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(out[0] == expect);
	}
	OK(MPI_Request_free(&r));
	OK(MPI_Op_free(&op));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	CHECK(class_of(MPI_Type_size(old, &i)) == MPI_ERR_TYPE);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void blocks(void)
{
	int *all = malloc(4 * size * sizeof *all), *in = malloc(4 * size * sizeof *in), *counts = malloc(size * sizeof *counts), *places = malloc(size * sizeof *places), i, mine[2], *bytes = malloc(size * sizeof *bytes);
	MPI_Datatype *types = malloc(size * sizeof *types);
	MPI_Count *wide = malloc(size * sizeof *wide);
	MPI_Aint *far = malloc(size * sizeof *far);
	MPI_Request r;
	mine[0] = rank, mine[1] = -rank;
	OK(MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD));
	for (i = 0; rank == 0 && i < size; i++)
		CHECK(all[2 * i] == i && all[2 * i + 1] == -i);
	OK(MPI_Scatter(rank == 0 ? all : NULL, 2, MPI_INT, mine, 2, MPI_INT, 0, MPI_COMM_WORLD));
	CHECK(mine[0] == rank && mine[1] == -rank);
	OK(MPI_Allgather(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
	for (i = 0; i < size; i++)
		CHECK(all[i] == i);
	for (i = 0; i < size; i++) /* in the opposite order, with gaps */
		counts[i] = wide[i] = 1, places[i] = far[i] = 2 * (size - 1 - i), all[places[i] + 1] = 99;
	OK(MPI_Allgatherv(mine, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD));
	for (i = 0; i < size; i++)
		CHECK(all[places[i]] == i && all[places[i] + 1] == 99);
	memset(all, 0, 2 * size * sizeof *all);
	OK(MPI_Allgatherv_c(mine, 1, MPI_INT, all, wide, far, MPI_INT, MPI_COMM_WORLD));
	for (i = 0; i < size; i++)
		CHECK(all[places[i]] == i);
	for (i = 0; i < size; i++)
		in[i] = 100 * rank + i;
	OK(MPI_Ialltoall(in, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	for (i = 0; i < size; i++) {
		CHECK(all[i] == 100 * i + rank);
		counts[i] = 1, bytes[i] = (int)sizeof(int) * (size - 1 - i), types[i] = MPI_INT;
	}
	OK(MPI_Alltoallw(in, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD));
	for (i = 0; i < size; i++) /* block i is at size-1-i on both sides */
		CHECK(all[size - 1 - i] == 100 * i + size - 1 - rank);
	OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD));
	for (i = 0; i < size; i++) {
		CHECK(in[i] == 100 * i + rank);
		in[i] = i;
	}
	OK(MPI_Reduce_scatter_block(in, mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(mine[0] == size * rank);
	OK(MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(in[0] == size * rank);
	OK(MPI_Bcast(in, 1, MPI_INT, size - 1, MPI_COMM_WORLD));
	CHECK(in[0] == size * (size - 1));
	OK(MPI_Ibarrier(MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	free(all), free(in), free(counts), free(places), free(types), free(wide), free(far), free(bytes);
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
	sums();
	users();
	blocks();
	return well();
}
