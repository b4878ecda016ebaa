// Ping-pong over two blocking pipes: every message wakes the other process through
// the kernel. On one CPU (-c 0,0) there is nothing better to compare with.
#include "peer.h"

#include <sys/wait.h>

struct ends {
	int in, out;
};

static void pipe_send(void *self, const void *p, size_t n)
{
	struct ends *e = self;
	const char *at = p;

	while (n > 0) {
		ssize_t k = write(e->out, at, n);
		if (k > 0) {
			at += k;
			n -= (size_t)k;
		} else if (errno != EINTR) {
			die("write");
		}
	}
}

static void pipe_recv(void *self, void *p, size_t n)
{
	struct ends *e = self;
	char *at = p;

	while (n > 0) {
		ssize_t k = read(e->in, at, n);
		if (k > 0) {
			at += k;
			n -= (size_t)k;
		} else if (k == 0) {
			errno = EPIPE;
			die("read");
		} else if (errno != EINTR) {
			die("read");
		}
	}
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	struct lines *lines;
	int there[2], back[2], rank, status = 0;
	struct ends e;

	if (pipe(there) != 0 || pipe(back) != 0)
		die("pipe");
	lines = shared_lines(NULL);
	rank = second_process(o);
	if (rank == 0) {
		e = (struct ends){.in = back[0], .out = there[1]};
		close(back[1]);
		close(there[0]);
	} else {
		e = (struct ends){.in = there[0], .out = back[1]};
		close(there[1]);
		close(back[0]);
	}
	pingpong(o, rank, (struct transport){.send = pipe_send, .recv = pipe_recv, .self = &e}, lines);
	if (rank == 0 && (wait(&status) < 0 || status != 0))
		return 1;
	return 0;
}
