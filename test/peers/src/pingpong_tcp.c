// Ping-pong over one non-blocking TCP connection on loopback, or, with -u, over a pair
// of Unix stream sockets: both sides repeat write and read until the bytes have gone
// and come. What the kernel's path costs. The congestion control is
// that of package tcp, reno or cubic.
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>

static void sock_send(void *self, const void *p, size_t n)
{
	int fd = *(int *)self;
	const char *at = p;

	while (n > 0) {
		ssize_t k = write(fd, at, n);
		if (k > 0) {
			at += k;
			n -= (size_t)k;
		} else if (k < 0 && errno != EAGAIN && errno != EINTR) {
			die("write");
		}
	}
}

static void sock_recv(void *self, void *p, size_t n)
{
	int fd = *(int *)self;
	char *at = p;

	while (n > 0) {
		ssize_t k = read(fd, at, n);
		if (k > 0) {
			at += k;
			n -= (size_t)k;
		} else if (k == 0) {
			errno = EPIPE;
			die("read");
		} else if (errno != EAGAIN && errno != EINTR) {
			die("read");
		}
	}
}

// tcp_connect connects the two processes, of which the first one has listened.
static int tcp_connect(int rank, int listener, struct sockaddr_in *a)
{
	int fd, one = 1;

	if (rank == 0) {
		fd = accept(listener, NULL, NULL);
		if (fd < 0)
			die("accept");
	} else {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (fd < 0 || connect(fd, (struct sockaddr *)a, sizeof *a) != 0)
			die("connect");
	}
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
		die("TCP_NODELAY");
	// What paces (bbr) halves the throughput where nothing can be congested.
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) != 0 && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) != 0)
		die("TCP_CONGESTION");
	return fd;
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	struct lines *lines;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	int listener = socket(AF_INET, SOCK_STREAM, 0), pair[2], fd, rank, status = 0;

	if (listener < 0 || bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&a, &len) != 0)
		die("listen on loopback");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		die("socketpair");
	lines = shared_lines(NULL);
	rank = second_process(o);
	if (o.local) {
		fd = pair[rank];
		close(pair[1 - rank]);
	} else {
		fd = tcp_connect(rank, listener, &a);
	}
	if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
		die("O_NONBLOCK");
	pingpong(o, rank, (struct transport){.send = sock_send, .recv = sock_recv, .self = &fd}, lines);
	if (rank == 0 && (wait(&status) < 0 || status != 0))
		return 1;
	return 0;
}
