// Two MPI ranks and many threads (MPI_THREAD_MULTIPLE), a CPU per rank:
//
//   fan       rank 0 sends to one of N threads of rank 1 after the other, which answers
//   pairs     N threads of rank 0, each in a ping-pong with its own thread of rank 1
//   exchange  N threads of rank 0, each of which sends to its own of rank 1 while it receives from it, and waits for both
//   load      one ping-pong between the ranks, while N threads of each compute
//
//   threads_mpi MODE -n 1,2,4 -s SIZE -i ITERS -t SECONDS -c CPU,CPU [-l MS] [-b MS]
//
// For each N it prints a line: N; how long all of it took, in ns, from when the threads of rank 0 had warmed up; and the one-way times (half a
// round trip) in ns of at most ITERS messages, LEAST at least, that were sent within SECONDS. Where a message takes
// longer than -l on average, larger N are left out, but for load; that computes for -b, from when all N have
// begun to, before a message is sent.
// `demo experiment` gives its own messages the same rules (lab/latency.go, lab/crowd.go).
#include "ranks.h"
#include "work.h"

#include <pthread.h>

#define MAX_THREADS 1024
#define LEAST 20 // messages that count, however long they take

enum { FIRST_TAG = 1000, NEXT_TAG = 1 };

static struct {
	const char *mode;
	int counts[MAX_SIZES], ncounts;
	int size, iters;
	double seconds;
	int limit, settle; // ms; 0: no limit
	int cpus[2];
} o = {.size = 1, .iters = 1000, .seconds = 1, .cpus = {0, 1}};

static int rank;
static double ns;
static uint64_t cost; // ticks that the clock itself takes
static atomic_int computing;
static atomic_int started; // of the threads that compute
static pthread_barrier_t warm; // the players of rank 0
static _Atomic uint64_t began;  // when the first of them left it

// A player is one thread of a ping-pong.
struct player {
	pthread_t thread;
	int first, tags; // those that it plays with
	int iters;
	uint64_t *sample;
	int n;
};

static void must_create(pthread_t *t, void *(*f)(void *), void *arg)
{
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	errno = pthread_create(t, &small, f, arg);
	if (errno)
		die("pthread_create");
}

// A tenth of what counts, from 10 to 1000, and no more than that.
static int warmup_of(int iters)
{
	int n = iters / 10 < 10 ? 10 : iters / 10 > 1000 ? 1000 : iters / 10;

	return n < iters ? n : iters;
}

