/* The functions of MPI's binary interface. Those that need the engine call Go (they cross); C answers the others here.
 * This is the one file that is compiled; it includes the others:
 *
 *	front.c       ranks, sizes, statuses, the numbers of handles
 *	messages.h    PMPI_Send, Recv, Isend, Irecv, Wait, Test and their like, most of them made by the macros SEND, ISEND, RECV and IRECV
 *	moves.h       a short message under the lock of its gate
 *	slips.h       the receives that MPI_Irecv has begun
 *	lane.h        the layout of Go's memory that these two read and write
 *	call.h        the layout of a call into Go, and of what Go tells C
 *	load.h        loads the library that has the engine, and calls it
 *	calls_gen.h   made of table.txt: the functions that only cross, cross_NAME for the others, and MPI_NAME, weak, for each PMPI_NAME */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The library exports the functions of the header and nothing else: the rest is compiled with -fvisibility=hidden. */
#pragma GCC visibility push(default)
#include "../include/mpi.h"
#pragma GCC visibility pop
#include "call.h"
#include "lane.h"

static struct pm2_shared shared = {.lane = sizeof(struct pm2_lane)};

#include "load.h"
#include "moves.h"
#include "slips.h"

typedef void handler_function(void *object, int *code, ...);

/* call_handler calls the program's error handler, if Go has named one. The handler need not return. */
static __attribute__((noinline)) int call_handler(struct pm2_call *c, int code)
{
	if (c->handler != 0) {
		uintptr_t object = (uintptr_t)c->object;
		int given = code;
		((handler_function *)c->handler)(&object, &given);
	}
	return code;
}

/* cross makes a call in Go and calls the error handler if it fails. */
static inline int cross(struct pm2_call *c)
{
	int code = enter(c, &shared);
	return __builtin_expect(code != MPI_SUCCESS, 0) ? call_handler(c, code) : code;
}

/* CROSS is the body of a function that only crosses: number and is_wide go into pm2_call, words sets the
 * arguments, each by WORD. The other words stay undefined: to clear them would take a tenth of a crossing. */
#define CROSS(number, is_wide, words) \
	{ \
		struct pm2_call c; \
		c.function = number, c.wide = is_wide, c.object = 0, c.handler = 0; \
		words \
		return cross(&c); \
	}
#define WORD(place, argument) c.word[place] = (intptr_t)argument;

/* WEAK makes MPI_NAME a weak alias of PMPI_NAME: a tool may define MPI_NAME itself. */
#define WEAK(name) extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)));

#include "calls_gen.h"

#undef CROSS
#undef WORD
#undef WEAK

/* number is the value of a handle. */
#define NUMBER(handle) ((uintptr_t)(void *)(handle))

/* known reports whether C knows a communicator, and copies its entry. Go may replace the entry meanwhile
 * (cachedComm.publish): it sets handle to 0, writes the rest, and sets handle to that of another communicator.
 * Handles are never used again, so if handle is the same before and after the copy, the copy belongs to it. */
static int known(MPI_Comm comm, struct pm2_comm *found)
{
	uintptr_t handle = NUMBER(comm);
	struct pm2_comm *c = &shared.comms[handle & (PM2_COMMS - 1)];
	if (handle == NUMBER(MPI_COMM_WORLD))
		c = &shared.world;
	if (__atomic_load_n(&c->handle, __ATOMIC_ACQUIRE) != handle)
		return 0;
	found->rank = __atomic_load_n(&c->rank, __ATOMIC_RELAXED);
	found->size = __atomic_load_n(&c->size, __ATOMIC_RELAXED);
	found->ways = __atomic_load_n(&c->ways, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&c->handle, __ATOMIC_RELAXED) == handle;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
	struct pm2_comm c;
	if (rank == NULL || !known(comm, &c))
		return cross_Comm_rank(comm, rank);
	*rank = c.rank;
	return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
	struct pm2_comm c;
	if (size == NULL || !known(comm, &c))
		return cross_Comm_size(comm, size);
	*size = c.size;
	return MPI_SUCCESS;
}

