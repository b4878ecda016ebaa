/* How the functions of C reach Go: one call of one function, with what it is called for. */

#ifndef PM2_CALL_H
#define PM2_CALL_H

#include <stdint.h>

/* pm2_call is a call. Go's side (call_unsafe.go) has the same layout. */
struct pm2_call {
	int32_t function; /* number, by table.txt */
	int32_t wide;     /* 1: the form whose name ends in _c */
	intptr_t object;  /* whose error handler is told of an error: a handle; 0: none's */
	intptr_t handler; /* of the program, to be called with the address of object; 0: none */
	intptr_t word[16]; /* the arguments */
};

/* pm2_comm is a communicator whose rank and size C answers, and over whose ways C moves messages. */
struct pm2_comm {
	uintptr_t handle; /* 0: none */
	int32_t rank, size;
	struct pm2_way *ways; /* by rank; NULL: there are none. See lane.h */
};

/* What function may be beside a number of table.txt; enter.go has them, too. */
enum { PM2_HANDLE_OF = -1, PM2_TEND = -2, PM2_WATCH = -3 };

/* The request that all sends share which were over at once: the first place of its table. */
#define PM2_SENT 0x54000000

#define PM2_COMMS 1024 /* a power of two */
#define PM2_SLIPS 4096

/* The low 31 bits of the handle of the slip of a place, which is in the lowest 20. */
#define PM2_SLIP 0x7c000000u

/* pm2_shared is what Go tells C once MPI is there, and keeps up to date; call_unsafe.go has the same layout. */
struct pm2_shared {
	int32_t initialized, finalized; /* as MPI_Initialized and MPI_Finalized say */
	uint64_t lane; /* bytes of struct pm2_lane, as C knows it; Go gives no ways if that is not what it knows */
	struct pm2_comm world;
	struct pm2_comm comms[PM2_COMMS]; /* by the low bits of the handle */
	struct pm2_slip *slips[PM2_SLIPS]; /* by the places of their handles; NULL: there is none. See lane.h */
};

#endif
