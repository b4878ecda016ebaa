/* Messages: each form of send, with each form of receive, around a ring. */
#include "check.h"

static int rank, size, next, last;

static void ring(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm), int n)
{
	int *out = malloc(n * sizeof *out + 1), *in = malloc((n + 5) * sizeof *in), i, count;
	MPI_Status s;
	MPI_Request r;
	for (i = 0; i < n; i++)
		out[i] = rank * 1000 + i;
	OK(MPI_Irecv(in, n + 5, MPI_INT, last, 3, MPI_COMM_WORLD, &r));
	OK(send(out, n, MPI_INT, next, 3, MPI_COMM_WORLD));
	OK(MPI_Wait(&r, &s));
	CHECK(r == MPI_REQUEST_NULL && s.MPI_SOURCE == last && s.MPI_TAG == 3);
	OK(MPI_Get_count(&s, MPI_INT, &count));
	CHECK(count == n);
	OK(MPI_Get_count(&s, MPI_DOUBLE, &count));
	CHECK(count == (n % 2 ? MPI_UNDEFINED : n / 2));
	for (i = 0; i < n; i++)
		CHECK(in[i] == last * 1000 + i);
	free(out);
	free(in);
}

static void probes(void)
{
	int x = rank, y = -1, flag = 0;
	MPI_Status s;
	MPI_Message m;
	MPI_Request r;
	OK(MPI_Isend(&x, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &r));
	OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
	CHECK(s.MPI_SOURCE == last && s.MPI_TAG == 8);
	while (!flag)
		OK(MPI_Improbe(last, 8, MPI_COMM_WORLD, &flag, &m, &s));
	OK(MPI_Iprobe(last, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag);
	OK(MPI_Mrecv(&y, 1, MPI_INT, &m, &s));
	CHECK(y == last && m == MPI_MESSAGE_NULL && s.MPI_SOURCE == last);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, &s));
	CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
	OK(MPI_Mrecv(&y, 1, MPI_INT, &m, &s));
	CHECK(y == last && m == MPI_MESSAGE_NULL);
}

int main(int argc, char **argv)
{
	int provided, flag, lengths[] = {0, 1, 2, 1000, 100000}, a, b, count;
	unsigned i;
	double t;
	char *memory;
	MPI_Status s;
	MPI_Count large;
	OK(MPI_Initialized(&flag));
	CHECK(!flag);
	OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
	CHECK(provided == MPI_THREAD_MULTIPLE);
	OK(MPI_Initialized(&flag));
	CHECK(flag);
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
	next = (rank + 1) % size, last = (rank + size - 1) % size;
	t = MPI_Wtime();
	memory = malloc(2000000 + MPI_BSEND_OVERHEAD);
	for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		ring(MPI_Send, lengths[i]);
		ring(MPI_Ssend, lengths[i]);
		ring(MPI_Rsend, lengths[i]);
		OK(MPI_Buffer_attach(memory, 2000000 + MPI_BSEND_OVERHEAD));
		ring(MPI_Bsend, lengths[i]);
		OK(MPI_Buffer_detach(&memory, &count));
		CHECK(count == 2000000 + MPI_BSEND_OVERHEAD);
	}
	free(memory);
	CHECK(MPI_Wtime() > t && MPI_Wtick() > 0);
	probes();
	a = rank, b = -1;
	OK(MPI_Sendrecv(&a, 1, MPI_INT, next, 1, &b, 1, MPI_INT, last, 1, MPI_COMM_WORLD, &s));
	CHECK(b == last);
	OK(MPI_Sendrecv_replace(&a, 1, MPI_INT, next, 2, last, 2, MPI_COMM_WORLD, &s));
	CHECK(a == last);
	OK(MPI_Sendrecv_c(&a, 1, MPI_INT, next, 1, &b, 1, MPI_INT, last, 1, MPI_COMM_WORLD, &s));
	OK(MPI_Get_count_c(&s, MPI_INT, &large));
	CHECK(large == 1);
	OK(MPI_Recv(&b, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s));
	CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	CHECK(class_of(MPI_Send(&a, 1, MPI_INT, size, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
	CHECK(class_of(MPI_Send(&a, 1, MPI_INT, next, -7, MPI_COMM_WORLD)) == MPI_ERR_TAG);
	CHECK(class_of(MPI_Send(&a, -1, MPI_INT, next, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
	CHECK(class_of(MPI_Send(&a, 1, MPI_DATATYPE_NULL, next, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
	CHECK(class_of(MPI_Send(NULL, 1, MPI_INT, next, 0, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
	CHECK(class_of(MPI_Send(&a, 1, MPI_INT, next, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
	/* The message is longer than the buffer. */
	ring(MPI_Send, 3);
	{
		int two[2] = {1, 2};
		MPI_Request r;
		OK(MPI_Isend(two, 2, MPI_INT, next, 9, MPI_COMM_WORLD, &r));
		CHECK(class_of(MPI_Recv(&b, 1, MPI_INT, last, 9, MPI_COMM_WORLD, &s)) == MPI_ERR_TRUNCATE);
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
	return well();
}
