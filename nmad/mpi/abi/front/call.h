/* The memory that C and Go share: a call into Go, and what Go keeps up to date for C. call_unsafe.go has the same
 * layouts, which layout_test.go compares. */

#ifndef PM2_CALL_H
#define PM2_CALL_H

#include <stdint.h>

/* pm2_call is a call of a function of MPI, in the stack of the caller. Go reads it, and writes object and handler. */
struct pm2_call {
	int32_t function; /* its number in table.txt, from 0 on; below 0: see PM2_HANDLE_OF */
	int32_t wide;     /* 1: the form whose name ends in _c */
	intptr_t object;  /* handle of the object whose error handler hears of the call's error; 0: none */
	intptr_t handler; /* the program's error handler, to be called with the address of object; 0: none */
	intptr_t word[16]; /* the arguments */
};

/* pm2_comm is a communicator whose rank and size C answers, and for which it moves messages. Go may replace it while C
 * reads it: see known in front.c. */
struct pm2_comm {
	uintptr_t handle; /* 0: none */
	int32_t rank, size;
	struct pm2_way *ways; /* by rank, see lane.h; NULL: C moves no messages */
};

/* Requests of C that are no functions of MPI, in pm2_call.function; enter.go has them, too:
 *
 *	HANDLE_OF   word[1] becomes the handle whose low 31 bits are word[0]
 *	TEND        Go does what other threads have left at the lane word[0], and wakes the peer
 *	WATCH       Go looks now and then whether the slips of the lane word[0] wait for long */
enum { PM2_HANDLE_OF = -1, PM2_TEND = -2, PM2_START_SLIP_TIMER = -3 };

/* The handle of the request that all sends share that were complete at once. */
#define PM2_SENT 0x54000000

#define PM2_COMMS 1024 /* a power of two */
#define PM2_SLIPS 4096

/* Handles of slips: these bits, the slip's place in the lowest 20, and from bit 32 on how often it was used. */
#define PM2_SLIP 0x7c000000u

/* pm2_shared is what Go tells C from MPI_Init on. */
struct pm2_shared {
	int32_t initialized, finalized; /* as MPI_Initialized and MPI_Finalized say */
	uint64_t lane; /* bytes of struct pm2_lane. Go gives no ways if its own layout has another size */
	struct pm2_comm world;
	struct pm2_comm comms[PM2_COMMS]; /* by the low bits of the handle */
	struct pm2_slip *slips[PM2_SLIPS]; /* by their places, see lane.h; NULL: there is none */
};

#endif
