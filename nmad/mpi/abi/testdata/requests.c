/* Requests: those that wait for one, any, some and all, persistent and generalized ones, and what is canceled. */
#include "check.h"
#include <pthread.h>

enum { N = 6 };

static int rank, size, next, last;

static void begin(MPI_Request *r, int *in, int *out)
{
	int i;
	for (i = 0; i < N; i++) {
		out[i] = rank * 10 + i, in[i] = -1;
		OK(MPI_Irecv(&in[i], 1, MPI_INT, last, i, MPI_COMM_WORLD, &r[i]));
	}
	for (i = 0; i < N; i++)
		OK(MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &r[N + i]));
}

static void several(void)
{
	MPI_Request r[2 * N];
	MPI_Status s[2 * N];
	int in[N], out[N], i, n, done, at[2 * N], flag = 0;
	begin(r, in, out);
	OK(MPI_Waitall(2 * N, r, s));
	for (i = 0; i < N; i++)
		CHECK(in[i] == last * 10 + i && r[i] == MPI_REQUEST_NULL && s[i].MPI_TAG == i && s[i].MPI_SOURCE == last);
	begin(r, in, out);
	for (n = 0; n < 2 * N; n++) {
		OK(MPI_Waitany(2 * N, r, &i, s));
		CHECK(i >= 0 && r[i] == MPI_REQUEST_NULL);
	}
	OK(MPI_Waitany(2 * N, r, &i, s));
	CHECK(i == MPI_UNDEFINED && s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG);
	begin(r, in, out);
	for (done = 0; done < 2 * N; done += n) {
		OK(MPI_Waitsome(2 * N, r, &n, at, s));
		CHECK(n >= 1);
	}
	OK(MPI_Waitsome(2 * N, r, &n, at, s));
	CHECK(n == MPI_UNDEFINED);
	begin(r, in, out);
	while (!flag)
		OK(MPI_Testall(2 * N, r, &flag, MPI_STATUSES_IGNORE));
	begin(r, in, out);
	for (done = 0; done < 2 * N;) {
		OK(MPI_Testany(2 * N, r, &i, &flag, s));
		done += flag;
	}
	OK(MPI_Testany(2 * N, r, &i, &flag, s));
	CHECK(flag && i == MPI_UNDEFINED);
	begin(r, in, out);
	for (done = 0; done < 2 * N;) {
		OK(MPI_Testsome(2 * N, r, &n, at, s));
		done += n;
	}
	for (i = 0; i < N; i++)
		CHECK(in[i] == last * 10 + i);
}

static void persistent(void)
{
	MPI_Request r[2];
	MPI_Status s;
	int in, out, i, flag;
	OK(MPI_Send_init(&out, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &r[0]));
	OK(MPI_Recv_init(&in, 1, MPI_INT, last, 4, MPI_COMM_WORLD, &r[1]));
	OK(MPI_Wait(&r[1], &s)); /* not started */
	CHECK(s.MPI_SOURCE == MPI_ANY_SOURCE && r[1] != MPI_REQUEST_NULL);
	for (i = 0; i < 3; i++) {
		out = 100 * rank + i, in = -1;
		OK(MPI_Startall(2, r));
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		CHECK(in == 100 * last + i);
	}
	OK(MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE));
	CHECK(flag && r[0] != MPI_REQUEST_NULL);
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
	CHECK(r[0] == MPI_REQUEST_NULL);
}

static void canceled(void)
{
	MPI_Request r;
	MPI_Status s;
	int in, flag;
	OK(MPI_Irecv(&in, 1, MPI_INT, last, 77, MPI_COMM_WORLD, &r));
	OK(MPI_Request_get_status(r, &flag, &s));
	CHECK(!flag && r != MPI_REQUEST_NULL);
	OK(MPI_Cancel(&r));
	OK(MPI_Wait(&r, &s));
	OK(MPI_Test_cancelled(&s, &flag));
	CHECK(flag);
}

static int queried, freed;

static int query(void *extra, MPI_Status *s)
{
	queried++;
	OK(MPI_Status_set_elements(s, MPI_INT, *(int *)extra));
	OK(MPI_Status_set_cancelled(s, 0));
	s->MPI_SOURCE = 5, s->MPI_TAG = 6;
	return MPI_SUCCESS;
}

static int release(void *extra)
{
	freed += *(int *)extra == 12;
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
	(void)extra, (void)complete;
	return MPI_SUCCESS;
}

