// Ping-pong through shared memory by two processes that give the CPU away (sched_yield)
// while they wait. On one CPU (-c 0,0) that is the least that two processes can do without
// sleeping: one switch of the kernel's a message.
#include "peer.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

// A cell holds a part of a message. The sender writes the word when the part is there, the
// receiver clears it when it has taken it.
struct cell {
	_Atomic uint32_t bytes; // of the part; 0: empty
	char part[4092];
};

struct cells {
	struct cell *out, *in;
};

static void cell_send(void *self, const void *p, size_t n)
{
	struct cell *c = ((struct cells *)self)->out;
	const char *at = p;

	while (n > 0) {
		size_t k = n < sizeof c->part ? n : sizeof c->part;

		while (atomic_load_explicit(&c->bytes, memory_order_acquire) != 0)
			sched_yield();
		memcpy(c->part, at, k);
		atomic_store_explicit(&c->bytes, (uint32_t)k, memory_order_release);
		at += k;
		n -= k;
	}
}

static void cell_recv(void *self, void *p, size_t n)
{
	struct cell *c = ((struct cells *)self)->in;
	char *at = p;

	while (n > 0) {
		uint32_t k;

		while ((k = atomic_load_explicit(&c->bytes, memory_order_acquire)) == 0)
			sched_yield();
		memcpy(at, c->part, k);
		atomic_store_explicit(&c->bytes, 0, memory_order_release);
		at += k;
		n -= k;
	}
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	struct lines *lines;
	struct cell *shared;
	struct cells mine;
	int rank, status = 0;

	shared = mmap(NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	lines = shared_lines(NULL);
	rank = second_process(o);
	mine = (struct cells){.out = &shared[rank], .in = &shared[1 - rank]};
	pingpong(o, rank, (struct transport){.send = cell_send, .recv = cell_recv, .self = &mine}, lines);
	if (rank == 0 && (wait(&status) < 0 || status != 0))
		return 1;
	return 0;
}
