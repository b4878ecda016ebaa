/* A session before MPI_Init, beside it, and after MPI_Finalize. */
#include "check.h"

static int told;

static void handler(MPI_Session *s, int *code, ...)
{
	(void)code;
	told += *s == MPI_SESSION_NULL;
}

int main(int argc, char **argv)
{
	MPI_Session s;
	MPI_Group g;
	MPI_Comm c;
	MPI_Errhandler h;
	int n, sum, one = 1, rank;
	if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s) != MPI_SUCCESS)
		return 1;
	MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
	MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
	MPI_Comm_create_from_group(g, "of a library", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
	MPI_Group_free(&g);
	if (n < 2 || MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c) != MPI_SUCCESS || sum != size_of(c))
		return 2;
	rank = rank_of(c);
	MPI_Init(&argc, &argv);
	CHECK(rank == rank_of(MPI_COMM_WORLD));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Finalize());
	if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c) != MPI_SUCCESS || sum != size_of(c))
		return 3;
	MPI_Comm_free(&c);
	if (MPI_Session_finalize(&s) != MPI_SUCCESS || s != MPI_SESSION_NULL)
		return 4;
	/* The process has left its job. The error is told to the handler of the call, and to no other one. */
	if (class_of(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s)) != MPI_ERR_OTHER)
		return 5;
	if (MPI_Session_create_errhandler(handler, &h) != MPI_SUCCESS || class_of(MPI_Session_init(MPI_INFO_NULL, h, &s)) != MPI_ERR_OTHER || told != 1)
		return 6;
	if (class_of(MPI_Comm_create_from_group(MPI_GROUP_NULL, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c)) != MPI_ERR_GROUP)
		return 7;
	if (rank == 0)
		printf("all is well\n");
	return 0;
}
