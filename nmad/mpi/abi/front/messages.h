/* Sends, receives, and the ends of requests: what C does itself of them. All else crosses. The macros SEND, ISEND and
 * RECV make PMPI_Send and its like. */

/* dense is how many bytes an element of a predefined datatype has that lies without gaps; 0: it is another one. */
static inline uint64_t dense(MPI_Datatype datatype)
{
	uintptr_t h = NUMBER(datatype);
	return h >= 0x228 && h < 0x238 ? 0 : (uint64_t)fixed(datatype); /* pairs have gaps */
}

/* bytes_at says whether count elements are a message that C may move, and how many bytes that is. */
static inline int bytes_at(const void *buf, MPI_Count count, MPI_Datatype datatype, uint64_t *n)
{
	uint64_t size = dense(datatype);
	*n = (uint64_t)count * size;
	return size != 0 && (uint64_t)count <= INT32_MAX && (*n == 0 || (uintptr_t)buf >= 4096);
}

/* way_of is how messages to and from a rank go; NULL: through Go. */
static inline struct pm2_way *way_of(MPI_Comm comm, int rank, struct pm2_lane **lane)
{
	struct pm2_comm c;
	if (UNLIKELY(!known(comm, &c) || c.ways == NULL || (unsigned)rank >= (unsigned)c.size))
		return NULL;
	*lane = __atomic_load_n(&c.ways[rank].lane, __ATOMIC_ACQUIRE);
	return *lane != NULL ? &c.ways[rank] : NULL;
}

static inline int sends(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_lane *lane;
	struct pm2_way *way = way_of(comm, dest, &lane);
	uint64_t n;
	return LIKELY(way != NULL && tag >= 0 && bytes_at(buf, count, datatype, &n)) && lane_send(lane, way, tag, buf, n);
}

static inline void tell(MPI_Status *status, int source, int tag, uint64_t bytes)
{
	if (status == NULL)
		return;
	status->MPI_SOURCE = source, status->MPI_TAG = tag;
	memcpy(status->MPI_internal, &bytes, sizeof bytes);
	status->MPI_internal[2] = 0;
}

static inline int receives(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_lane *lane;
	struct pm2_way *way = way_of(comm, source, &lane);
	uint64_t n, got;
	if (UNLIKELY(way == NULL || tag < 0 || !bytes_at(buf, count, datatype, &n)) || !lane_recv(lane, way, tag, buf, n, &got))
		return 0;
	tell(status, source, tag, got);
	return 1;
}

static inline int begins(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_lane *lane;
	struct pm2_way *way = way_of(comm, source, &lane);
	uint64_t n;
	uintptr_t handle;
	if (UNLIKELY(way == NULL || tag < 0 || request == NULL || !bytes_at(buf, count, datatype, &n)) || (handle = slip_begin(lane, way, NUMBER(comm), source, tag, buf, n)) == 0)
		return 0;
	*request = (MPI_Request)(void *)handle;
	return 1;
}

/* A send that was over at once has this request, which all of them share. */
#define SENT ((MPI_Request)(void *)PM2_SENT)

/* over says whether a request is over, after so many looks at least. 0: Go knows, or has to wait. */
static inline int over(MPI_Request r, int64_t looks)
{
	struct pm2_slip *s;
	if (r == SENT || r == MPI_REQUEST_NULL)
		return 1;
	s = slip_of(NUMBER(r));
	return s != NULL && slip_over(s, looks);
}

/* ends ends a request that is over. */
static inline void ends(MPI_Request *r, MPI_Status *status)
{
	struct pm2_slip *s = slip_of(NUMBER(*r));
	*r = MPI_REQUEST_NULL;
	if (s != NULL) {
		tell(status, s->source, s->tag, s->room);
		slip_free(s);
	} else {
		tell(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
		if (status != NULL)
			status->MPI_ERROR = MPI_SUCCESS;
	}
}

#define SEND(name, count_type) \
	int PMPI_##name(const void *buf, count_type count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) \
	{ \
		return sends(buf, count, datatype, dest, tag, comm) ? MPI_SUCCESS : cross_##name(buf, count, datatype, dest, tag, comm); \
	}

#define ISEND(name, count_type) \
	int PMPI_##name(const void *buf, count_type count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) \
	{ \
		if (UNLIKELY(request == NULL) || !sends(buf, count, datatype, dest, tag, comm)) \
			return cross_##name(buf, count, datatype, dest, tag, comm, request); \
		*request = SENT; \
		return MPI_SUCCESS; \
	}

#define RECV(name, count_type) \
	int PMPI_##name(void *buf, count_type count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status) \
	{ \
		return receives(buf, count, datatype, source, tag, comm, status) ? MPI_SUCCESS : cross_##name(buf, count, datatype, source, tag, comm, status); \
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

int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	return begins(buf, count, datatype, source, tag, comm, request) ? MPI_SUCCESS : cross_Irecv(buf, count, datatype, source, tag, comm, request);
}

int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	return begins(buf, count, datatype, source, tag, comm, request) ? MPI_SUCCESS : cross_Irecv_c(buf, count, datatype, source, tag, comm, request);
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
	if (request == NULL || !over(*request, INT64_MAX))
		return cross_Wait(request, status);
	ends(request, status);
	return MPI_SUCCESS;
}

/* idle is how often this thread has looked in vain, for a program that only tests: Go is to look now and then, for
 * what else moves, and whether the peer lives. */
static __thread unsigned idle;

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (request == NULL || flag == NULL)
		return cross_Test(request, flag, status);
	if (!over(*request, 1)) {
		struct pm2_slip *s = slip_of(NUMBER(*request));
		if (s == NULL || LOOK(&s->state) != PM2_WAITING || ++idle % 64 == 0)
			return cross_Test(request, flag, status);
		*flag = 0;
		return MPI_SUCCESS;
	}
	*flag = 1;
	ends(request, status);
	return MPI_SUCCESS;
}

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
	int i;
	if (count < 0 || (count > 0 && array_of_requests == NULL))
		return cross_Waitall(count, array_of_requests, array_of_statuses);
	for (i = 0; i < count; i++)
		if (!over(array_of_requests[i], INT64_MAX))
			return cross_Waitall(count, array_of_requests, array_of_statuses);
	for (i = 0; i < count; i++) {
		MPI_Status *status = array_of_statuses == NULL ? NULL : &array_of_statuses[i];
		if (UNLIKELY(!over(array_of_requests[i], 1))) /* it stands there twice */
			return cross_Waitall(count, array_of_requests, array_of_statuses);
		ends(&array_of_requests[i], status);
		if (status != NULL)
			status->MPI_ERROR = MPI_SUCCESS;
	}
	return MPI_SUCCESS;
}
