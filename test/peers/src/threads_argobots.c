// User-level threads of Argobots: what one operation of each kind takes.
// Usage: threads_argobots ROW N; prints nanoseconds per operation: the median of TIMES times N of
// them, after a tenth to warm up, as demo bench has it for ours.
#define _GNU_SOURCE
#include <abt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 1000, TIMES = 5 };

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void check(int err, const char *what) {
	if (err != ABT_SUCCESS) {
		fprintf(stderr, "threads_argobots: %s failed with %d\n", what, err);
		exit(1);
	}
}

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void nothing(void *arg) { (void)arg; }

static void yields(void *arg) {
	for (long n = *(long *)arg; n > 0; n--)
		ABT_thread_yield();
}

static double yield(ABT_pool pool, long n) {
	ABT_thread t[2];
	long each = n / 2;
	double began = now();
	for (int i = 0; i < 2; i++)
		check(ABT_thread_create(pool, yields, &each, ABT_THREAD_ATTR_NULL, &t[i]), "create");
	for (int i = 0; i < 2; i++)
		check(ABT_thread_free(&t[i]), "join");
	return (now() - began) / n;
}

static double spawn_one(ABT_pool pool, long n) {
	double began = now();
	for (long i = 0; i < n; i++) {
		ABT_thread t;
		check(ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &t), "create");
		check(ABT_thread_free(&t), "join");
	}
	return (now() - began) / n;
}

static double spawn_batch(ABT_pool pool, long n) {
	static ABT_thread t[BATCH];
	long rounds = n / BATCH;
	double began = now();
	for (long r = 0; r < rounds; r++) {
		for (int i = 0; i < BATCH; i++)
			check(ABT_thread_create(pool, nothing, NULL, ABT_THREAD_ATTR_NULL, &t[i]), "create");
		for (int i = 0; i < BATCH; i++)
			check(ABT_thread_free(&t[i]), "join");
	}
	return (now() - began) / (rounds * BATCH);
}

// Tasklets of Argobots have no stack and cannot wait: the lightest that a call can be handed to.
static double task_one(ABT_pool pool, long n) {
	double began = now();
	for (long i = 0; i < n; i++) {
		ABT_task t;
		check(ABT_task_create(pool, nothing, NULL, &t), "create");
		check(ABT_task_free(&t), "join");
	}
	return (now() - began) / n;
}

static double task_batch(ABT_pool pool, long n) {
	static ABT_task t[BATCH];
	long rounds = n / BATCH;
	double began = now();
	for (long r = 0; r < rounds; r++) {
		for (int i = 0; i < BATCH; i++)
			check(ABT_task_create(pool, nothing, NULL, &t[i]), "create");
		for (int i = 0; i < BATCH; i++)
			check(ABT_task_free(&t[i]), "join");
	}
	return (now() - began) / (rounds * BATCH);
}

// Two threads that wake each other by an eventual each, the lightest thing to wait for.
static struct {
	ABT_eventual turn[2];
	long left[2];
} match;

static void volley(void *arg) {
	int me = (int)(long)arg;
	while (match.left[me]-- > 0) {
		ABT_eventual_wait(match.turn[me], NULL);
		ABT_eventual_reset(match.turn[me]); // the other one sets it only after the next line
		ABT_eventual_set(match.turn[1 - me], NULL, 0);
	}
}

static double eventual(ABT_pool a, ABT_pool b, long n) {
	ABT_pool pools[2] = {a, b};
	ABT_thread t[2];
	for (int i = 0; i < 2; i++)
		check(ABT_eventual_create(0, &match.turn[i]), "eventual");
	match.left[0] = match.left[1] = n / 2;
	double began = now();
	for (long i = 0; i < 2; i++)
		check(ABT_thread_create(pools[i], volley, (void *)i, ABT_THREAD_ATTR_NULL, &t[i]), "create");
	ABT_eventual_set(match.turn[0], NULL, 0);
	for (int i = 0; i < 2; i++)
		check(ABT_thread_free(&t[i]), "join");
	double ns = (now() - began) / n;
	for (int i = 0; i < 2; i++)
		ABT_eventual_free(&match.turn[i]);
	return ns;
}

// Two threads that wake each other: a mutex, a condition each, whose turn it is.
static struct {
	ABT_mutex mutex;
	ABT_cond cond[2];
	long turn, left[2];
} game;