static int read_flag(int32_t *which, int *flag)
{
	if (flag == NULL)
		return MPI_ERR_ARG;
	*flag = __atomic_load_n(which, __ATOMIC_ACQUIRE);
	return MPI_SUCCESS;
}

int PMPI_Initialized(int *flag) { return read_flag(&shared.initialized, flag); }

int PMPI_Finalized(int *flag) { return read_flag(&shared.finalized, flag); }

int PMPI_Get_version(int *version, int *subversion)
{
	if (version == NULL || subversion == NULL)
		return MPI_ERR_ARG;
	*version = MPI_VERSION;
	*subversion = MPI_SUBVERSION;
	return MPI_SUCCESS;
}

int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
	if (abi_major == NULL || abi_minor == NULL)
		return MPI_ERR_ARG;
	*abi_major = MPI_ABI_VERSION;
	*abi_minor = MPI_ABI_SUBVERSION;
	return MPI_SUCCESS;
}

int PMPI_Pcontrol(const int level, ...)
{
	(void)level;
	return MPI_SUCCESS;
}

double PMPI_Wtime(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double PMPI_Wtick(void) { return 1e-9; }

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) { return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp); }

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) { return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2); }

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
	if (address == NULL)
		return MPI_ERR_ARG;
	*address = (MPI_Aint)location;
	return MPI_SUCCESS;
}

/* MPI_internal of a status holds the bytes of the message in its first two ints, and in the third whether the
 * request was canceled (cStatus in call_unsafe.go). */
static MPI_Count bytes_of(const MPI_Status *status)
{
	MPI_Count n;
	memcpy(&n, status->MPI_internal, sizeof n);
	return n;
}

/* size_of returns the bytes of an element of a predefined datatype with a handle from 0x200 to 0x23f; 0 for
 * another one. */
static int size_of(MPI_Datatype datatype)
{
	static const unsigned char sizes[0x40] = {
		[0x01] = sizeof(MPI_Aint), [0x02] = sizeof(MPI_Count), [0x03] = sizeof(MPI_Offset), [0x07] = 1,
		[0x08] = sizeof(short), [0x09] = sizeof(int), [0x0a] = sizeof(long), [0x0b] = sizeof(long long), [0x0c] = sizeof(short), [0x0d] = sizeof(int), [0x0e] = sizeof(long), [0x0f] = sizeof(long long),
		[0x10] = sizeof(float), [0x12] = 2 * sizeof(float), [0x13] = 2 * sizeof(float), [0x14] = sizeof(double), [0x16] = 2 * sizeof(double), [0x17] = 2 * sizeof(double),
		[0x18] = 4, [0x19] = 4, [0x1a] = 4, [0x1b] = 8, [0x1c] = 8, [0x1d] = 16, [0x1e] = 1,
		[0x20] = sizeof(long double), [0x24] = 2 * sizeof(long double), [0x25] = 2 * sizeof(long double),
		[0x28] = sizeof(float) + sizeof(int), [0x29] = sizeof(double) + sizeof(int), [0x2a] = sizeof(long) + sizeof(int), [0x2b] = 2 * sizeof(int), [0x2c] = sizeof(short) + sizeof(int), [0x2d] = sizeof(long double) + sizeof(int),
		[0x30] = 8, [0x31] = 16, [0x32] = 8,
		[0x38] = sizeof(_Bool), [0x39] = sizeof(_Bool), [0x3c] = sizeof(wchar_t),
	};
	uintptr_t h = NUMBER(datatype);
	if (h >= 0x200 && h < 0x240)
		return sizes[h - 0x200];
	return 0;
}

/* fixed returns the bytes of an element of any predefined datatype that C knows; 0 for another one. From 0x240 on
 * the handle has the logarithm of the size in bits 3 to 5. */
