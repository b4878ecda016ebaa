/* The layout of Go's lane.Lane and what belongs to it (nmad/internal/lane): where the state of a link in shared
 * memory lies, and that of the protocol over it. layout_test.go compares both. */

#ifndef PM2_LANE_H
#define PM2_LANE_H

#include <stdint.h>

/* pm2_ring is lane.Ring: one direction of the link. */
struct pm2_ring {
	unsigned char *cells, *bodies;
	uint64_t *at;   /* indexed by AT and the names behind it */
	uint64_t *told; /* cells and bytes that the receiver has released; in the segment */
	uint64_t mask, size, shift, max_body;
};

/* Words of pm2_ring.at: the number of packets sent or received; the position in bodies; of a sender what it knows
 * the peer to have released, and whether a packet was refused; of a receiver what it has told the peer to have
 * released. */
enum { AT, BYTES, FREE_CELLS, FREE_BYTES, REFUSED, TOLD_CELLS = FREE_CELLS, TOLD_BYTES = FREE_BYTES };

/* pm2_lane is lane.Lane, which says what each word is. */
struct pm2_lane {
	uint32_t *lock;
	void **incoming;
	int32_t *due;
	int8_t *armed_rails;
	uint8_t *no_links;
	int64_t *woken_threads;
	uint32_t *monitored;

	uint8_t *holds;
	void **queue, **answers;
	uint8_t *closing, *full;
	int64_t *pending, *eager, *credit, *max_credit;
	uint32_t *send_seq, *recv_seq;
	int64_t *window, *taken, *owed;
	uint64_t *sends, *recvs, *sent, *received;
	uint64_t kind;
	int64_t overhead;

	uint32_t *state, *sleeping, *want_room;
	uint64_t ended_bits;
	struct pm2_ring send, recv;
	uint64_t inlined, line, ahead;

	int64_t looks;

	struct pm2_slip *slips;
	uint64_t slip_mask, head, tail;
	int64_t slip_bytes;
	uint32_t slip_timer_on;
};

/* pm2_way is lane.Way. */
struct pm2_way {
	struct pm2_lane *lane; /* NULL: there is none */
	int64_t *posted, *unexpected;
	void **wild;
	int32_t *any;
	uint64_t *clock;
	uint32_t *revoked; /* not 0: the context was revoked; an atomic.Bool, whose word Go stores as a whole */
	uint64_t context_bits, tags;
};

/* pm2_slip is lane.Slip. */
struct pm2_slip {
	uint32_t state;
	int32_t source, tag;
	uint32_t uses;
	uintptr_t handle;
	void *buf;
	uint64_t capacity; /* bytes of buf; once PM2_DONE: of the message */
	uint64_t key;
	struct pm2_way *way;
	struct pm2_lane *lane;
	uint64_t age;
	uintptr_t comm;
	uint64_t index; /* of its handle */
};

/* States of a slip: lane.Slip draws them. */
enum { PM2_FREE, PM2_WAITING, PM2_DONE, PM2_GIVEN };

/* pm2_cell is cell of nmad/driver/shm: a packet in one cache line. */
struct pm2_cell {
	uint64_t ready; /* kind, flags, lap, size of the body, from the lowest bits on: 8, 8, 16, 32 */
	uint64_t tag, size_and_context;
	uint32_t cookie, seq;
	unsigned char body[32];
};

#endif
