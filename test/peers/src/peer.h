// What the peers share: options, binding to a CPU, the clock, the figures.
//
// Every program takes
//   -s 1,1024,...   message sizes in bytes
//   -i N            timed round trips per size
//   -w N            untimed round trips before them
//   -c A,B          CPUs of the two processes; the same twice is allowed
//   -n N            windows of N messages in one direction, in place of round trips
//   -f              each message is written anew before it is sent and read after it has come,
//                   outside of what is timed, as demo pingpong does; else the same bytes are sent
//                   again and again, and a peer that copies them straight from the sender finds
//                   them in its own cache
//   -p FILE         a file to share for the probe, where the two do not share memory
//   -u              Unix sockets, where sockets are used
// and prints one line of JSON, times in ns, one way (half a round trip; of a window, the
// Nth part of the time from its first send until the answer to its last message):
//   {"rows":[{"size":1,"min_ns":0,"median_ns":0,"p99_ns":0,"mean_ns":0,"iters":0,
//             "probe_ns":0,"probe_after_ns":0}]}
// The probes, one cache line one way between the two processes, are taken right
// before and right after the timed round trips, and left out on one CPU.
#ifndef PEER_H
#define PEER_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define MAX_SIZES 64
#define MAX_WINDOW 1024

struct options {
	size_t sizes[MAX_SIZES];
	int nsizes;
	int iters, warmup;
	int window; // messages; 0: round trips
	int fresh;  // messages are written anew, and read
	int cpus[2];
	const char *probe; // file for the probe's lines, or NULL
	int local;         // Unix sockets
};

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void usage(const char *program)
{
	fprintf(stderr, "usage: %s -s SIZE,... -i ITERS -w WARMUP -c CPU,CPU [-n WINDOW] [-f] [-p FILE] [-u]\n", program);
	exit(2);
}

__attribute__((unused)) static struct options parse(int argc, char **argv)
{
	struct options o = {.iters = 1000, .warmup = 100, .cpus = {0, 1}};
	int c;

	while ((c = getopt(argc, argv, "s:i:w:c:n:fp:u")) != -1) {
		switch (c) {
		case 's':
			for (char *p = strtok(optarg, ","); p; p = strtok(NULL, ",")) {
				if (o.nsizes == MAX_SIZES)
					usage(argv[0]);
				o.sizes[o.nsizes] = strtoull(p, NULL, 10);
				if (o.sizes[o.nsizes++] == 0)
					usage(argv[0]);
			}
			break;
		case 'i':
			o.iters = atoi(optarg);
			break;
		case 'w':
			o.warmup = atoi(optarg);
			break;
		case 'c':
			if (sscanf(optarg, "%d,%d", &o.cpus[0], &o.cpus[1]) != 2)
				usage(argv[0]);
			break;
		case 'f':
			o.fresh = 1;
			break;
		case 'n':
			o.window = atoi(optarg);
			if (o.window < 1 || o.window > MAX_WINDOW)
				usage(argv[0]);
			break;
		case 'p':
			o.probe = optarg;
			break;
		case 'u':
			o.local = 1;
			break;
		default:
			usage(argv[0]);
		}
	}
	if (o.nsizes == 0 || o.iters < 1 || o.warmup < 0 || optind != argc)
		usage(argv[0]);
	return o;
}

static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		die("sched_setaffinity");
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// ticks is a clock that costs little beside a round trip of 100 ns. Its unit is
// whatever ns_per_tick says.
static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return clock_ns();
#endif
}

static double ns_per_tick(void)
{
#if defined(__x86_64__)
	uint64_t c0 = clock_ns(), t0 = ticks(), c1, t1;

	do {
		c1 = clock_ns();
		t1 = ticks();
	} while (c1 - c0 < 20000000u);
	return (double)(c1 - c0) / (double)(t1 - t0);
#else
	return 1;
#endif
}

// tick_cost is the least that two readings of the clock in a row are apart: what timing adds to
// every sample. Ours subtract it, too.
__attribute__((unused)) static uint64_t tick_cost(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 10000; i++) {
		uint64_t before = ticks(), apart = ticks() - before;
		if (apart < least)
			least = apart;
	}
	return least;
}

// apart is the time from before to after, less what the clock cost.
__attribute__((unused)) static inline uint64_t apart(uint64_t before, uint64_t after, uint64_t cost)
{
	return after - before > cost ? after - before - cost : 1;
}