static void *complete(void *request)
{
	OK(MPI_Grequest_complete(*(MPI_Request *)request));
	return NULL;
}

static void generalized(void)
{
	MPI_Request r, same;
	MPI_Status s;
	pthread_t t;
	int extra = 12, n;
	OK(MPI_Grequest_start(query, release, cancel, &extra, &r));
	same = r;
	OK(MPI_Cancel(&r));
	CHECK(pthread_create(&t, NULL, complete, &same) == 0);
	OK(MPI_Wait(&r, &s));
	CHECK(pthread_join(t, NULL) == 0 && queried == 1 && freed == 1 && s.MPI_SOURCE == 5 && s.MPI_TAG == 6);
	OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(n == 12);
}

/* A request that the program frees before it completes it, and one that it looks at. */
static void generalized_otherwise(void)
{
	MPI_Request r, same;
	MPI_Status s;
	int extra = 12, flag, at, n;
	queried = freed = 0;
	OK(MPI_Grequest_start(query, release, cancel, &extra, &r));
	same = r;
	OK(MPI_Request_free(&r));
	CHECK(r == MPI_REQUEST_NULL && freed == 0);
	OK(MPI_Grequest_complete(same));
	CHECK(freed == 1 && queried == 0);
	OK(MPI_Grequest_start(query, release, cancel, &extra, &r));
	OK(MPI_Request_get_status_all(1, &r, &flag, &s));
	CHECK(!flag && queried == 0);
	OK(MPI_Grequest_complete(r));
	OK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE));
	CHECK(flag && queried == 1);
	s.MPI_SOURCE = 0;
	OK(MPI_Request_get_status_all(1, &r, &flag, &s));
	CHECK(flag && queried == 2 && s.MPI_SOURCE == 5);
	s.MPI_SOURCE = 0;
	OK(MPI_Request_get_status_any(1, &r, &at, &flag, &s));
	CHECK(flag && at == 0 && queried == 3 && s.MPI_SOURCE == 5);
	s.MPI_SOURCE = 0;
	OK(MPI_Request_get_status_some(1, &r, &n, &at, &s));
	CHECK(n == 1 && at == 0 && queried == 4 && s.MPI_SOURCE == 5);
	OK(MPI_Request_free(&r));
	CHECK(freed == 2);
}

/* An exchange whose receive is over, and whose send is not: what is over first is another request. */
static void exchanges(void)
{
	enum { LARGE = 1 << 22 };
	char *out = calloc(LARGE, 1), *in = calloc(LARGE, 1);
	MPI_Request r[2];
	MPI_Status s[2];
	int i, n, round, at[2], one = 1, x, y;
	for (round = 0; round < 2; round++) {
		OK(MPI_Isendrecv(out, LARGE, MPI_BYTE, 0, 1, &x, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r[0]));
		OK(MPI_Send(&one, 1, MPI_INT, 0, 2, MPI_COMM_SELF));
		OK(MPI_Irecv(&y, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[1]));
		OK(MPI_Send(&one, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
		if (round == 0) {
			OK(MPI_Waitany(2, r, &i, s));
		} else {
			OK(MPI_Waitsome(2, r, &n, at, s));
			CHECK(n == 1);
			i = at[0];
		}
		CHECK(i == 1 && r[0] != MPI_REQUEST_NULL);
		OK(MPI_Recv(in, LARGE, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
		OK(MPI_Waitany(2, r, &i, s));
		CHECK(i == 0 && x == 1 && y == 1);
	}
	free(out), free(in);
}

static void parts(void)
{
	MPI_Request r[2];
	int in[8], out[8], i, n, flag;
	if (size < 2)
		return;
	OK(MPI_Psend_init(out, 4, 2, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
	OK(MPI_Precv_init(in, 2, 4, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
	for (n = 0; n < 2; n++) {
		for (i = 0; i < 8; i++)
			out[i] = rank + 10 * i + n, in[i] = -1;
		OK(MPI_Startall(2, r));
		OK(MPI_Pready(3, r[0]));
		OK(MPI_Pready_range(0, 2, r[0]));
		for (flag = 0; !flag;)
			OK(MPI_Parrived(r[1], 0, &flag));
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		for (i = 0; i < 8; i++)
			CHECK(in[i] == last + 10 * i + n);
	}
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
	next = (rank + 1) % size, last = (rank + size - 1) % size;
	several();
	persistent();
	canceled();
	generalized();
	generalized_otherwise();
	exchanges();
	parts();
	return well();
}
