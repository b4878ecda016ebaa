/* The program's handlers for signals, set before MPI_Init or after it, with a stack of their own or without, work for what happens in its own code, and interrupt MPI where they find it; the library's own signals reach none of them, and the library's threads take none of the program's. */
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t urgent, pipes, users, alarms, profiles, others;
static sigjmp_buf back;
static __thread int mine; /* a thread of the program's */

/* count needs some room on the stack that it runs on. */
static void count(int s)
{
	volatile char room[16384];
	unsigned i;
	for (i = 0; i < sizeof room; i += 64)
		room[i] = (char)s;
	urgent += s == SIGURG, pipes += s == SIGPIPE, users += s == SIGUSR1, alarms += s == SIGALRM, profiles += s == SIGPROF;
	others += s != SIGPROF && !mine;
}

static void fault(int s)
{
	(void)s;
	siglongjmp(back, 1);
}

static void set(int s, void (*f)(int), int flags)
{
	struct sigaction a = {.sa_handler = f, .sa_flags = flags};
	sigemptyset(&a.sa_mask);
	CHECK(sigaction(s, &a, NULL) == 0);
}

static void faults(void)
{
	volatile int done = 0;
	if (sigsetjmp(back, 1) == 0)
		*(volatile int *)16 = 1;
	else
		done = 1;
	CHECK(done);
}

/* exchange calls what a program calls most; its neighbor is another thread of such, or itself. The thread begins with the
 * mask of its creator, in which the signals are blocked that it counts. */
static void *exchange(void *counted)
{
	char sent[20000] = {1}, got[20000];
	int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), i;
	mine = 1;
	CHECK(pthread_sigmask(SIG_UNBLOCK, counted, NULL) == 0);
	for (i = 0; i < 300; i++)
		OK(MPI_Sendrecv(sent, sizeof sent, MPI_CHAR, (rank + 1) % size, 0, got, sizeof got, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	return NULL;
}

int main(int argc, char **argv)
{
	struct itimerval t = {{0, 1000}, {0, 1000}};
	pthread_t thread;
	sigset_t counted;
	int i, x = 1, y, rounds = 300;
	mine = 1;
	set(SIGPROF, count, SA_RESTART);
	set(SIGURG, count, 0);
	set(SIGPIPE, count, 0);
	set(SIGUSR1, count, SA_ONSTACK);
	set(SIGSEGV, fault, SA_ONSTACK);
	OK(MPI_Init(&argc, &argv));
	faults(); /* by the handler from before */
	set(SIGSEGV, fault, 0);
	faults();
	set(SIGALRM, count, SA_RESTART);
	CHECK(setitimer(ITIMER_REAL, &t, NULL) == 0 && setitimer(ITIMER_PROF, &t, NULL) == 0);
	sigemptyset(&counted);
	sigaddset(&counted, SIGALRM), sigaddset(&counted, SIGPROF), sigaddset(&counted, SIGUSR1);
	CHECK(pthread_sigmask(SIG_BLOCK, &counted, NULL) == 0 && pthread_create(&thread, NULL, exchange, &counted) == 0);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &counted, NULL) == 0);
	for (i = 0; i < rounds; i++) {
		OK(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		CHECK(y == size_of(MPI_COMM_WORLD));
		usleep(100);
		if (i % 100 == 0)
			kill(getpid(), SIGUSR1);
	}
	CHECK(pthread_join(thread, NULL) == 0);
	t.it_value.tv_usec = t.it_interval.tv_usec = 0;
	CHECK(setitimer(ITIMER_REAL, &t, NULL) == 0 && setitimer(ITIMER_PROF, &t, NULL) == 0);
	if (!(users > 0 && alarms > 0 && others == 0))
		fprintf(stderr, "%d users, %d alarms, %d profiles, %d on threads of the library\n", users, alarms, profiles, others);
	CHECK(users > 0 && alarms > 0 && urgent == 0 && pipes == 0 && others == 0);
	return well();
}