static inline void relax(void)
{
#if defined(__x86_64__)
	_mm_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void *buffer(size_t size)
{
	void *p;

	if (posix_memalign(&p, 4096, size) != 0)
		die("posix_memalign");
	memset(p, 1, size);
	return p;
}

// fill and check write and verify the pattern of the untimed first round trip:
// what is timed afterwards does transport its bytes.
static void fill(unsigned char *p, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (unsigned char)(i * 31 + i / 257 + seed);
}

static void check(const unsigned char *p, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		if (p[i] != (unsigned char)(i * 31 + i / 257 + seed)) {
			fprintf(stderr, "byte %zu of %zu arrived wrong\n", i, size);
			exit(1);
		}
}

// A transport sends and receives whole messages of n bytes, and dies if it cannot.
struct transport {
	void (*send)(void *self, const void *p, size_t n);
	void (*recv)(void *self, void *p, size_t n);
	void *self;
	// A whole window from, or into, one buffer. NULL: one message after the other.
	void (*send_all)(void *self, const void *p, size_t n, int window);
	void (*recv_all)(void *self, void *p, size_t n, int window);
};

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

// What the probe writes: each side its own line.
struct lines {
	_Alignas(128) _Atomic uint32_t ping; // written by rank 0, read by rank 1
	_Alignas(128) _Atomic uint32_t pong; // written by rank 1, read by rank 0
};

#define PROBE_ROUNDS 1000

// shared_lines maps the lines of two processes: fresh memory that a fork will
// share, or the file of -p.
__attribute__((unused)) static struct lines *shared_lines(const char *file)
{
	int fd = -1, flags = MAP_SHARED | MAP_ANONYMOUS;
	void *p;

	if (file) {
		fd = open(file, O_RDWR | O_CREAT, 0600);
		if (fd < 0 || ftruncate(fd, sizeof(struct lines)) != 0)
			die(file);
		flags = MAP_SHARED;
	}
	p = mmap(NULL, sizeof(struct lines), PROT_READ | PROT_WRITE, flags, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	if (fd >= 0)
		close(fd);
	return p;
}

static inline void await(_Atomic uint32_t *word, uint32_t value)
{
	while (atomic_load_explicit(word, memory_order_acquire) != value)
		relax();
}

// probe_turns hands the lines back and forth n times, from where the last call left
// them; rank 0 notes its ticks if sample is not NULL.
static void probe_turns(struct lines *l, int rank, int n, uint64_t *sample)
{
	uint32_t at = atomic_load(rank == 0 ? &l->ping : &l->pong);

	for (int i = 0; i < n; i++) {
		at++;
		if (rank == 0) {
			uint64_t before = ticks();
			atomic_store_explicit(&l->ping, at, memory_order_release);
			await(&l->pong, at);
			if (sample)
				sample[i] = ticks() - before;
		} else {
			await(&l->ping, at);
			atomic_store_explicit(&l->pong, at, memory_order_release);
		}
	}
}

// look runs the probe on both sides: the median on rank 0, in ns one way, 0 if there
// is no probe.
static double look(struct lines *l, int rank, double ns)
{
	static uint64_t sample[PROBE_ROUNDS];

	if (!l)
		return 0;
	probe_turns(l, rank, PROBE_ROUNDS, sample);
	if (rank != 0)
		return 0;
	qsort(sample, PROBE_ROUNDS, sizeof *sample, ascending);
	return (double)sample[PROBE_ROUNDS / 2] * ns / 2;
}

// print_row prints the figures of n round trips, whose ticks it sorts. ns is that of a
// tick; with windows of several messages, that of a tick for each two of them.
static void print_row(size_t size, uint64_t *sample, int n, double ns, const double probe[2], int first)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += (double)sample[i];
	qsort(sample, (size_t)n, sizeof *sample, ascending);
	printf("%s{\"size\":%zu,\"min_ns\":%.1f,\"median_ns\":%.1f,\"p99_ns\":%.1f,\"mean_ns\":%.1f,\"iters\":%d",
	       first ? "" : ",", size, (double)sample[0] * ns / 2, (double)sample[n / 2] * ns / 2,
	       (double)sample[(int)((double)(n - 1) * 0.99)] * ns / 2, sum / n * ns / 2, n);
	if (probe[0] > 0)
		printf(",\"probe_ns\":%.1f,\"probe_after_ns\":%.1f", probe[0], probe[1]);
	printf("}");
}

// renew writes the next message where it is to be written anew, and has rank 0 ask and wait until
// rank 1 has done so, too, and is about to receive. Unasked, what rank 1 says would come right behind
// the answer, whose receipt is timed.
static inline void renew(struct options o, int rank, struct transport t, unsigned char *out, unsigned char *in, size_t n, int turn)
{
	if (!o.fresh)
		return;
	memset(out, turn % 251, n);
	if (rank == 0) {
		t.send(t.self, out, 1);
		t.recv(t.self, in, 1);
	} else {
		t.recv(t.self, in, 1);
		t.send(t.self, out, 1);
	}
}

// review reads what has come of a message that was written anew.
static inline void review(struct options o, const unsigned char *in, size_t n, int turn)
{
	if (o.fresh && (in[0] != turn % 251 || memcmp(in, in + 1, n - 1) != 0)) {
		fprintf(stderr, "message %d of %zu bytes arrived wrong\n", turn, n);
		exit(1);
	}
}

// lead_once is rank 0's part of one sample: a message and its answer, or a window and an
// answer of one byte.
static inline void lead_once(struct options o, struct transport t, unsigned char *out, unsigned char *in, size_t n)
{
	if (o.window == 0) {
		t.send(t.self, out, n);
		t.recv(t.self, in, n);
		return;
	}
	if (t.send_all)
		t.send_all(t.self, out, n, o.window);
	else
		for (int i = 0; i < o.window; i++)
			t.send(t.self, out, n);
	t.recv(t.self, in, 1);
}

// follow_once is rank 1's.
static inline void follow_once(struct options o, struct transport t, unsigned char *out, unsigned char *in, size_t n)
{
	if (o.window == 0) {
		t.recv(t.self, in, n);
		t.send(t.self, out, n);
		return;
	}
	if (t.recv_all)
		t.recv_all(t.self, in, n, o.window);
	else
		for (int i = 0; i < o.window; i++)
			t.recv(t.self, in, n);
	t.send(t.self, out, 1);
}

// pingpong runs one side over t: rank 0 sends first, keeps time and prints. l may be
// NULL: no probe.
__attribute__((unused)) static void pingpong(struct options o, int rank, struct transport t, struct lines *l)
{
	size_t largest = 1;
	uint64_t *sample = buffer(sizeof *sample * (size_t)o.iters);
	double ns = rank == 0 ? ns_per_tick() : 0;
	uint64_t cost = tick_cost();
	double probe[2];
	unsigned char *out, *in;

	if (o.cpus[0] == o.cpus[1])
		l = NULL;
	for (int k = 0; k < o.nsizes; k++)
		if (o.sizes[k] > largest)
			largest = o.sizes[k];
	out = buffer(largest);
	in = buffer(largest);
	if (rank == 0)
		printf("{\"rows\":[");
	for (int k = 0; k < o.nsizes; k++) {
		size_t n = o.sizes[k];

		fill(out, n, (unsigned)rank + 7);
		if (rank == 0) {
			t.send(t.self, out, n);
			t.recv(t.self, in, n);
			check(in, n, 1 + 7);
			for (int i = 0; i < o.warmup; i++) {
				renew(o, rank, t, out, in, n, i);
				lead_once(o, t, out, in, n);
				review(o, in, o.window ? 1 : n, i);
			}
			probe[0] = look(l, rank, ns);
			uint64_t before = ticks();
			for (int i = 0; i < o.iters; i++) {
				if (o.fresh) {
					renew(o, rank, t, out, in, n, o.warmup + i);
					before = ticks();
				}
				lead_once(o, t, out, in, n);
				uint64_t now = ticks();
				sample[i] = apart(before, now, cost);
				before = now;
				review(o, in, o.window ? 1 : n, o.warmup + i);
			}
			probe[1] = look(l, rank, ns);
			print_row(n, sample, o.iters, o.window ? ns * 2 / o.window : ns, probe, k == 0);
		} else {
			t.recv(t.self, in, n);
			check(in, n, 0 + 7);
			t.send(t.self, out, n);
			for (int i = 0; i < o.warmup + o.iters; i++) {
				if (i == o.warmup)
					look(l, rank, 0);
				renew(o, rank, t, out, in, n, i);
				follow_once(o, t, out, in, n);
				review(o, in, n, i);
			}
			look(l, rank, 0);
		}
	}
	if (rank == 0)
		printf("]}\n");
	fflush(stdout);
	free(sample);
	free(out);
	free(in);
}

// second_process forks: it returns 0 in the first process and 1 in the second,
// which dies with the first, each bound to its CPU.
__attribute__((unused)) static int second_process(struct options o)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child > 0) {
		bind_to(o.cpus[0]);
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	bind_to(o.cpus[1]);
	return 1;
}

#endif
