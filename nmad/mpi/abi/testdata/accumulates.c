/* Accumulates of what Go has no numbers for, of many elements, and across memory that was attached in pieces; and windows by the hundred. */
#include "check.h"

enum { many = 3000, windows = 500 };

struct pair {
	long double value;
	int index;
};

static int rank, size;

static void long_doubles(void)
{
	MPI_Win w;
	MPI_Datatype two;
	long double *base, one[2] = {1, 2}, was[2] = {-1, -1};
	long double _Complex *z, i = 2.0L + 1.0Li;
	struct pair *p, mine = {rank, -rank}, old;
	OK(MPI_Win_allocate(2 * sizeof(long double), sizeof(long double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
	OK(MPI_Type_vector(2, 1, 1, MPI_LONG_DOUBLE, &two));
	OK(MPI_Type_commit(&two));
	OK(MPI_Win_fence(0, w));
	OK(MPI_Accumulate(one, 2, MPI_LONG_DOUBLE, 0, 0, 1, two, MPI_SUM, w));
	OK(MPI_Win_fence(0, w));
	OK(MPI_Get_accumulate(NULL, 0, MPI_LONG_DOUBLE, was, 2, MPI_LONG_DOUBLE, 0, 0, 2, MPI_LONG_DOUBLE, MPI_NO_OP, w));
	OK(MPI_Win_fence(0, w));
	CHECK(was[0] == size && was[1] == 2 * size);
	OK(MPI_Fetch_and_op(one, was, MPI_LONG_DOUBLE, 0, 1, MPI_MAX, w));
	OK(MPI_Win_fence(0, w));
	CHECK(was[0] == 2 * size);
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	CHECK(class_of(MPI_Accumulate(one, 1, MPI_LONG_DOUBLE, 0, 0, 1, MPI_LONG_DOUBLE, MPI_BAND, w)) == MPI_ERR_OP);
	CHECK(class_of(MPI_Accumulate(one, 1, MPI_LONG_DOUBLE, 0, 0, 1, MPI_LONG_DOUBLE, MPI_MAXLOC, w)) == MPI_ERR_OP);
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
	OK(MPI_Type_free(&two));
	OK(MPI_Win_free(&w));

	OK(MPI_Win_allocate(sizeof *z, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &z, &w));
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w));
	*z = 1;
	OK(MPI_Win_unlock(rank, w));
	OK(MPI_Win_fence(0, w));
	OK(MPI_Accumulate(&i, 1, MPI_C_LONG_DOUBLE_COMPLEX, (rank + 1) % size, 0, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_PROD, w));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
	CHECK(*z == i);
	OK(MPI_Win_free(&w));

	OK(MPI_Win_allocate(sizeof *p, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w));
	p->value = -1, p->index = 7;
	OK(MPI_Win_unlock(rank, w));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock_all(0, w));
	OK(MPI_Get_accumulate(&mine, 1, MPI_LONG_DOUBLE_INT, &old, 1, MPI_LONG_DOUBLE_INT, 0, 0, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, w));
	OK(MPI_Win_flush(0, w));
	CHECK(old.value < size);
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK(rank > 0 || (p->value == size - 1 && p->index == 1 - size));
	OK(MPI_Win_free(&w));
}

/* All add to the same elements, in memory of the program, and of the library. */
static void many_elements(int allocates)
{
	static double memory[many], ones[many], was[many];
	static signed char bytes[many];
	MPI_Win w;
	double *base = memory;
	int i, round;
	if (allocates)
		OK(MPI_Win_allocate(sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
	else
		OK(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	for (i = 0; i < many; i++)
		ones[i] = 1, bytes[i] = (signed char)i;
	for (round = 0; round < 20; round++) {
		OK(MPI_Win_lock(round % 2 == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w));
		OK(MPI_Accumulate(ones, many, MPI_DOUBLE, 0, 0, many, MPI_DOUBLE, MPI_SUM, w));
		OK(MPI_Fetch_and_op(ones, was, MPI_DOUBLE, 0, round, MPI_SUM, w));
		OK(MPI_Get_accumulate(ones, many, MPI_DOUBLE, was, many, MPI_DOUBLE, 0, 0, many, MPI_DOUBLE, MPI_SUM, w));
		OK(MPI_Win_unlock(0, w));
		CHECK(was[many - 1] >= 2 * round + 1 && was[many - 1] < 40 * size);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
	OK(MPI_Get(was, many, MPI_DOUBLE, 0, 0, many, MPI_DOUBLE, w));
	OK(MPI_Win_unlock(0, w));
	for (i = 0; i < many; i++)
		CHECK(was[i] == (i < 20 ? 41 : 40) * size);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	memset(base, 0, many);
	OK(MPI_Win_fence(0, w));
	OK(MPI_Accumulate(bytes, many, MPI_SIGNED_CHAR, (rank + 1) % size, 0, many, MPI_SIGNED_CHAR, MPI_SUM, w));
	OK(MPI_Win_fence(0, w));
	CHECK(memcmp(base, bytes, many) == 0);
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
	OK(MPI_Win_free(&w));
}

static void pieces(void)
{
	static int memory[3 * many], mine[3 * many], was[3 * many];
	MPI_Win w;
	MPI_Aint at, of[size];
	int i, next = (rank + 1) % size;
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	for (i = 2; i >= 0; i--)
		OK(MPI_Win_attach(w, memory + i * many, many * sizeof *memory));
	OK(MPI_Get_address(memory, &at));
	OK(MPI_Allgather(&at, 1, MPI_AINT, of, 1, MPI_AINT, MPI_COMM_WORLD));
	for (i = 0; i < 3 * many; i++)
		mine[i] = i;
	OK(MPI_Win_lock_all(0, w));
	OK(MPI_Put(mine, 3 * many, MPI_INT, next, of[next], 3 * many, MPI_INT, w));
	OK(MPI_Win_flush(next, w));
	OK(MPI_Accumulate(mine, 2 * many, MPI_INT, next, of[next] + (many / 2) * sizeof(int), 2 * many, MPI_INT, MPI_SUM, w));
	OK(MPI_Win_flush(next, w));
	OK(MPI_Get_accumulate(NULL, 0, MPI_INT, was, 3 * many, MPI_INT, next, of[next], 3 * many, MPI_INT, MPI_NO_OP, w));
	OK(MPI_Win_unlock_all(w));
	for (i = 0; i < 3 * many; i++)
		CHECK(was[i] == i + (i >= many / 2 && i < many / 2 + 2 * many ? i - many / 2 : 0));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_free(&w));
}

int main(int argc, char **argv)
{
	static MPI_Win all[windows];
	int *base[windows], i;
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
	long_doubles();
	many_elements(1);
	many_elements(0);
	pieces();
	for (i = 0; i < windows; i++)
		OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base[i], &all[i]));
	for (i = 0; i < windows; i += 50)
		OK(MPI_Win_fence(0, all[i]));
	for (i = 0; i < windows; i += 50)
		OK(MPI_Put(&i, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, all[i]));
	for (i = 0; i < windows; i += 50)
		OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, all[i]));
	for (i = 0; i < windows; i++) {
		CHECK(*base[i] == (i % 50 == 0 ? i : 0));
		OK(MPI_Win_free(&all[i]));
	}
	return well();
}