static void play(void *arg) {
	int me = (int)(long)arg;
	ABT_mutex_lock(game.mutex);
	while (game.left[me]-- > 0) {
		while (game.turn != me)
			ABT_cond_wait(game.cond[me], game.mutex);
		game.turn = 1 - me;
		ABT_cond_signal(game.cond[1 - me]);
	}
	ABT_mutex_unlock(game.mutex);
}

static double ping(ABT_pool a, ABT_pool b, long n) {
	ABT_pool pools[2] = {a, b};
	ABT_thread t[2];
	check(ABT_mutex_create(&game.mutex), "mutex");
	for (int i = 0; i < 2; i++)
		check(ABT_cond_create(&game.cond[i]), "condition");
	game.turn = 0;
	game.left[0] = game.left[1] = n / 2;
	double began = now();
	for (long i = 0; i < 2; i++)
		check(ABT_thread_create(pools[i], play, (void *)i, ABT_THREAD_ATTR_NULL, &t[i]), "create");
	for (int i = 0; i < 2; i++)
		check(ABT_thread_free(&t[i]), "join");
	double ns = (now() - began) / n;
	for (int i = 0; i < 2; i++)
		ABT_cond_free(&game.cond[i]);
	ABT_mutex_free(&game.mutex);
	return ns;
}

static void bind_to(void *arg) {
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((int)(long)arg, &one);
	sched_setaffinity(0, sizeof one, &one);
}

// The last CPU that this process may use, and the first one.
static void ends(int *first, int *last) {
	*last = 0;
	cpu_set_t mine;
	sched_getaffinity(0, sizeof mine, &mine);
	*first = -1;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &mine)) {
			if (*first < 0)
				*first = i;
			*last = i;
		}
}

int main(int argc, char **argv) {
	long n = argc == 3 ? atol(argv[2]) : 0;
	if (n < 2 * BATCH) {
		fprintf(stderr, "Usage: threads_argobots yield|one|batch|task|tasks|ping|eventual|cross|cross-eventual N, N at least %d\n", 2 * BATCH);
		return 2;
	}
	int first, last;
	ends(&first, &last);
	check(ABT_init(argc, argv), "ABT_init");
	bind_to((void *)(long)first);
	ABT_xstream self, other;
	ABT_pool pool, far;
	check(ABT_xstream_self(&self), "stream");
	check(ABT_xstream_get_main_pools(self, 1, &pool), "pool");
	double all[1 + TIMES], ns = 0;
	int crosses = !strncmp(argv[1], "cross", 5);
	for (int round = 0; round <= TIMES; round++) { // the first one warms up
		long k = round ? n : n / 10 + BATCH;
		if (!strcmp(argv[1], "yield"))
			ns = yield(pool, k);
		else if (!strcmp(argv[1], "one"))
			ns = spawn_one(pool, k);
		else if (!strcmp(argv[1], "batch"))
			ns = spawn_batch(pool, k);
		else if (!strcmp(argv[1], "ping"))
			ns = ping(pool, pool, k);
		else if (!strcmp(argv[1], "task"))
			ns = task_one(pool, k);
		else if (!strcmp(argv[1], "tasks"))
			ns = task_batch(pool, k);
		else if (!strcmp(argv[1], "eventual"))
			ns = eventual(pool, pool, k);
		else if (!strcmp(argv[1], "cross") || !strcmp(argv[1], "cross-eventual")) {
			if (!round) {
				check(ABT_xstream_create(ABT_SCHED_NULL, &other), "second stream");
				check(ABT_xstream_get_main_pools(other, 1, &far), "pool");
				ABT_thread t;
				check(ABT_thread_create(far, bind_to, (void *)(long)last, ABT_THREAD_ATTR_NULL, &t), "create");
				check(ABT_thread_free(&t), "join");
			}
			ns = argv[1][5] ? eventual(pool, far, k) : ping(pool, far, k);
		} else {
			fprintf(stderr, "threads_argobots: no row %s\n", argv[1]);
			return 2;
		}
		all[round] = ns;
	}
	qsort(all + 1, TIMES, sizeof *all, ascending);
	printf("%.2f\n", all[1 + TIMES / 2]);
	if (crosses) {
		ABT_xstream_join(other);
		ABT_xstream_free(&other);
	}
	ABT_finalize();
	return 0;
}
