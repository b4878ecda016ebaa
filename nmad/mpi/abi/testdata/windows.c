/* Windows: put, get, accumulate and the atomics, in each kind of epoch. */
#include "check.h"

static int rank, size, next;

int main(int argc, char **argv)
{
	MPI_Win w;
	int *base, x, y, flag, *flavor, i, one = 1, unit;
	MPI_Aint bytes, *size_of_it;
	MPI_Group g, to, from;
	MPI_Request r;
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), next = (rank + 1) % size;
	OK(MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
	OK(MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
	CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
	OK(MPI_Win_get_attr(w, MPI_WIN_SIZE, &size_of_it, &flag));
	CHECK(flag && *size_of_it == 8 * sizeof(int));
	for (i = 0; i < 8; i++)
		base[i] = rank;
	x = 100 + rank;
	OK(MPI_Win_fence(0, w));
	OK(MPI_Put(&x, 1, MPI_INT, next, 2, 1, MPI_INT, w));
	OK(MPI_Win_fence(0, w));
	CHECK(base[2] == 100 + (rank + size - 1) % size);
	OK(MPI_Get(&y, 1, MPI_INT, next, 2, 1, MPI_INT, w));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
	CHECK(y == 100 + rank);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock_all(0, w));
	OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, w));
	OK(MPI_Win_flush(0, w));
	OK(MPI_Fetch_and_op(&one, &y, MPI_INT, 0, 6, MPI_SUM, w));
	OK(MPI_Win_flush_all(w));
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0)
		CHECK(base[5] == size && base[6] == size);
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w));
	x = rank + 1, y = 0;
	OK(MPI_Compare_and_swap(&x, &y, &i, MPI_INT, 0, 7, w));
	OK(MPI_Win_unlock(0, w));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0)
		CHECK(base[7] >= 1 && base[7] <= size);
	OK(MPI_Comm_group(MPI_COMM_WORLD, &g));
	OK(MPI_Group_incl(g, 1, &next, &to));
	i = (rank + size - 1) % size;
	OK(MPI_Group_incl(g, 1, &i, &from));
	OK(MPI_Win_post(from, 0, w));
	OK(MPI_Win_start(to, 0, w));
	x = 500 + rank;
	OK(MPI_Put(&x, 1, MPI_INT, next, 1, 1, MPI_INT, w));
	OK(MPI_Win_complete(w));
	OK(MPI_Win_wait(w));
	CHECK(base[1] == 500 + i);
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	OK(MPI_Win_lock_all(0, w)); /* an error that MPI_Wait finds is the window's */
	OK(MPI_Rput(&x, 1, MPI_INT, next, 800, 1, MPI_INT, w, &r));
	CHECK(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)) == MPI_ERR_RMA_RANGE);
	OK(MPI_Win_unlock_all(w));
	CHECK(class_of(MPI_Put(&x, 1, MPI_INT, next, 1, 1, MPI_INT, w)) == MPI_ERR_RMA_SYNC);
	OK(MPI_Win_free(&w));
	CHECK(w == MPI_WIN_NULL);
	OK(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
	*base = 7 * rank;
	OK(MPI_Win_fence(0, w));
	OK(MPI_Win_shared_query(w, next, &bytes, &unit, &base));
	CHECK(bytes == sizeof(int) && unit == sizeof(int) && *base == 7 * next);
	OK(MPI_Win_fence(0, w));
	OK(MPI_Win_free(&w));
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&to));
	OK(MPI_Group_free(&from));
	return well();
}
