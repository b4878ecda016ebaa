//go:build ofi

// The provider shm guards what processes share by pthread_spin_lock. A process that is killed while it holds its own lock, or
// that of a peer, would leave it closed for ever, and each process that calls the provider would spin there. So this
// program has these functions itself, in the place of those of the C library: a lock is the number of the process that holds
// it, and a waiter takes it over from a process that has ended. All that share such a lock are programs with this driver, in
// one name space of processes (kin_linux.go).
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

// How often a waiter tries before it looks whether the holder lives: some milliseconds.
#define LOOK (1 << 16)

static int own(void) {
	static int pid; // getpid is a system call
	int p = __atomic_load_n(&pid, __ATOMIC_RELAXED);
	if (p == 0)
		__atomic_store_n(&pid, p = getpid(), __ATOMIC_RELAXED);
	return p;
}

// ended says whether a process has ended, whether its parent has waited for it or not.
static int ended(int pid) {
	int was = errno, fd = (int)syscall(SYS_pidfd_open, pid, 0), gone = fd < 0 && errno == ESRCH;
	if (fd >= 0) {
		struct pollfd p = {fd, POLLIN, 0};
		gone = poll(&p, 1, 0) == 1;
		close(fd);
	}
	errno = was;
	return gone;
}

static int take(pthread_spinlock_t *l, int from) {
	return __atomic_compare_exchange_n((int *)l, &from, own(), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

int pthread_spin_init(pthread_spinlock_t *l, int shared) {
	(void)shared;
	__atomic_store_n((int *)l, 0, __ATOMIC_RELEASE);
	return 0;
}

int pthread_spin_destroy(pthread_spinlock_t *l) {
	(void)l;
	return 0;
}

int pthread_spin_trylock(pthread_spinlock_t *l) { return take(l, 0) ? 0 : EBUSY; }

int pthread_spin_lock(pthread_spinlock_t *l) {
	for (unsigned n = 1; !take(l, 0); n++) {
		int holder;
		while ((holder = __atomic_load_n((int *)l, __ATOMIC_RELAXED)) != 0 && n++ % LOOK != 0) {
#if defined __x86_64__
			__builtin_ia32_pause();
#elif defined __aarch64__
			__asm__ volatile("yield");
#endif
		}
		if (holder != 0 && holder != own() && ended(holder) && take(l, holder))
			return 0;
		if (holder != 0)
			sched_yield();
	}
	return 0;
}

int pthread_spin_unlock(pthread_spinlock_t *l) {
	__atomic_store_n((int *)l, 0, __ATOMIC_RELEASE);
	return 0;
}
