/* Short messages, which C moves itself where it can: every message comes to the receive that the standard says, whichever of C and Go began that, and a request that was freed, canceled or
 * never looked at again is as good as any other. */
#include "check.h"
#include <pthread.h>
#include <time.h>

enum { ROUNDS = 400, MOST = 200, LARGE = 40000 };

static int rank, other;
static MPI_Comm comms[2];

/* Both ranks draw the same numbers. */
static unsigned draw(unsigned *seed, unsigned below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 10) % below;
}

struct message {
	int tag, bytes, comm, any;
};

static unsigned char at(int round, int i, int k) { return (unsigned char)(round * 31 + i * 7 + k); }

static int sizes[] = {0, 1, 4, 32, 33, 64, 200, 1000, 3000, 9000, LARGE};

static unsigned char *in[MOST], *out[MOST];

static int begun; /* receives that were begun by C: their handles have a kind of their own */

static void send_all(int round, struct message *m, int n, unsigned seed)
{
	MPI_Request r[MOST];
	int i, k;
	for (i = 0; i < n; i++) {
		r[i] = MPI_REQUEST_NULL;
		for (k = 0; k < m[i].bytes; k++)
			out[i][k] = at(round, i, k);
		switch (draw(&seed, 8)) {
		case 0:
			OK(MPI_Ssend(out[i], m[i].bytes, MPI_BYTE, other, m[i].tag, comms[m[i].comm]));
			break;
		case 1:
			OK(MPI_Issend(out[i], m[i].bytes, MPI_BYTE, other, m[i].tag, comms[m[i].comm], &r[i]));
			break;
		case 2:
		case 3:
			OK(MPI_Send(out[i], m[i].bytes, MPI_BYTE, other, m[i].tag, comms[m[i].comm]));
			break;
		default:
			OK(MPI_Isend(out[i], m[i].bytes, MPI_BYTE, other, m[i].tag, comms[m[i].comm], &r[i]));
		}
	}
	OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
}

static void came(int round, int i, struct message *m, MPI_Status *s)
{
	int k, n;
	OK(MPI_Get_count(s, MPI_BYTE, &n));
	CHECK(s->MPI_SOURCE == other && s->MPI_TAG == m[i].tag && n == m[i].bytes);
	for (k = 0; k < n; k++)
		CHECK(in[i][k] == at(round, i, k));
}

/* A receive for each message, in their order but for neighbors of one communicator that name different tags: so it is known which gets which. */
static void receive_all(int round, struct message *m, int n, unsigned seed)
{
	int i, j, flag, done, order[MOST], room, how = draw(&seed, 5), wild = draw(&seed, 4) == 0, roomy = draw(&seed, 4) == 0;
	MPI_Request r[MOST];
	MPI_Status s[MOST];
	for (i = 0; i < n; i++)
		order[i] = i, m[i].any = wild ? (int)draw(&seed, 12) : 3;
	for (i = 0; how != 0 && i + 1 < n; i++)
		if (m[i].any > 2 && m[i + 1].any > 2 && m[i].tag != m[i + 1].tag && draw(&seed, 4) == 0)
			order[i] = i + 1, order[i + 1] = i, i++;
	for (j = 0; j < n; j++) {
		i = order[j], room = draw(&seed, 2) ? m[i].bytes : roomy ? LARGE : m[i].bytes + 50;
		if (room > LARGE)
			room = LARGE;
		int source = m[i].any == 0 || m[i].any == 2 ? MPI_ANY_SOURCE : other, tag = m[i].any == 1 || m[i].any == 2 ? MPI_ANY_TAG : m[i].tag;
		if (how == 0) { /* one by one, some of which are looked at before */
			if (draw(&seed, 3) == 0)
				OK(MPI_Probe(source, tag, comms[m[i].comm], MPI_STATUS_IGNORE));
			OK(MPI_Recv(in[i], room, MPI_BYTE, source, tag, comms[m[i].comm], &s[i]));
			came(round, i, m, &s[i]);
		} else {
			OK(MPI_Irecv(in[i], room, MPI_BYTE, source, tag, comms[m[i].comm], &r[i]));
			begun += MPI_Request_toint(r[i]) >> 26 == 31;
			if (draw(&seed, 40) == 0)
				OK(MPI_Iprobe(other, 77, comms[m[i].comm], &flag, MPI_STATUS_IGNORE));
		}
	}
	switch (how) {
	case 1:
		OK(MPI_Waitall(n, r, s));
		for (i = 0; i < n; i++)
			came(round, i, m, &s[i]);
		break;
	case 2:
		for (j = n - 1; j >= 0; j--) {
			OK(MPI_Wait(&r[j], &s[j]));
			came(round, j, m, &s[j]);
		}
		break;
	case 3:
		for (j = 0; j < n; j++) {
			OK(MPI_Waitany(n, r, &i, s));
			came(round, i, m, s);
		}
		break;
	case 4:
		for (done = 0; done < n;) {
			i = draw(&seed, n);
			if (r[i] == MPI_REQUEST_NULL)
				continue;
			OK(MPI_Test(&r[i], &flag, s));
			if (flag)
				came(round, i, m, s), done++;
		}
	}
}

