/* Where operands of a reduction lie: elements that reach into each other, at addresses that Go's memory has; and what is no address. */
#include "check.h"
#include <stdint.h>

static void add_columns(void *in, void *inout, int *n, MPI_Datatype *t)
{
	double *a = in, *b = inout;
	int i, j, k;
	(void)t;
	for (i = 0; i < *n; i++)
		for (j = 0; j < 3; j++)
			for (k = 2 * i; k < 2 * i + 2; k++)
				b[4 * j + k] += a[4 * j + k];
}

/* Two columns of a matrix of three rows, each as wide as two numbers. */
static void columns(void)
{
	double *memory = NULL, *a, *b;
	MPI_Datatype t, column;
	MPI_Op op;
	int i;
	CHECK(posix_memalign((void **)&memory, 16, 32 * sizeof *memory) == 0);
	a = memory + 1, b = memory + 15; /* at 8 behind multiples of 16 */
	for (i = 0; i < 32; i++)
		memory[i] = -1;
	for (i = 0; i < 12; i++)
		a[i] = i, b[i] = 100 * i;
	OK(MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &t));
	OK(MPI_Type_create_resized(t, 0, 2 * sizeof(double), &column));
	OK(MPI_Type_commit(&column));
	OK(MPI_Op_create(add_columns, 1, &op));
	OK(MPI_Reduce_local(a, b, 2, column, op));
	for (i = 0; i < 12; i++)
		CHECK(a[i] == i && b[i] == 101 * i);
	CHECK(memory[0] == -1 && memory[13] == -1 && memory[14] == -1 && memory[27] == -1);
	OK(MPI_Op_free(&op));
	OK(MPI_Type_free(&t));
	OK(MPI_Type_free(&column));
	free(memory);
}

static void none(void)
{
	int x = 0, one = 1, zero = 0;
	MPI_Datatype types[1] = {MPI_INT};
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	CHECK(class_of(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, MPI_COMM_SELF)) == MPI_ERR_BUFFER);
	CHECK(class_of(MPI_Send((void *)(uintptr_t)40, 1, MPI_INT, 0, 0, MPI_COMM_SELF)) == MPI_ERR_BUFFER);
	CHECK(class_of(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_SELF)) == MPI_ERR_BUFFER);
	CHECK(class_of(MPI_Allreduce(&x, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF)) == MPI_ERR_BUFFER);
	CHECK(class_of(MPI_Alltoallw(&x, &one, &zero, types, MPI_IN_PLACE, &one, &zero, types, MPI_COMM_SELF)) == MPI_ERR_BUFFER);
	OK(MPI_Alltoallw(NULL, &zero, &zero, types, MPI_IN_PLACE, &zero, &zero, types, MPI_COMM_SELF)); /* nothing is nowhere */
	OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, &x, &one, &zero, types, MPI_COMM_SELF));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	columns();
	none();
	return well();
}
