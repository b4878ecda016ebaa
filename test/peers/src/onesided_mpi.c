// One-sided operations between two MPI ranks, shaped as OSU's tests: a window of MPI_Win_allocate, one access epoch of
// MPI_Win_lock_all, and MPI_Win_flush after each operation.
//
//   onesided_mpi OPERATION SIZE SAMPLES CPU,CPU
//
//   put, get   SIZE bytes, and a flush
//   fop, cas   MPI_Fetch_and_op of the sum, MPI_Compare_and_swap, of 8 bytes, and a flush
//   put-bw     64 puts of SIZE bytes, and one flush: the time of a put
//
// Rank 0 prints the median time of an operation in ns: a sample is BATCH operations, or one of many bytes. Rank 1 waits
// in MPI_Barrier, as OSU's does. onesided.go has ours.
#include "ranks.h"

enum { BATCH = 100, LARGE = 64 << 10, WINDOW = 64 };

static MPI_Win window;
static unsigned char *buffer_of_mine;
static int64_t one = 1, old, count;
static size_t size;

// operate does the operation once. An atomic that goes wrong is seen by its result.
static void operate(char what)
{
	switch (what) {
	case 'p':
		MPI_Put(buffer_of_mine, (int)size, MPI_BYTE, 1, 0, (int)size, MPI_BYTE, window);
		break;
	case 'g':
		MPI_Get(buffer_of_mine, (int)size, MPI_BYTE, 1, 0, (int)size, MPI_BYTE, window);
		break;
	case 'f':
		MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, window);
		break;
	case 'c': {
		int64_t next = count + 1;

		MPI_Compare_and_swap(&next, &count, &old, MPI_INT64_T, 1, 0, window);
		break;
	}
	}
}

// batch_of does n operations, each flushed, or in windows.
static void batch_of(char what, int windows, int n)
{
	for (int i = 0; i < n; i++) {
		operate(what);
		if (windows && (i + 1) % WINDOW != 0 && i + 1 < n)
			continue;
		MPI_Win_flush(1, window);
		if ((what == 'f' || what == 'c') && old != count++) {
			fprintf(stderr, "atomic number %lld has found %lld\n", (long long)count - 1, (long long)old);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 4 ? argv[1] : "";
	int windows = strcmp(what, "put-bw") == 0, samples = argc > 4 ? atoi(argv[3]) : 0, cpus[2], rank, n;
	unsigned char *memory;
	uint64_t *sample;

	size = argc > 4 ? strtoull(argv[2], NULL, 10) : 0;
	if (!(windows || strcmp(what, "put") == 0 || strcmp(what, "get") == 0 || strcmp(what, "fop") == 0 || strcmp(what, "cas") == 0) || size < 1 || samples < 1
	    || sscanf(argv[4], "%d,%d", &cpus[0], &cpus[1]) != 2) {
		fprintf(stderr, "usage: onesided_mpi put|get|fop|cas|put-bw SIZE SAMPLES CPU,CPU\n");
		return 2;
	}
	rank = join_two(&argc, &argv, cpus, MPI_THREAD_SINGLE);
	n = windows ? WINDOW : size > LARGE ? 1 : BATCH;
	MPI_Win_allocate((MPI_Aint)(size < 8 ? 8 : size), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
	memset(memory, 0, size < 8 ? 8 : size);
	buffer_of_mine = buffer(size);
	buffer_of_mine[size - 1] = 77;
	sample = buffer(sizeof *sample * (size_t)samples);
	MPI_Win_lock_all(0, window);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		double ns = ns_per_tick();

		for (int i = 0; i < 1 + samples / 10; i++)
			batch_of(*what, windows, n);
		for (int i = 0; i < samples; i++) {
			uint64_t before = ticks();

			batch_of(*what, windows, n);
			sample[i] = ticks() - before;
		}
		if (*what == 'p') {
			buffer_of_mine[size - 1] = 0;
			MPI_Get(buffer_of_mine, (int)size, MPI_BYTE, 1, 0, (int)size, MPI_BYTE, window);
			MPI_Win_flush(1, window);
			if (buffer_of_mine[size - 1] != 77) {
				fprintf(stderr, "the last byte of %zu has not arrived\n", size);
				MPI_Abort(MPI_COMM_WORLD, 1);
			}
		}
		qsort(sample, (size_t)samples, sizeof *sample, ascending);
		printf("%.1f\n", (double)sample[samples / 2] * ns / n);
	}
	MPI_Win_unlock_all(window);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
