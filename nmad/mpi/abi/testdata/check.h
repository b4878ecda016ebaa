/* What the programs of the tests find out: CHECK ends a program whose expectation is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x) \
	do { \
		if (!(x)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x); \
			MPI_Abort(MPI_COMM_WORLD, 3); \
		} \
	} while (0)

#define OK(x) CHECK((x) == MPI_SUCCESS)

static inline int rank_of(MPI_Comm c)
{
	int r;
	OK(MPI_Comm_rank(c, &r));
	return r;
}

static inline int size_of(MPI_Comm c)
{
	int n;
	OK(MPI_Comm_size(c, &n));
	return n;
}

static inline int class_of(int code)
{
	int c;
	OK(MPI_Error_class(code, &c));
	return c;
}

/* well ends a program whose expectations were all right. */
static inline int well(void)
{
	int rank = rank_of(MPI_COMM_WORLD);
	OK(MPI_Finalize());
	if (rank == 0)
		printf("all is well\n");
	return 0;
}
