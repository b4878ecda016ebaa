// How often a message that its sender has just written is copied on its way between two processes
// of one host, and what that costs, writing and reading it included:
//
//	slots   written into the sender's buffer, copied into a ring of 32 slots of 16 KiB, and out of it
//	readv   written into the sender's buffer, fetched from there by process_vm_readv
//	once    written into shared memory, copied out of it by the receiver
//	place   written into shared memory, and read there
//
//	gcc -O2 -o segment_copies segment_copies.c && ./segment_copies [rounds]
//
// Prints, for each size, half a round trip in microseconds, the median, as the four ways take
// it. Either process sends in turn, writes every word of the message anew and adds up
// every word of what it has got; a wrong sum ends the program.
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 32
#define SLOT (16 << 10)
#define MOST (4 << 20)
#define WARM 64 // rounds that do not count: twice through the ring

struct way { // one direction
	_Alignas(128) _Atomic uint64_t sent; // messages
	_Alignas(128) _Atomic uint64_t done; // messages
	_Alignas(128) _Atomic uint64_t freed; // slots
	struct { _Alignas(128) _Atomic uint64_t ready; } word[SLOTS];
	uint64_t address;
	_Alignas(4096) char slots[SLOTS * SLOT];
	_Alignas(4096) char buffer[MOST];
};

static struct way *ways;
static char *out, *in; // of this process
static pid_t peer;
static int me;
static uint64_t pushed[2], pulled[2];

static void copy(void *to, const void *from, size_t n) { // as asm.Copy does it
	if (n < 3 << 10) { memcpy(to, from, n); return; }
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void pause_(void) { __asm__ volatile("pause"); }

static void write_words(char *b, size_t n, uint64_t seed) {
	uint64_t *w = (uint64_t *)b;
	for (size_t i = 0; i < n / 8; i++) w[i] = seed + i;
}

static uint64_t read_words(const char *b, size_t n) {
	uint64_t sum = 0;
	const uint64_t *w = (const uint64_t *)b;
	for (size_t i = 0; i < n / 8; i++) sum += w[i];
	return sum;
}

enum { BY_SLOTS, BY_READV, ONCE, PLACE, WAYS };

static void send_one(int how, size_t n, uint64_t seed) {
	struct way *w = &ways[me];
	char *b = how >= ONCE ? w->buffer : out;
	write_words(b, n, seed);
	w->address = (uint64_t)out;
	if (how == BY_SLOTS) {
		for (size_t at = 0; at < n; at += SLOT) {
			while (pushed[me] - atomic_load(&w->freed) >= SLOTS) pause_();
			size_t part = n - at < SLOT ? n - at : SLOT;
			copy(w->slots + pushed[me] % SLOTS * SLOT, b + at, part);
			pushed[me]++;
			atomic_store(&w->word[(pushed[me] - 1) % SLOTS].ready, pushed[me]);
		}
		return;
	}
	atomic_fetch_add(&w->sent, 1);
	uint64_t want = atomic_load(&w->sent); // the buffer is lent until the other side says so
	if (how == BY_READV) while (atomic_load(&w->done) != want) pause_();
}

static uint64_t messages[2];

static void recv_one(int how, size_t n, uint64_t seed) {
	struct way *w = &ways[1 - me];
	const char *b = in;
	if (how == BY_SLOTS) {
		for (size_t at = 0; at < n; at += SLOT) {
			size_t part = n - at < SLOT ? n - at : SLOT;
			uint64_t k = pulled[me]++;
			while (atomic_load(&w->word[k % SLOTS].ready) != k + 1) pause_();
			memcpy(in + at, w->slots + k % SLOTS * SLOT, part);
			atomic_store(&w->freed, k + 1);
		}
	} else {
		uint64_t want = ++messages[me];
		while (atomic_load(&w->sent) != want) pause_();
		if (how == BY_READV) {
			struct iovec l = {in, n}, r = {(void *)w->address, n};
			if (process_vm_readv(peer, &l, 1, &r, 1, 0) != (ssize_t)n) { perror("process_vm_readv"); exit(1); }
		} else if (how == ONCE) {
			memcpy(in, w->buffer, n);
		} else {
			b = w->buffer;
		}
	}
	uint64_t words = n / 8;
	if (read_words(b, n) != words * seed + words * (words - 1) / 2) { fprintf(stderr, "a message of %zu bytes came damaged\n", n); exit(1); }
	if (how != BY_SLOTS) atomic_store(&w->done, messages[me]);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int less(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 300;
	if (rounds < 1) { fprintf(stderr, "usage: segment_copies [rounds], at least 1\n"); return 2; }
	ways = mmap(0, 2 * sizeof *ways, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ways == MAP_FAILED) { perror("mmap"); return 1; }
	out = aligned_alloc(4096, MOST), in = aligned_alloc(4096, MOST);
	memset(out, 1, MOST), memset(in, 1, MOST), memset(ways[0].buffer, 1, MOST), memset(ways[1].buffer, 1, MOST);
	pid_t parent = getpid(), child = fork();
	if (child < 0) { perror("fork"); return 1; }
	me = child == 0;
	peer = me ? parent : child;
	if (me) prctl(PR_SET_PDEATHSIG, 9);
	prctl(PR_SET_PTRACER, -1L); // where Yama asks for it
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(me, &set);
	if (sched_setaffinity(0, sizeof set, &set)) { perror("bind to processors 0 and 1"); return 1; }
	double *took = malloc(rounds * sizeof *took);
	if (!me) printf("%8s %9s %9s %9s %9s\n", "bytes", "slots", "readv", "once", "place");
	for (size_t n = 4 << 10; n <= MOST; n *= 2) {
		if (!me) printf("%8zu", n);
		for (int how = 0; how < WAYS; how++) {
			for (int i = 0; i < WARM + rounds; i++) {
				uint64_t seed = (uint64_t)i * 7919 + n;
				double began = now();
				if (me) recv_one(how, n, seed), send_one(how, n, seed + 1);
				else send_one(how, n, seed), recv_one(how, n, seed + 1);
				if (i >= WARM) took[i - WARM] = (now() - began) / 2;
			}
			qsort(took, rounds, sizeof *took, less);
			if (!me) printf(" %9.2f", took[rounds / 2]), fflush(stdout);
		}
		if (!me) printf("\n");
	}
	if (!me) waitpid(child, 0, 0);
	return 0;
}