static void storms(void)
{
	static struct message m[MOST];
	int round, i, n;
	unsigned seed = 1;
	for (round = 0; round < ROUNDS; round++) {
		int small = draw(&seed, 4) != 0, tags = 1 + draw(&seed, 3), both = draw(&seed, 3) == 0;
		n = 1 + draw(&seed, draw(&seed, 4) ? 20 : MOST);
		for (i = 0; i < n; i++) {
			m[i].tag = draw(&seed, tags), m[i].comm = both ? (int)draw(&seed, 2) : 0;
			m[i].bytes = sizes[draw(&seed, small ? 5 : sizeof sizes / sizeof *sizes)];
		}
		seed++;
		if ((round & 1) == rank)
			send_all(round, m, n, seed);
		else
			receive_all(round, m, n, seed * 3);
	}
}

static void handles(void)
{
	MPI_Request r, same, two[2];
	MPI_Status s;
	MPI_Comm c;
	int i, x[2] = {0, 0}, y = 5 + rank, flag, shared = 0, least;
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* of what is no request */
	for (i = 0; i < 300; i++) {
		OK(MPI_Irecv(x, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r));
		same = r;
		CHECK(MPI_Request_fromint(MPI_Request_toint(r)) == r);
		OK(MPI_Send(&y, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
		if (i % 3 == 0) {
			OK(MPI_Request_get_status(r, &flag, &s));
			CHECK(r == same);
		}
		OK(MPI_Wait(&r, &s));
		CHECK(r == MPI_REQUEST_NULL && x[0] == 5 + other && s.MPI_SOURCE == other);
		CHECK(class_of(MPI_Wait(&same, &s)) == MPI_ERR_REQUEST);
		CHECK(class_of(MPI_Test(&same, &flag, &s)) == MPI_ERR_REQUEST);
	}
	/* A blocking receive comes behind those that were begun before it. */
	for (i = 0; i < 100; i++) {
		int first = 2 * i, second = first + 1;
		OK(MPI_Irecv(x, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r));
		OK(MPI_Send(&first, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
		OK(MPI_Send(&second, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
		OK(MPI_Recv(x + 1, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &s));
		OK(MPI_Wait(&r, &s));
		CHECK(x[0] == first && x[1] == second);
	}
	/* Freed before their messages come; more than C has places for. */
	for (i = 0; i < 300; i++) {
		OK(MPI_Irecv(x, 1, MPI_INT, other, 2, MPI_COMM_WORLD, &r));
		OK(MPI_Request_free(&r));
		OK(MPI_Sendrecv(&y, 1, MPI_INT, other, 3, &x[1], 1, MPI_INT, other, 3, MPI_COMM_WORLD, &s));
		OK(MPI_Send(&y, 1, MPI_INT, other, 2, MPI_COMM_WORLD));
	}
	/* Canceled. */
	OK(MPI_Irecv(x, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &r));
	OK(MPI_Cancel(&r));
	OK(MPI_Wait(&r, &s));
	OK(MPI_Test_cancelled(&s, &flag));
	CHECK(flag);
	/* Too long a message, alone and among others. */
	OK(MPI_Irecv(x, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &r));
	OK(MPI_Irecv(x, 1, MPI_INT, other, 6, MPI_COMM_WORLD, &two[0]));
	OK(MPI_Irecv(x + 1, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &two[1]));
	for (i = 5; i < 8; i++)
		OK(MPI_Send((int[2]){1, 2}, i == 7 ? 1 : 2, MPI_INT, other, i, MPI_COMM_WORLD));
	CHECK(class_of(MPI_Wait(&r, &s)) == MPI_ERR_TRUNCATE && r == MPI_REQUEST_NULL);
	{
		MPI_Status both[2];
		CHECK(class_of(MPI_Waitall(2, two, both)) == MPI_ERR_IN_STATUS);
		CHECK(class_of(both[0].MPI_ERROR) == MPI_ERR_TRUNCATE && both[1].MPI_ERROR == MPI_SUCCESS && x[1] == 1);
	}
	/* Sends that are over at once share a request. Where the other process sleeps each time that a message comes, as on a busy
	   machine, none is; so the processes go on until it happened at both. */
	for (i = 0, least = 0; i < 5000 && !least; i++) {
		OK(MPI_Isend(&y, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &two[0]));
		OK(MPI_Isend(&y, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &two[1]));
		shared += two[0] == two[1];
		CHECK(MPI_Request_fromint(MPI_Request_toint(two[0])) == two[0]);
		OK(MPI_Waitall(2, two, MPI_STATUSES_IGNORE));
		OK(MPI_Recv(x, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &s));
		OK(MPI_Recv(x, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &s));
		if (i % 100 == 99)
			OK(MPI_Allreduce(&shared, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
	}
	CHECK(shared > 0);
	OK(MPI_Isend(&y, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &two[0]));
	OK(MPI_Isend(&y, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &two[1]));
	OK(MPI_Cancel(&two[0]));
	OK(MPI_Request_free(&two[0]));
	OK(MPI_Waitany(2, two, &i, &s));
	CHECK(i == 1 && two[0] == MPI_REQUEST_NULL && two[1] == MPI_REQUEST_NULL && s.MPI_TAG == MPI_ANY_TAG);
	for (i = 0; i < 2; i++)
		OK(MPI_Recv(x, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &s));
	/* The communicator is freed before the message comes. */
	for (i = 0; i < 3; i++) {
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
		OK(MPI_Sendrecv(&y, 1, MPI_INT, other, 9, x, 1, MPI_INT, other, 9, c, &s));
		OK(MPI_Irecv(x, 1, MPI_INT, other, 1, c, &r));
		OK(MPI_Sendrecv(&y, 1, MPI_INT, other, 9, x + 1, 1, MPI_INT, other, 9, MPI_COMM_WORLD, &s));
		OK(MPI_Send(&y, 1, MPI_INT, other, 1, c));
		OK(MPI_Comm_free(&c));
		OK(MPI_Wait(&r, &s));
		CHECK(x[0] == 5 + other && s.MPI_SOURCE == other && s.MPI_TAG == 1);
	}
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

/* turn has the other rank go on once this one has begun something, and the other way round. */
static void turn(int mine)
{
	int x = 0;
	if (mine)
		OK(MPI_Send(&x, 1, MPI_INT, other, 30, MPI_COMM_WORLD));
	else
		OK(MPI_Recv(&x, 1, MPI_INT, other, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* What the next message is not for: a receive of the other communicator, one that is too short, one behind another. */
static void others(void)
{
	MPI_Request r;
	MPI_Status s;
	int i, x[4], y[2] = {1, 2}, z[2] = {3, 4}, receives;
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	for (i = 0; i < 400; i++) {
		receives = (i & 1) == rank;
		memset(x, 0, sizeof x);
		if (receives) {
			OK(MPI_Irecv(x, 2, MPI_INT, other, 1, comms[1], &r));
			turn(1);
			OK(MPI_Wait(&r, &s));
			OK(MPI_Recv(x + 2, 2, MPI_INT, other, 1, comms[0], &s));
			CHECK(x[0] == 3 && x[1] == 4 && x[2] == 1 && x[3] == 2);
			OK(MPI_Irecv(x, 1, MPI_INT, other, 1, comms[0], &r));
			turn(1);
			CHECK(class_of(MPI_Wait(&r, &s)) == MPI_ERR_TRUNCATE && x[0] == 1 && x[1] == 4);
			turn(1);
			CHECK(class_of(MPI_Recv(x, 1, MPI_INT, other, 1, comms[0], &s)) == MPI_ERR_TRUNCATE && x[0] == 3 && x[1] == 4);
			OK(MPI_Irecv(x, 2, MPI_INT, MPI_ANY_SOURCE, 1, comms[0], &r));
			turn(1);
			OK(MPI_Recv(x + 2, 2, MPI_INT, other, 1, comms[0], &s));
			OK(MPI_Wait(&r, &s));
			CHECK(x[0] == 1 && x[2] == 3);
			OK(MPI_Irecv(x, 0, MPI_INT, other, 1, comms[0], &r));
			turn(1);
			OK(MPI_Wait(&r, &s));
		} else {
			turn(0);
			OK(MPI_Send(y, 2, MPI_INT, other, 1, comms[0]));
			OK(MPI_Send(z, 2, MPI_INT, other, 1, comms[1]));
			turn(0);
			OK(MPI_Send(y, 2, MPI_INT, other, 1, comms[0]));
			turn(0);
			OK(MPI_Send(z, 2, MPI_INT, other, 1, comms[0]));
			turn(0);
			OK(MPI_Send(y, 2, MPI_INT, other, 1, comms[0]));
			OK(MPI_Send(z, 2, MPI_INT, other, 1, comms[0]));
			turn(0);
			OK(MPI_Ssend(y, 0, MPI_INT, other, 1, comms[0]));
		}
	}
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

/* A request whose place was another one's, which was looked at when it was over, is not over for that; and one that stands twice among those that a call ends is ended once. */
static void places(void)
{
	MPI_Request r[3], same;
	MPI_Status s[2];
	int i, x[3], y[3], flag, n, at[2];
	for (i = 0; i < 300; i++) {
		y[0] = 3 * i, y[1] = y[0] + 1, y[2] = y[0] + 2;
		if (rank == 0) {
			turn(0);
			OK(MPI_Send(&y[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD));
			OK(MPI_Send(&y[1], 1, MPI_INT, other, 2, MPI_COMM_WORLD));
			turn(0);
			OK(MPI_Send(&y[2], 1, MPI_INT, other, 3, MPI_COMM_WORLD));
			continue;
		}
		OK(MPI_Irecv(&x[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r[0]));
		OK(MPI_Irecv(&x[1], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &r[1]));
		turn(1);
		OK(MPI_Wait(&r[1], s));
		OK(MPI_Request_get_status(r[0], &flag, s));
		CHECK(flag && s->MPI_TAG == 1);
		OK(MPI_Wait(&r[0], s));
		OK(MPI_Irecv(&x[2], 1, MPI_INT, other, 3, MPI_COMM_WORLD, &r[2]));
		OK(MPI_Request_get_status(r[2], &flag, s));
		CHECK(!flag);
		turn(1);
		OK(MPI_Wait(&r[2], s));
		CHECK(s->MPI_TAG == 3 && x[0] == y[0] && x[1] == y[1] && x[2] == y[2]);
	}
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	for (i = 0; i < 20; i++) {
		y[0] = 1, y[1] = 2;
		OK(MPI_Irecv(&x[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[0]));
		same = r[1] = r[0];
		OK(MPI_Send(&y[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD));
		for (flag = 0; !flag;)
			OK(MPI_Request_get_status(same, &flag, s));
		if (i & 1)
			CHECK(class_of(MPI_Testall(2, r, &flag, s)) == MPI_ERR_REQUEST);
		else
			CHECK(class_of(MPI_Waitsome(2, r, &n, at, s)) == MPI_ERR_REQUEST);
		OK(MPI_Irecv(&x[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[0]));
		OK(MPI_Irecv(&x[1], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[1]));
		OK(MPI_Send(&y[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD));
		OK(MPI_Send(&y[1], 1, MPI_INT, other, 2, MPI_COMM_WORLD));
		OK(MPI_Waitall(2, r, s));
		CHECK(x[0] == 1 && x[1] == 2);
	}
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* A receive that was begun gets its message though its process calls nothing: a synchronous send ends. */
static void alone(void)
{
	int x = 0, i;
	MPI_Request r;
	for (i = 0; i < 3; i++) {
		if (rank == 1) {
			OK(MPI_Irecv(&x, 1, MPI_INT, other, i, comms[1], &r));
			OK(MPI_Send(&x, 1, MPI_INT, other, 20, comms[0]));
			nanosleep(&(struct timespec){0, 400000000}, NULL);
			OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
			CHECK(x == i + 1);
		} else {
			double began;
			int y = i + 1;
			OK(MPI_Recv(&x, 1, MPI_INT, other, 20, comms[0], MPI_STATUS_IGNORE));
			began = seconds();
			OK(MPI_Ssend(&y, 1, MPI_INT, other, i, comms[1]));
			CHECK(seconds() - began < 0.3);
		}
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
}

static void *thread(void *which)
{
	int tag = (int)(intptr_t)which, i, j, x[16], y[16];
	MPI_Request r[32];
	MPI_Status s[32];
	for (i = 0; i < 200; i++) {
		int n = 1 + (i + tag) % 16;
		for (j = 0; j < n; j++) {
			y[j] = (i * 16 + j) * 8 + tag, x[j] = -1;
			OK(MPI_Irecv(&x[j], 1, MPI_INT, other, tag, MPI_COMM_WORLD, &r[j]));
		}
		for (j = 0; j < n; j++)
			OK(MPI_Isend(&y[j], 1, MPI_INT, other, tag, MPI_COMM_WORLD, &r[n + j]));
		OK(MPI_Waitall(2 * n, r, s));
		for (j = 0; j < n; j++)
			CHECK(x[j] == y[j] && s[j].MPI_TAG == tag);
		OK(MPI_Send(y, 1, MPI_INT, other, tag, MPI_COMM_WORLD));
		OK(MPI_Recv(x, 1, MPI_INT, other, tag, MPI_COMM_WORLD, s));
		CHECK(x[0] == y[0] && s->MPI_TAG == tag);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];
	intptr_t i;
	for (i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, thread, (void *)i) == 0);
	for (i = 0; i < 4; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
}

int main(int argc, char **argv)
{
	int i, level;
	OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	other = 1 - rank;
	comms[0] = MPI_COMM_WORLD;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
	for (i = 0; i < MOST; i++)
		in[i] = malloc(LARGE), out[i] = malloc(LARGE);
	storms();
	others();
	handles();
	places();
	alone();
	threads();
	storms();
	OK(MPI_Comm_free(&comms[1]));
	if (getenv("SHORT_VERBOSE"))
		printf("%d receives begun by C\n", begun);
	CHECK(begun > 0);
	return well();
}
