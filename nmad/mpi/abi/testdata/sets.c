/* What a session tells and keeps: its sets of processes, hints, error handler and buffer, and communicators between two of its groups. */
#include "check.h"

static int told, told_code;
static MPI_Session told_of;

static void handler(MPI_Session *s, int *code, ...)
{
	told++, told_code = *code, told_of = *s;
}

static void sets(MPI_Session s)
{
	MPI_Info i;
	char name[MPI_MAX_PSET_NAME_LEN], value[100];
	int n, k, length, flag, world = 0, code;
	OK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n));
	for (k = 0; k < n; k++) {
		length = 0;
		OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, k, &length, NULL));
		CHECK(length > 6 && length <= MPI_MAX_PSET_NAME_LEN);
		OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, k, &length, name));
		CHECK(length == (int)strlen(name) + 1);
		if (strcmp(name, "mpi://WORLD") == 0) {
			world++;
			OK(MPI_Session_get_pset_info(s, name, &i));
			length = sizeof value;
			OK(MPI_Info_get_string(i, "mpi_size", &length, value, &flag));
			CHECK(flag && atoi(value) == size_of(MPI_COMM_WORLD));
			OK(MPI_Info_free(&i));
		}
	}
	CHECK(world == 1);
	told = 0;
	code = MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &length, name);
	CHECK(class_of(code) == MPI_ERR_ARG && told == 1 && told_code == code && told_of == s);
	CHECK(class_of(MPI_Session_get_pset_info(s, "none", &i)) == MPI_ERR_ARG && told == 2);
}

static void hints(MPI_Session s)
{
	MPI_Info i;
	char value[100];
	int n = sizeof value, flag;
	OK(MPI_Session_get_info(s, &i));
	OK(MPI_Info_get_string(i, "thread_level", &n, value, &flag));
	CHECK(flag && strcmp(value, "MPI_THREAD_MULTIPLE") == 0);
	OK(MPI_Info_free(&i));
}

/* A communicator that is of the session sends from the session's buffer. */
static void buffered(MPI_Session s, MPI_Comm c)
{
	static char memory[20100 + MPI_BSEND_OVERHEAD], out[20000], in[20000];
	void *got = NULL;
	int n = 77, rank = rank_of(c), size = size_of(c);
	MPI_Request r;
	OK(MPI_Session_attach_buffer(s, memory, sizeof memory));
	memset(out, 'a' + rank, sizeof out);
	OK(MPI_Bsend(out, sizeof out, MPI_CHAR, (rank + 1) % size, 1, c));
	memset(out, 0, sizeof out);
	CHECK(class_of(MPI_Bsend(out, sizeof out, MPI_CHAR, 0, 1, MPI_COMM_WORLD)) == MPI_ERR_BUFFER); /* which is not of the session */
	OK(MPI_Session_iflush_buffer(s, &r));
	OK(MPI_Recv(in, sizeof in, MPI_CHAR, (rank + size - 1) % size, 1, c, MPI_STATUS_IGNORE));
	CHECK(in[0] == 'a' + (rank + size - 1) % size && in[19999] == in[0]);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_Session_flush_buffer(s));
	OK(MPI_Session_detach_buffer(s, &got, &n));
	CHECK(got == memory && n == sizeof memory);
}

static void between(MPI_Group all)
{
	MPI_Group mine, other;
	MPI_Comm c;
	int size, rank, low, n, x, y = -1, lower[1][3], upper[1][3];
	OK(MPI_Group_size(all, &size));
	OK(MPI_Group_rank(all, &rank));
	if (size < 2)
		return;
	low = rank < size / 2;
	lower[0][0] = 0, lower[0][1] = size / 2 - 1, lower[0][2] = 1;
	upper[0][0] = size / 2, upper[0][1] = size - 1, upper[0][2] = 1;
	OK(MPI_Group_range_incl(all, 1, low ? lower : upper, &mine));
	OK(MPI_Group_range_incl(all, 1, low ? upper : lower, &other));
	OK(MPI_Intercomm_create_from_groups(mine, 0, other, 0, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	OK(MPI_Comm_remote_size(c, &n));
	CHECK(n == (low ? size - size / 2 : size / 2));
	x = rank;
	if (rank_of(c) == 0) {
		OK(MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, c, MPI_STATUS_IGNORE));
		CHECK(y == (low ? size / 2 : 0));
	}
	OK(MPI_Comm_free(&c));
	OK(MPI_Group_free(&mine));
	OK(MPI_Group_free(&other));
}

int main(int argc, char **argv)
{
	MPI_Session s;
	MPI_Errhandler h, got;
	MPI_Group g;
	MPI_Comm c;
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	OK(MPI_Session_get_errhandler(s, &got));
	CHECK(got == MPI_ERRORS_RETURN);
	OK(MPI_Session_create_errhandler(handler, &h));
	OK(MPI_Session_set_errhandler(s, h));
	OK(MPI_Session_get_errhandler(s, &got));
	CHECK(got == h);
	OK(MPI_Errhandler_free(&got));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Session_call_errhandler(s, MPI_ERR_IO));
	CHECK(told == 1 && told_code == MPI_ERR_IO && told_of == s);
	sets(s);
	hints(s);
	OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &g));
	OK(MPI_Comm_create_from_group(g, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	buffered(s, c);
	between(g);
	OK(MPI_Comm_free(&c));
	OK(MPI_Group_free(&g));
	OK(MPI_Session_finalize(&s));
	CHECK(s == MPI_SESSION_NULL);
	return well();
}
