/* A program that is not linked to the library: it loads it for itself alone, by a name that means another file later, as extension modules of scripting languages do, and closes it while the engine is at work. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *library;

#define CHECK(x) \
	do { \
		if (!(x)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x); \
			exit(3); \
		} \
	} while (0)
#define CALL(name) ((__typeof__(&name))found(#name))

static void *found(const char *name)
{
	void *f = dlsym(library, name);
	CHECK(f != NULL);
	return f;
}

/* begin loads the library, and calls it first, in a thread that ends before the others call it. */
static void *begin(void *unused)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	int level;
	CHECK(n > 0);
	path[n] = 0;
	*strrchr(path, '/') = 0;
	CHECK(chdir(path) == 0);
	library = dlopen("./libmpi_abi.so.1", RTLD_NOW | RTLD_LOCAL);
	CHECK(library != NULL && chdir("/") == 0);
	CHECK(dlsym(RTLD_DEFAULT, "MPI_Init") == NULL);
	CHECK(CALL(MPI_Init_thread)(NULL, NULL, MPI_THREAD_SERIALIZED, &level) == MPI_SUCCESS && level >= MPI_THREAD_SERIALIZED);
	return unused;
}

int main(void)
{
	pthread_t t;
	int rank, size, sum;
	char sent[100000] = "x", got[100000];
	MPI_Status status;
	CHECK(pthread_create(&t, NULL, begin, NULL) == 0 && pthread_join(t, NULL) == 0);
	CHECK(CALL(MPI_Comm_rank)(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && CALL(MPI_Comm_size)(MPI_COMM_WORLD, &size) == MPI_SUCCESS);
	CHECK(CALL(MPI_Sendrecv)(sent, sizeof sent, MPI_CHAR, (rank + 1) % size, 5, got, sizeof got, MPI_CHAR, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
	CHECK(strcmp(got, "x") == 0 && status.MPI_SOURCE == (rank + size - 1) % size);
	CHECK(CALL(MPI_Allreduce)(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == size * (size - 1) / 2);
	CHECK(dlclose(library) == 0);
	usleep(10000);
	library = dlopen("libmpi_abi.so.1", RTLD_NOW | RTLD_NOLOAD);
	CHECK(library != NULL);
	CHECK(CALL(MPI_Finalize)() == MPI_SUCCESS);
	if (rank == 0)
		printf("all is well\n");
	return 0;
}