static int fixed(MPI_Datatype datatype)
{
	uintptr_t h = NUMBER(datatype);
	switch (h) {
	case 0x240: case 0x241: case 0x243: case 0x244: case 0x245: case 0x247: case 0x248: case 0x249: case 0x250: case 0x251: case 0x258: case 0x259:
		return 1 << ((h >> 3) & 7);
	}
	return size_of(datatype);
}

#define TYPE_SIZE(name, count_type) \
	int PMPI_##name(MPI_Datatype datatype, count_type *size) \
	{ \
		int n = fixed(datatype); \
		if (n == 0 || size == NULL) \
			return cross_##name(datatype, size); \
		*size = n; \
		return MPI_SUCCESS; \
	}

TYPE_SIZE(Type_size, int)
TYPE_SIZE(Type_size_c, MPI_Count)

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
	return PMPI_Type_size_c(datatype, size);
}

/* A count that count_type cannot hold becomes MPI_UNDEFINED. */
#define GET_COUNT(name, count_type) \
	int PMPI_##name(const MPI_Status *status, MPI_Datatype datatype, count_type *count) \
	{ \
		MPI_Count n = fixed(datatype), bytes; \
		if (n == 0 || status == NULL || count == NULL) \
			return cross_##name(status, datatype, count); \
		bytes = bytes_of(status); \
		*count = bytes % n != 0 || (count_type)(bytes / n) != bytes / n ? MPI_UNDEFINED : (count_type)(bytes / n); \
		return MPI_SUCCESS; \
	}

GET_COUNT(Get_count, int)
GET_COUNT(Get_count_c, MPI_Count)

#define STATUS_FIELD(name, field) \
	int PMPI_Status_get_##name(const MPI_Status *status, int *value) \
	{ \
		if (status == NULL || value == NULL) \
			return MPI_ERR_ARG; \
		*value = status->field; \
		return MPI_SUCCESS; \
	} \
	int PMPI_Status_set_##name(MPI_Status *status, int value) \
	{ \
		if (status == NULL) \
			return MPI_ERR_ARG; \
		status->field = value; \
		return MPI_SUCCESS; \
	}

STATUS_FIELD(error, MPI_ERROR)
STATUS_FIELD(source, MPI_SOURCE)
STATUS_FIELD(tag, MPI_TAG)

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
	if (status == NULL)
		return MPI_ERR_ARG;
	status->MPI_internal[2] = flag != 0;
	return MPI_SUCCESS;
}

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
	if (status == NULL || flag == NULL)
		return MPI_ERR_ARG;
	*flag = status->MPI_internal[2] != 0;
	return MPI_SUCCESS;
}

/* handle_of returns the handle whose low 31 bits are a number, as Fortran has it; 0 if there is none. A predefined
 * handle is that number. */
static uintptr_t handle_of(int number)
{
	struct pm2_call c = {.function = PM2_HANDLE_OF, .word = {number}};
	if (number >= 0 && number < 0x1000)
		return (uintptr_t)number;
	return enter(&c, &shared) == MPI_SUCCESS ? (uintptr_t)c.word[1] : 0;
}

#define CONVERSIONS(kind, type) \
	int PMPI_##kind##_toint(type handle) { return (int)(NUMBER(handle) & 0x7fffffff); } \
	type PMPI_##kind##_fromint(int number) { return (type)(void *)handle_of(number); }

CONVERSIONS(Comm, MPI_Comm)
CONVERSIONS(Errhandler, MPI_Errhandler)
CONVERSIONS(File, MPI_File)
CONVERSIONS(Group, MPI_Group)
CONVERSIONS(Info, MPI_Info)
CONVERSIONS(Message, MPI_Message)
CONVERSIONS(Op, MPI_Op)
CONVERSIONS(Request, MPI_Request)
CONVERSIONS(Session, MPI_Session)
CONVERSIONS(Type, MPI_Datatype)
CONVERSIONS(Win, MPI_Win)

#include "messages.h"
