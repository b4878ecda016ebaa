/* Short messages in shared memory, without Go, because a call into Go and back takes as long as the message. C
 * takes the lock of the gate to the other process, as each thread of Go does that uses the gate, and checks some
 * words: is this the usual case? If so it does what the gate, its flow (nmad/internal/flow) and its link
 * (nmad/driver/shm) do with such a message. If not, it has changed nothing, and the call crosses.
 * docs/decisions/messages-from-c.md has the protocol.
 *
 * The usual case of
 *
 *	a send       is that no message and no answer waits before it, there is credit and room for it, and the peer is there
 *	a receive    is that nothing else waits in its context. So the next message is for it if it has its context and tag, and
 *	             else for no receive
 *
 * So C compares, but does not match. It does not trust words that the peer writes: it reads each once, and bounds
 * it. */

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LOOK(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define LOOK_AFTER(p) __atomic_load_n((p), __ATOMIC_SEQ_CST) /* not before this thread's earlier stores are visible */

static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ volatile("yield");
#endif
}

/* prefetch_for_writing has the processor fetch a cache line for writing. */
static inline void prefetch_for_writing(const void *p)
{
#if defined __x86_64__
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

static inline int try_lock(struct pm2_lane *l)
{
	uint32_t is_free = 0;
	return LOOK(l->lock) == 0 && __atomic_compare_exchange_n(l->lock, &is_free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* has_work reports whether other threads have left something for the holder of the lock. */
static inline int has_work(const struct pm2_lane *l)
{
	return LOOK_AFTER(l->incoming) != NULL || LOOK_AFTER(l->due) > 0;
}

/* tend has Go do what other threads have left, and wake the peer. */
static __attribute__((noinline)) void tend(struct pm2_lane *l)
{
	struct pm2_call c = {.function = PM2_TEND, .word = {(intptr_t)l}};
	enter(&c, &shared);
}

/* unlock releases the lock. The exchange is a full barrier: a thread that finds the lock held leaves its work first, so
 * either that thread gets the lock or the look of has_work sees the work. wake: the peer is to be woken. */
static inline void unlock(struct pm2_lane *l, int wake)
{
	__atomic_exchange_n(l->lock, 0, __ATOMIC_SEQ_CST);
	if (UNLIKELY(wake || has_work(l)))
		tend(l);
}

/* lap returns the mark of the cell for packet number at: see lap in nmad/driver/shm. */
static inline uint16_t lap(uint64_t at, uint64_t shift) { return (uint16_t)((at >> shift) | 0x8000); }

/* place_body returns where a body of n bytes begins, and moves the position *at behind it: see placeBody in nmad/driver/shm. */
static inline uint64_t place_body(uint64_t *at, uint64_t n, uint64_t size, uint64_t line)
{
	uint64_t need = (n + line - 1) & ~(line - 1), rest = size - (*at & (size - 1)), start;
	if (need > rest)
		*at += rest;
	start = *at & (size - 1);
	*at += need;
	return start;
}

/* refresh_room reads again what the peer has released, and reports whether there is a free cell, and room for bodies up to
 * end. */
static __attribute__((noinline)) int refresh_room(struct pm2_ring *r, uint64_t end)
{
	uint64_t sent = r->at[AT], cells = __atomic_load_n(&r->told[0], __ATOMIC_ACQUIRE), bytes = __atomic_load_n(&r->told[1], __ATOMIC_ACQUIRE);
	if (cells - r->at[FREE_CELLS] > sent - r->at[FREE_CELLS] || bytes - r->at[FREE_BYTES] > r->at[BYTES] - r->at[FREE_BYTES])
		return 0; /* the peer breaks the protocol: Go reports it */
	r->at[FREE_CELLS] = cells, r->at[FREE_BYTES] = bytes;
	return sent - cells <= r->mask && end - bytes <= r->size;
}

/* put_packet writes a packet into the ring, and reports whether there was room. The caller has the lock. */
static inline int put_packet(struct pm2_lane *l, uint64_t tag, uint64_t size_and_context, uint32_t cookie, uint32_t seq, const void *body, uint64_t n)
{
	struct pm2_ring *r = &l->send;
	uint64_t sent = r->at[AT], end = r->at[BYTES], start = 0;
	struct pm2_cell *c = (struct pm2_cell *)r->cells + (sent & r->mask);
	if (n > l->inlined)
		start = place_body(&end, n, r->size, l->line);
	if (UNLIKELY(sent - r->at[FREE_CELLS] > r->mask || end - r->at[FREE_BYTES] > r->size) && !refresh_room(r, end))
		return 0;
	prefetch_for_writing((struct pm2_cell *)r->cells + ((sent + l->ahead) & r->mask));
	if (n > l->inlined)
		memcpy(r->bodies + start, body, n);
	else if (n > 0)
		memcpy(c->body, body, n);
	r->at[BYTES] = end;
	c->tag = tag, c->size_and_context = size_and_context, c->cookie = cookie, c->seq = seq;
	/* The peer can see the packet from here on. The exchange is a full barrier: the look at the peer's sleep comes
	 * after. */
	__atomic_exchange_n(&c->ready, l->kind | (uint64_t)lap(sent, r->shift) << 16 | n << 32, __ATOMIC_SEQ_CST);
	__atomic_store_n(&r->at[AT], sent + 1, __ATOMIC_RELAXED);
	return 1;
}

/* lane_send sends a message, and reports whether it could. It does not wait for the lock. */
static inline int lane_send(struct pm2_lane *l, struct pm2_way *w, int tag, const void *body, uint64_t n)
{
	int64_t cost = (int64_t)n + l->overhead, owed;
	int sent = 0, wake = 0;
	if (UNLIKELY(!try_lock(l)))
		return 0;
	owed = *l->owed;
	if (LIKELY(!has_work(l) && *l->armed_rails == 0 && !*l->no_links && *l->woken_threads == 0 && LOOK(l->monitored) == 0 && *l->holds == 0 && *l->queue == NULL && *l->answers == NULL &&
		   n <= l->send.max_body && (int64_t)n <= *l->eager && cost <= *l->credit && (LOOK(l->state) & l->ended_bits) == 0 && l->send.at[REFUSED] == 0 && !LOOK(w->revoked)) &&
	    put_packet(l, w->tags | (uint32_t)tag, w->context_bits | n, (uint32_t)owed, *l->send_seq, body, n)) {
		++*l->sends, ++*l->send_seq;
		*l->credit -= cost, *l->taken -= owed, *l->owed = 0;
		*l->sent += n;
		sent = 1, wake = LOOK_AFTER(l->sleeping) != 0;
	}
	unlock(l, wake);
	return sent;
}

/* waits_alone reports whether nothing but the receive in hand waits in the context of w, so that the next message is for
 * it or for no receive. The result counts only under the lock; a first look without it saves taking it in vain. */
static inline int waits_alone(const struct pm2_lane *l, const struct pm2_way *w)
{
	return LOOK(w->posted) == 0 && LOOK(w->unexpected) == 0 && LOOK(w->wild) == NULL && LOOK(w->any) == 0 && LOOK(l->incoming) == NULL && LOOK(l->due) <= 0 && LOOK(l->pending) == 0 && LOOK(l->armed_rails) == 0 &&
	       !LOOK(l->no_links) && !LOOK(l->closing) && !LOOK(l->full) && LOOK(l->monitored) == 0 && (LOOK(l->state) & l->ended_bits) == 0 && !LOOK(w->revoked);
}

/* next_cell returns the cell of the next packet, with its number and ready word; NULL if none has come. */
static inline struct pm2_cell *next_cell(const struct pm2_lane *l, uint64_t *at, uint64_t *ready)
{
	struct pm2_cell *c;
	*at = LOOK(&l->recv.at[AT]);
	c = (struct pm2_cell *)l->recv.cells + (*at & l->recv.mask);
	*ready = __atomic_load_n(&c->ready, __ATOMIC_ACQUIRE);
	return (uint16_t)(*ready >> 16) == lap(*at, l->recv.shift) ? c : NULL;
}

/* take_message receives the next message, if it has that key and fits, and reports whether it did. *wake: the peer waits
 * for the room that this has made. The caller has the lock. */
static inline int take_message(struct pm2_lane *l, const struct pm2_way *w, uint64_t key, void *body, uint64_t capacity, uint64_t *got, int *wake)
{
	struct pm2_ring *r = &l->recv;
	uint64_t at, ready, n, end = r->at[BYTES];
	struct pm2_cell *c = next_cell(l, &at, &ready);
	const unsigned char *from;
	int64_t cost;
	uint32_t back;
	if (c == NULL)
		return 0;
	n = ready >> 32, cost = (int64_t)n + l->overhead, back = LOOK(&c->cookie);
	if ((ready & 0xffff) != l->kind || n > capacity || n > r->max_body || LOOK(&c->tag) != key || LOOK(&c->size_and_context) != (w->context_bits | n) || LOOK(&c->seq) != *l->recv_seq ||
	    back > *l->max_credit - *l->credit || *l->taken + cost > *l->window || 2 * (*l->owed + cost) >= *l->window)
		return 0;
	from = c->body;
	if (n > l->inlined)
		from = r->bodies + place_body(&end, n, r->size, l->line);
	if (n > 0)
		memcpy(body, from, n);
	at++;
	__atomic_store_n(&r->at[AT], at, __ATOMIC_RELAXED);
	r->at[BYTES] = end;
	if (at - r->at[TOLD_CELLS] >= (r->mask + 4) / 4 || end - r->at[TOLD_BYTES] >= r->size / 4) {
		r->at[TOLD_CELLS] = at, r->at[TOLD_BYTES] = end;
		__atomic_store_n(&r->told[1], end, __ATOMIC_RELEASE);
		__atomic_exchange_n(&r->told[0], at, __ATOMIC_SEQ_CST); /* a full barrier: the look at want_room comes after */
		*wake = LOOK_AFTER(l->want_room) != 0;
	}
	++*l->recvs, ++*l->recv_seq;
	*l->credit += back, *l->taken += cost, *l->owed += cost;
	*l->received += n;
	*got = n;
	return 1;
}

/* lane_recv looks for the next message up to l->looks times, and reports whether it has received it. */
static inline int lane_recv(struct pm2_lane *l, struct pm2_way *w, int tag, void *body, uint64_t capacity, uint64_t *got)
{
	uint64_t at, ready;
	int64_t looks = l->looks;
	while (waits_alone(l, w) && LOOK(&l->head) == LOOK(&l->tail)) {
		if (next_cell(l, &at, &ready) != NULL && try_lock(l)) {
			int wake = 0, taken = waits_alone(l, w) && l->head == l->tail && take_message(l, w, w->tags | (uint32_t)tag, body, capacity, got, &wake);
			unlock(l, wake);
			return taken;
		}
		if (--looks <= 0)
			break;
		relax();
	}
	return 0;
}
