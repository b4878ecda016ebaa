/* The functions of sends, receives and requests, of which C serves the usual cases itself; all else crosses. The
 * macros SEND, ISEND, RECV and IRECV define PMPI_Send and its like. */

/* dense returns the bytes of an element of a predefined datatype without gaps; 0 for another one. */
static inline uint64_t dense(MPI_Datatype datatype)
{
	uintptr_t h = NUMBER(datatype);
	return h >= 0x228 && h < 0x238 ? 0 : (uint64_t)fixed(datatype); /* pairs have gaps */
}

/* can_move reports whether C may move a message of count elements, and sets *n to its bytes. */
static inline int can_move(const void *buf, MPI_Count count, MPI_Datatype datatype, uint64_t *n)
{
	uint64_t size = dense(datatype);
	*n = (uint64_t)count * size;
	return size != 0 && (uint64_t)count <= INT32_MAX && (*n == 0 || (uintptr_t)buf >= 4096);
}

/* way_of returns the way to a rank, and its lane; NULL if Go has to move the messages. */
static inline struct pm2_way *way_of(MPI_Comm comm, int rank, struct pm2_lane **lane)
{
	struct pm2_comm c;
	if (UNLIKELY(!known(comm, &c) || c.ways == NULL || (unsigned)rank >= (unsigned)c.size))
		return NULL;
	*lane = __atomic_load_n(&c.ways[rank].lane, __ATOMIC_ACQUIRE);
	return *lane != NULL ? &c.ways[rank] : NULL;
}

/* try_send sends a message without Go, if it can, and reports whether it did. */
static inline int try_send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_lane *lane;
	struct pm2_way *way = way_of(comm, dest, &lane);
	uint64_t n;
	return LIKELY(way != NULL && tag >= 0 && can_move(buf, count, datatype, &n)) && lane_send(lane, way, tag, buf, n);
}

/* set_status fills in a status, unless the program ignores it. MPI_ERROR stays. */
static inline void set_status(MPI_Status *status, int source, int tag, uint64_t bytes)
{
	if (status == NULL)
		return;
	status->MPI_SOURCE = source, status->MPI_TAG = tag;
	memcpy(status->MPI_internal, &bytes, sizeof bytes);
	status->MPI_internal[2] = 0;
}

/* try_recv receives a message without Go, if one is there or comes soon, and reports whether it did. */
static inline int try_recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_lane *lane;
	struct pm2_way *way = way_of(comm, source, &lane);
	uint64_t n, got;
	if (UNLIKELY(way == NULL || tag < 0 || !can_move(buf, count, datatype, &n)) || !lane_recv(lane, way, tag, buf, n, &got))
		return 0;
	set_status(status, source, tag, got);
	return 1;
}

/* try_irecv begins a receive as a slip (slips.h), if it can, and reports whether it did. */
static inline int try_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_lane *lane;
	struct pm2_way *way = way_of(comm, source, &lane);
	uint64_t n;
	uintptr_t handle;
	if (UNLIKELY(way == NULL || tag < 0 || request == NULL || !can_move(buf, count, datatype, &n)) || (handle = slip_begin(lane, way, NUMBER(comm), source, tag, buf, n)) == 0)
		return 0;
	*request = (MPI_Request)(void *)handle;
	return 1;
}

/* The request of sends that are complete at once. All of them share it. */
#define SENT ((MPI_Request)(void *)PM2_SENT)

/* is_complete reports whether a request is complete. It looks up to so many times for its message. 0: Go knows
 * whether it is. */
static inline int is_complete(MPI_Request r, int64_t looks)
{
	struct pm2_slip *s;
	if (r == SENT || r == MPI_REQUEST_NULL)
		return 1;
	s = slip_of(NUMBER(r));
	return s != NULL && slip_is_done(s, looks);
}

/* finish ends a complete request. */
static inline void finish(MPI_Request *r, MPI_Status *status)
{
	struct pm2_slip *s = slip_of(NUMBER(*r));
	*r = MPI_REQUEST_NULL;
	if (s != NULL) {
		set_status(status, s->source, s->tag, s->capacity);
		slip_free(s);
	} else {
		set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
		if (status != NULL)
			status->MPI_ERROR = MPI_SUCCESS;
	}
}

#define SEND(name, count_type) \
	int PMPI_##name(const void *buf, count_type count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) \
	{ \
		return try_send(buf, count, datatype, dest, tag, comm) ? MPI_SUCCESS : cross_##name(buf, count, datatype, dest, tag, comm); \
	}

#define ISEND(name, count_type) \
	int PMPI_##name(const void *buf, count_type count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) \
	{ \
		if (UNLIKELY(request == NULL) || !try_send(buf, count, datatype, dest, tag, comm)) \
			return cross_##name(buf, count, datatype, dest, tag, comm, request); \
		*request = SENT; \
		return MPI_SUCCESS; \
	}

#define RECV(name, count_type) \
	int PMPI_##name(void *buf, count_type count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status) \
	{ \
		return try_recv(buf, count, datatype, source, tag, comm, status) ? MPI_SUCCESS : cross_##name(buf, count, datatype, source, tag, comm, status); \
	}

#define IRECV(name, count_type) \
	int PMPI_##name(void *buf, count_type count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request) \
	{ \
		return try_irecv(buf, count, datatype, source, tag, comm, request) ? MPI_SUCCESS : cross_##name(buf, count, datatype, source, tag, comm, request); \
	}

SEND(Send, int)
SEND(Send_c, MPI_Count)
SEND(Rsend, int)
SEND(Rsend_c, MPI_Count)
ISEND(Isend, int)
ISEND(Isend_c, MPI_Count)
ISEND(Irsend, int)
ISEND(Irsend_c, MPI_Count)
RECV(Recv, int)
RECV(Recv_c, MPI_Count)
IRECV(Irecv, int)
IRECV(Irecv_c, MPI_Count)

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
	if (request == NULL || !is_complete(*request, INT64_MAX))
		return cross_Wait(request, status);
	finish(request, status);
	return MPI_SUCCESS;
}

/* vain_tests counts the tests of this thread that found nothing. Every 64th crosses, so that a program that only
 * tests still has the engine look for other messages, and for the death of the peer. */
static __thread unsigned vain_tests;

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (request == NULL || flag == NULL)
		return cross_Test(request, flag, status);
	if (!is_complete(*request, 1)) {
		struct pm2_slip *s = slip_of(NUMBER(*request));
		if (s == NULL || LOOK(&s->state) != PM2_WAITING || ++vain_tests % 64 == 0)
			return cross_Test(request, flag, status);
		*flag = 0;
		return MPI_SUCCESS;
	}
	*flag = 1;
	finish(request, status);
	return MPI_SUCCESS;
}

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
	int i;
	if (count < 0 || (count > 0 && array_of_requests == NULL))
		return cross_Waitall(count, array_of_requests, array_of_statuses);
	for (i = 0; i < count; i++)
		if (!is_complete(array_of_requests[i], INT64_MAX))
			return cross_Waitall(count, array_of_requests, array_of_statuses);
	for (i = 0; i < count; i++) {
		MPI_Status *status = array_of_statuses == NULL ? NULL : &array_of_statuses[i];
		if (UNLIKELY(!is_complete(array_of_requests[i], 1))) /* the same request stands in the array twice */
			return cross_Waitall(count, array_of_requests, array_of_statuses);
		finish(&array_of_requests[i], status);
		if (status != NULL)
			status->MPI_ERROR = MPI_SUCCESS;
	}
	return MPI_SUCCESS;
}
