/* The program's handlers for signals, set before MPI_Init or after it, work for what happens in its own code; the library's own signals reach none of them. */
#include "check.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t urgent, pipes, users, alarms;
static sigjmp_buf back;

static void count(int s)
{
	urgent += s == SIGURG, pipes += s == SIGPIPE, users += s == SIGUSR1, alarms += s == SIGALRM;
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

int main(int argc, char **argv)
{
	struct itimerval t = {{0, 2000}, {0, 2000}};
	int i, x = 1, y, rounds = 300;
	set(SIGURG, count, 0);
	set(SIGPIPE, count, 0);
	set(SIGUSR1, count, SA_ONSTACK);
	set(SIGSEGV, fault, SA_ONSTACK);
	OK(MPI_Init(&argc, &argv));
	faults(); /* by the handler from before */
	set(SIGSEGV, fault, 0);
	faults();
	set(SIGALRM, count, SA_RESTART);
	CHECK(setitimer(ITIMER_REAL, &t, NULL) == 0);
	for (i = 0; i < rounds; i++) {
		OK(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		CHECK(y == size_of(MPI_COMM_WORLD));
		usleep(100);
		if (i % 100 == 0)
			raise(SIGUSR1);
	}
	t.it_value.tv_usec = t.it_interval.tv_usec = 0;
	CHECK(setitimer(ITIMER_REAL, &t, NULL) == 0);
	CHECK(users == rounds / 100 && alarms > 0 && urgent == 0 && pipes == 0);
	return well();
}
