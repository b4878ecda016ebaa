/* Slips: receives that MPI_Irecv has begun and that Go does not know. They wait in a ring of the lane, in the
 * order in which they were begun. If nothing else waits in its context, the first slip gets the next message,
 * which must have its context and tag. In all other cases Go takes all slips over, as each thread of Go does when
 * it gets the lock of the gate. lane.Slip has the states. */

/* slip_begin begins a receive and returns its handle; 0 if it cannot. */
static inline uintptr_t slip_begin(struct pm2_lane *l, struct pm2_way *w, uintptr_t comm, int source, int tag, void *buf, uint64_t capacity)
{
	struct pm2_slip *s, *slips = __atomic_load_n(&l->slips, __ATOMIC_ACQUIRE);
	uintptr_t handle = 0;
	uint64_t at;
	if (slips == NULL || !try_lock(l))
		return 0;
	at = l->tail, s = &slips[at & l->slip_mask];
	if (waits_alone(l, w) && (int64_t)capacity <= *l->eager && (int64_t)capacity <= l->slip_bytes && __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == PM2_FREE) {
		uint64_t place = PM2_SLIP | (uint64_t)(s->index);
		s->uses = (s->uses + 1) & 0x7fffffff;
		handle = (uintptr_t)s->uses << 32 | place;
		s->source = source, s->tag = tag, s->buf = buf, s->capacity = capacity, s->key = w->tags | (uint32_t)tag;
		s->way = w, s->comm = comm, s->age = LOOK(w->clock);
		__atomic_store_n(&s->handle, handle, __ATOMIC_RELAXED);
		__atomic_store_n(&s->state, PM2_WAITING, __ATOMIC_RELEASE);
		l->slip_bytes -= (int64_t)capacity;
		__atomic_store_n(&l->tail, at + 1, __ATOMIC_RELEASE);
	}
	unlock(l, 0);
	if (UNLIKELY(handle != 0 && LOOK_AFTER(&l->slip_timer_on) == 0)) {
		struct pm2_call c = {.function = PM2_START_SLIP_TIMER, .word = {(intptr_t)l}};
		enter(&c, &shared);
	}
	return handle;
}

/* slip_of returns the slip of a handle; NULL if the handle is no slip's, or the receive has ended. */
static inline struct pm2_slip *slip_of(uintptr_t handle)
{
	struct pm2_slip *s;
	uint32_t place = (uint32_t)handle - PM2_SLIP;
	if (place >= PM2_SLIPS)
		return NULL;
	s = __atomic_load_n(&shared.slips[place], __ATOMIC_ACQUIRE);
	return s != NULL && LOOK(&s->handle) == handle ? s : NULL;
}

/* slip_free makes a slip whose receive has ended free for another one. */
static inline void slip_free(struct pm2_slip *s)
{
	__atomic_store_n(&s->handle, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->state, PM2_FREE, __ATOMIC_RELEASE);
}

/* fill_slips receives messages into the slips, both in their order, and reports whether it has received any. The
 * caller has the lock. */
static inline int fill_slips(struct pm2_lane *l, int *wake)
{
	uint64_t at, first = l->head;
	for (at = first; at != l->tail && at - first < 32; at++) {
		struct pm2_slip *s = &l->slips[at & l->slip_mask];
		uint64_t capacity = s->capacity, got;
		if (!waits_alone(l, s->way) || !take_message(l, s->way, s->key, s->buf, capacity, &got, wake))
			break;
		s->capacity = got, l->slip_bytes += (int64_t)capacity;
		__atomic_store_n(&l->head, at + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&s->state, PM2_DONE, __ATOMIC_RELEASE);
	}
	return at != first;
}

/* slip_is_done reports whether a slip has its message. It looks for messages up to so many times, at most l->looks. */
static inline int slip_is_done(struct pm2_slip *s, int64_t looks)
{
	struct pm2_lane *l = s->lane;
	uint64_t at, ready;
	int64_t left;
	if (looks > l->looks)
		looks = l->looks;
	for (left = looks;;) {
		uint32_t state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
		if (state != PM2_WAITING || !waits_alone(l, s->way))
			return state == PM2_DONE;
		if (next_cell(l, &at, &ready) != NULL && try_lock(l)) {
			int wake = 0, some = fill_slips(l, &wake);
			unlock(l, wake);
			if (!some && LOOK(&s->state) == PM2_WAITING)
				return 0; /* the next message is for another receive, or Go has to decide */
			left = looks;
			continue;
		}
		if (--left <= 0)
			return 0;
		relax();
	}
}
