/* Sends, receives, and the ends of requests: what C does itself of them. All else crosses. */

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

static inline int receives(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_lane *lane;
	struct pm2_way *way = way_of(comm, source, &lane);
	uint64_t n, got;
	if (UNLIKELY(way == NULL || tag < 0 || !bytes_at(buf, count, datatype, &n)) || !lane_recv(lane, way, tag, buf, n, &got))
		return 0;
	if (status != NULL) {
		status->MPI_SOURCE = source, status->MPI_TAG = tag;
		memcpy(status->MPI_internal, &got, sizeof got);
		status->MPI_internal[2] = 0;
	}
	return 1;
}

/* A send that was over at once has this request, which all of them share. */
#define SENT ((MPI_Request)(void *)PM2_SENT)

static inline int over(MPI_Request r) { return r == SENT || r == MPI_REQUEST_NULL; }

/* ends ends a request that is over. */
static inline void ends(MPI_Request *r, MPI_Status *status)
{
	*r = MPI_REQUEST_NULL;
	if (status != NULL) {
		status->MPI_SOURCE = MPI_ANY_SOURCE, status->MPI_TAG = MPI_ANY_TAG, status->MPI_ERROR = MPI_SUCCESS;
		memset(status->MPI_internal, 0, 3 * sizeof status->MPI_internal[0]);
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

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
	if (request == NULL || !over(*request))
		return cross_Wait(request, status);
	ends(request, status);
	return MPI_SUCCESS;
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (request == NULL || flag == NULL || !over(*request))
		return cross_Test(request, flag, status);
	*flag = 1;
	ends(request, status);
	return MPI_SUCCESS;
}

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
	int i;
	if (count > 0 && array_of_requests == NULL)
		return cross_Waitall(count, array_of_requests, array_of_statuses);
	for (i = 0; i < count; i++)
		if (!over(array_of_requests[i]))
			return cross_Waitall(count, array_of_requests, array_of_statuses);
	if (count < 0)
		return cross_Waitall(count, array_of_requests, array_of_statuses);
	for (i = 0; i < count; i++)
		ends(&array_of_requests[i], array_of_statuses == NULL ? NULL : &array_of_statuses[i]);
	return MPI_SUCCESS;
}