// serve plays first, and at last sends each tag the end: a message that is longer than agreed.
static void *serve(void *arg)
{
	struct player *p = arg;
	char *out = buffer((size_t)o.size + 1), *in = buffer((size_t)o.size + 1);
	int warmup = warmup_of(p->iters);
	uint64_t end = ticks() + (uint64_t)(o.seconds * 1e9 / ns);

	for (int i = 0; i < warmup + p->iters; i++) {
		int tag = p->first + i % p->tags, got;
		MPI_Status status;

		if (i == warmup) {
			uint64_t nobody = 0;

			pthread_barrier_wait(&warm);
			atomic_compare_exchange_strong(&began, &nobody, clock_ns());
		}
		out[0] = (char)i;
		uint64_t before = ticks();
		MPI_Send(out, o.size, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
		MPI_Recv(in, o.size + 1, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &status);
		uint64_t after = ticks();
		MPI_Get_count(&status, MPI_BYTE, &got);
		if (got != o.size || in[0] != (char)i) {
			fprintf(stderr, "answer %d is damaged\n", i);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		if (i >= warmup)
			p->sample[p->n++] = apart(before, after, cost);
		if (p->n >= LEAST && after > end)
			break;
	}
	for (int k = 0; k < p->tags; k++)
		MPI_Send(out, o.size + 1, MPI_BYTE, 1, p->first + k, MPI_COMM_WORLD);
	free(out);
	free(in);
	return NULL;
}

// answer sends back what comes, until the end comes.
static void *answer(void *arg)
{
	struct player *p = arg;
	char *buf = buffer((size_t)o.size + 1);

	for (;;) {
		MPI_Status status;
		int got;

		MPI_Recv(buf, o.size + 1, MPI_BYTE, 0, p->first, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &got);
		if (got > o.size)
			break;
		MPI_Send(buf, got, MPI_BYTE, 0, p->first, MPI_COMM_WORLD);
	}
	free(buf);
	return NULL;
}

// trade has both threads of a pair send and receive at once. That of rank 0 ends it with a message that is longer than agreed.
static void *trade(void *arg)
{
	struct player *p = arg;
	char *out = buffer((size_t)o.size + 1), *in = buffer((size_t)o.size + 1);
	int warmup = warmup_of(p->iters), last = 0, got = 0;
	uint64_t end = ticks() + (uint64_t)(o.seconds * 1e9 / ns);

	for (int i = 0; !last && got <= o.size; i++) {
		MPI_Request both[2];
		MPI_Status status[2];

		last = rank == 0 && (i == warmup + p->iters || (p->n >= LEAST && ticks() > end));
		if (rank == 0 && i == warmup) {
			uint64_t nobody = 0;

			pthread_barrier_wait(&warm);
			atomic_compare_exchange_strong(&began, &nobody, clock_ns());
		}
		out[0] = (char)i;
		uint64_t before = ticks();
		MPI_Irecv(in, o.size + 1, MPI_BYTE, 1 - rank, p->first, MPI_COMM_WORLD, &both[0]);
		MPI_Isend(out, o.size + last, MPI_BYTE, 1 - rank, p->first, MPI_COMM_WORLD, &both[1]);
		MPI_Waitall(2, both, status);
		uint64_t after = ticks();
		MPI_Get_count(&status[0], MPI_BYTE, &got);
		if (got < o.size || in[0] != (char)i) {
			fprintf(stderr, "exchange %d is damaged\n", i);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		if (rank == 0 && i >= warmup && !last)
			p->sample[p->n++] = apart(before, after, cost);
	}
	free(out);
	free(in);
	return NULL;
}

static void *compute(void *arg)
{
	atomic_fetch_add(&started, 1);
	while (atomic_load_explicit(&computing, memory_order_relaxed))
		work_steps(1000);
	return arg;
}

// play plays one N; what a message takes one way, in ns, if all players advance alike, is returned on rank 0.
static double play(int n)
{
	static pthread_t workers[MAX_THREADS];
	int load = !strcmp(o.mode, "load"), fan = !strcmp(o.mode, "fan");
	int players = load || (fan && rank == 0) ? 1 : n;
	void *(*part)(void *) = !strcmp(o.mode, "exchange") ? trade : rank == 0 ? serve : answer;
	struct player *all = calloc((size_t)players, sizeof *all);
	double sum = 0;
	long count = 0;

	atomic_store(&computing, 1);
	atomic_store(&started, 0);
	for (int i = 0; load && i < n; i++)
		must_create(&workers[i], compute, NULL);
	while (load && atomic_load(&started) < n) // as ours wait for the first slices of theirs
		usleep(1000);
	if (load && n > 0)
		usleep((useconds_t)o.settle * 1000);
	atomic_store(&began, 0);
	pthread_barrier_init(&warm, NULL, (unsigned)players);
	for (int k = 0; k < players; k++) {
		all[k].first = FIRST_TAG + k;
		all[k].tags = fan && rank == 0 ? n : 1;
		all[k].iters = o.iters / players > 0 ? o.iters / players : 1;
		if (all[k].iters < all[k].tags)
			all[k].iters = all[k].tags;
		all[k].sample = buffer(sizeof(uint64_t) * (size_t)all[k].iters);
		must_create(&all[k].thread, part, &all[k]);
	}
	for (int k = 0; k < players; k++)
		pthread_join(all[k].thread, NULL);
	double elapsed = (double)(clock_ns() - atomic_load(&began));
	pthread_barrier_destroy(&warm);
	if (rank == 0)
		printf("%d %.1f", n, elapsed);
	for (int k = 0; k < players; k++) {
		for (int i = 0; i < all[k].n; i++) {
			double t = (double)all[k].sample[i] * ns / 2;
			printf(" %.1f", t);
			sum += t;
			count++;
		}
		free(all[k].sample);
	}
	atomic_store(&computing, 0);
	for (int i = 0; load && i < n; i++)
		pthread_join(workers[i], NULL);
	if (rank == 0)
		printf("\n");
	fflush(stdout);
	free(all);
	if (count == 0)
		return 0;
	return players == 1 ? sum / (double)count : elapsed / (double)count * players / 2;
}

static void parse_threads(int argc, char **argv)
{
	int c;

	if (argc > 1)
		o.mode = argv[1];
	if (!o.mode || (strcmp(o.mode, "fan") && strcmp(o.mode, "pairs") && strcmp(o.mode, "exchange") && strcmp(o.mode, "load")))
		goto wrong;
	for (optind = 2; (c = getopt(argc, argv, "n:s:i:t:c:l:b:")) != -1;) {
		switch (c) {
		case 'n':
			for (char *p = strtok(optarg, ","); p; p = strtok(NULL, ",")) {
				int n = atoi(p);
				if (o.ncounts == MAX_SIZES || n < !!strcmp(o.mode, "load") || n > MAX_THREADS)
					goto wrong;
				o.counts[o.ncounts++] = n;
			}
			break;
		case 's':
			o.size = atoi(optarg);
			break;
		case 'i':
			o.iters = atoi(optarg);
			break;
		case 't':
			o.seconds = atof(optarg);
			break;
		case 'l':
			o.limit = atoi(optarg);
			break;
		case 'b':
			o.settle = atoi(optarg);
			break;
		case 'c':
			if (sscanf(optarg, "%d,%d", &o.cpus[0], &o.cpus[1]) != 2)
				goto wrong;
			break;
		default:
			goto wrong;
		}
	}
	if (o.ncounts > 0 && o.size > 0 && o.iters > 0 && o.seconds > 0 && o.limit >= 0 && o.settle >= 0 && optind == argc)
		return;
wrong:
	fprintf(stderr, "usage: %s fan|pairs|exchange|load -n THREADS,... -s SIZE -i ITERS -t SECONDS -c CPU,CPU [-l MS] [-b MS]\n", argv[0]);
	exit(2);
}

int main(int argc, char **argv)
{
	parse_threads(argc, argv);
	rank = join_two(&argc, &argv, o.cpus, MPI_THREAD_MULTIPLE);
	ns = ns_per_tick();
	cost = tick_cost();
	for (int i = 0, go = 1; i < o.ncounts && go; i++) {
		double each = play(o.counts[i]);

		go = o.limit == 0 || each < o.limit * 1e6 || !strcmp(o.mode, "load");
		if (rank == 0)
			MPI_Send(&go, 1, MPI_INT, 1, NEXT_TAG, MPI_COMM_WORLD);
		else
			MPI_Recv(&go, 1, MPI_INT, 0, NEXT_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
