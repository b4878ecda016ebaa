/* Groups, what belongs to communicators, graphs, buffers for messages, and what a process can ask of the library: each function does what it is there for. */
#include "check.h"

#include <stdint.h>
#include <unistd.h>

static int rank, size;

/* holds says that a group is these n ranks of the world, and frees it. */
static int holds(MPI_Group g, int n, const int *ranks)
{
	MPI_Group world;
	int i, got, here, me = MPI_UNDEFINED;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_size(g, &got));
	OK(MPI_Group_rank(g, &here));
	for (i = 0; i < n && got == n; i++) {
		int r;
		OK(MPI_Group_translate_ranks(g, 1, &i, world, &r));
		if (r != ranks[i])
			return 0;
		if (r == rank)
			me = i;
	}
	OK(MPI_Group_free(&world));
	if (g != MPI_GROUP_EMPTY)
		OK(MPI_Group_free(&g));
	return got == n && here == me;
}

/* groups needs four ranks. */
static void groups(void)
{
	MPI_Group all, a, b, g;
	int n, ranges[2][3] = {{3, 1, -2}, {0, 0, 1}};
	OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
	OK(MPI_Group_rank(all, &n));
	CHECK(n == rank);
	OK(MPI_Group_rank(MPI_GROUP_EMPTY, &n));
	CHECK(n == MPI_UNDEFINED);
	CHECK(MPI_Group_fromint(MPI_Group_toint(all)) == all && MPI_Group_toint(MPI_GROUP_EMPTY) == (int)(intptr_t)MPI_GROUP_EMPTY);
	CHECK(MPI_Group_fromint(MPI_Group_toint(MPI_GROUP_NULL)) == MPI_GROUP_NULL);
	OK(MPI_Group_incl(all, 3, (int[]){2, 0, 1}, &a));
	OK(MPI_Group_incl(all, 3, (int[]){3, 1, 2}, &b));
	OK(MPI_Group_union(a, b, &g));
	CHECK(holds(g, 4, (int[]){2, 0, 1, 3}));
	OK(MPI_Group_intersection(a, b, &g));
	CHECK(holds(g, 2, (int[]){2, 1}));
	OK(MPI_Group_difference(b, a, &g));
	CHECK(holds(g, 1, (int[]){3}));
	OK(MPI_Group_difference(a, a, &g));
	CHECK(g == MPI_GROUP_EMPTY);
	OK(MPI_Group_intersection(a, MPI_GROUP_EMPTY, &g));
	CHECK(g == MPI_GROUP_EMPTY);
	OK(MPI_Group_union(MPI_GROUP_EMPTY, b, &g));
	CHECK(holds(g, 3, (int[]){3, 1, 2}));
	OK(MPI_Group_range_incl(all, 2, ranges, &g));
	CHECK(holds(g, 3, (int[]){3, 1, 0}));
	OK(MPI_Group_range_excl(all, 2, ranges, &g));
	CHECK(holds(g, 1, (int[]){2}));
	OK(MPI_Group_range_incl(all, 0, ranges, &g));
	CHECK(g == MPI_GROUP_EMPTY);
	ranges[1][0] = ranges[1][1] = 1; /* once more */
	CHECK(class_of(MPI_Group_range_incl(all, 2, ranges, &g)) == MPI_ERR_RANK);
	ranges[1][2] = 0;
	CHECK(class_of(MPI_Group_range_excl(all, 2, ranges, &g)) == MPI_ERR_ARG);
	ranges[0][0] = 0, ranges[0][1] = 4, ranges[0][2] = 2; /* the range ends behind the last rank, but has 0, 2 and 4 */
	CHECK(class_of(MPI_Group_range_incl(all, 1, ranges, &g)) == MPI_ERR_RANK);
	CHECK(class_of(MPI_Group_union(all, MPI_GROUP_NULL, &g)) == MPI_ERR_GROUP);
	OK(MPI_Group_free(&a));
	OK(MPI_Group_free(&b));
	OK(MPI_Group_free(&all));
	CHECK(all == MPI_GROUP_NULL);
}

/* hint is a hint of a communicator; "": there is none. */
static const char *hint(MPI_Comm c, const char *key)
{
	static char value[MPI_MAX_INFO_VAL];
	MPI_Info i;
	int room = sizeof value, there;
	OK(MPI_Comm_get_info(c, &i));
	OK(MPI_Info_get_string(i, key, &room, value, &there));
	OK(MPI_Info_free(&i));
	return there ? value : "";
}

static void hints(void)
{
	MPI_Comm c, d;
	MPI_Info i;
	MPI_Request r;
	OK(MPI_Info_create(&i));
	OK(MPI_Info_set(i, "mpi_assert_no_any_tag", "true"));
	OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, i, &c));
	CHECK(size_of(c) == size && rank_of(c) == rank && strcmp(hint(c, "mpi_assert_no_any_tag"), "true") == 0);
	OK(MPI_Info_set(i, "mpi_assert_no_any_tag", "false"));
	CHECK(strcmp(hint(c, "mpi_assert_no_any_tag"), "true") == 0);
	OK(MPI_Comm_set_info(c, i));
	CHECK(strcmp(hint(c, "mpi_assert_no_any_tag"), "false") == 0);
	/* a copy has no hints but those that are given with it */
	OK(MPI_Comm_dup(c, &d));
	CHECK(*hint(d, "mpi_assert_no_any_tag") == 0);
	OK(MPI_Comm_disconnect(&d));
	CHECK(d == MPI_COMM_NULL);
	OK(MPI_Comm_idup(c, &d, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(*hint(d, "mpi_assert_no_any_tag") == 0);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_dup_with_info(c, MPI_INFO_NULL, &d));
	CHECK(*hint(d, "mpi_assert_no_any_tag") == 0);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_idup_with_info(c, i, &d, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(strcmp(hint(d, "mpi_assert_no_any_tag"), "false") == 0 && size_of(d) == size);
	OK(MPI_Barrier(d));
	OK(MPI_Comm_disconnect(&d));
	OK(MPI_Comm_disconnect(&c));
	c = MPI_COMM_WORLD;
	CHECK(class_of(MPI_Comm_disconnect(&c)) == MPI_ERR_COMM && c == MPI_COMM_WORLD);
	OK(MPI_Info_free(&i));
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* parts makes communicators of a group by those in it alone, and of two groups. */
static void parts(void)
{
	MPI_Group all, g, far;
	MPI_Comm c, x;
	int n, low = rank < 2;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
	OK(MPI_Group_incl(all, 2, low ? (int[]){1, 0} : (int[]){3, 2}, &g));
	OK(MPI_Comm_create_group(MPI_COMM_WORLD, g, 3, &c));
	CHECK(size_of(c) == 2 && rank_of(c) == 1 - rank % 2);
	OK(MPI_Intercomm_create(c, 0, MPI_COMM_WORLD, low ? 3 : 1, 4, &x));
	OK(MPI_Comm_remote_group(x, &far));
	CHECK(holds(far, 2, low ? (int[]){3, 2} : (int[]){1, 0}));
	CHECK(class_of(MPI_Comm_remote_group(MPI_COMM_WORLD, &far)) == MPI_ERR_COMM);
	OK(MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, x));
	CHECK(n == (low ? 5 : 1));
	OK(MPI_Comm_disconnect(&x));
	OK(MPI_Comm_free(&c));
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&all));
}

static int ended;

static int ends(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c, (void)key, (void)extra;
	ended += *(int *)value;
	return MPI_SUCCESS;
}

static void attributes(void)
{
	int key, there, one = 1, ten = 10, *got = NULL;
	OK(MPI_Keyval_create(MPI_NULL_COPY_FN, ends, &key, NULL));
	OK(MPI_Attr_get(MPI_COMM_WORLD, key, &got, &there));
	CHECK(!there);
	OK(MPI_Attr_put(MPI_COMM_WORLD, key, &one));
	OK(MPI_Attr_get(MPI_COMM_WORLD, key, &got, &there));
	CHECK(there && got == &one);
	OK(MPI_Attr_put(MPI_COMM_WORLD, key, &ten));
	CHECK(ended == 1);
	OK(MPI_Attr_delete(MPI_COMM_WORLD, key));
	CHECK(ended == 11);
	OK(MPI_Attr_get(MPI_COMM_WORLD, key, &got, &there));
	CHECK(!there);
	OK(MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &got, &there));
	CHECK(there && *got >= 32767);
	OK(MPI_Keyval_free(&key));
	CHECK(key == MPI_KEYVAL_INVALID);
}

/* graphs has a graph of the first three ranks: 0 to 1 and 2, 1 to 0, and 2 to itself and 0. */
static void graphs(void)
{
	int ends[3] = {2, 3, 5}, edges[5] = {1, 2, 0, 2, 0}, nodes, n, got[5], at[3], kind;
	MPI_Comm c, d;
	OK(MPI_Graph_map(MPI_COMM_WORLD, 3, ends, edges, &n));
	CHECK(n == MPI_UNDEFINED || (n >= 0 && n < 3));
	OK(MPI_Graph_create(MPI_COMM_WORLD, 3, ends, edges, 0, &c));
	CHECK((c == MPI_COMM_NULL) == (rank > 2));
	CHECK(class_of(MPI_Graphdims_get(MPI_COMM_WORLD, &nodes, &n)) == MPI_ERR_TOPOLOGY);
	if (c == MPI_COMM_NULL)
		return;
	OK(MPI_Comm_dup(c, &d)); /* which has the graph, too */
	OK(MPI_Comm_free(&c));
	OK(MPI_Topo_test(d, &kind));
	OK(MPI_Graphdims_get(d, &nodes, &n));
	CHECK(kind == MPI_GRAPH && nodes == 3 && n == 5 && size_of(d) == 3);
	OK(MPI_Graph_get(d, 3, 5, at, got));
	CHECK(memcmp(at, ends, sizeof ends) == 0 && memcmp(got, edges, sizeof edges) == 0);
	OK(MPI_Graph_neighbors_count(d, 2, &n));
	OK(MPI_Graph_neighbors(d, 2, 2, got));
	CHECK(n == 2 && got[0] == 2 && got[1] == 0);
	OK(MPI_Graph_neighbors_count(d, 1, &n));
	OK(MPI_Graph_neighbors(d, 1, 1, got));
	CHECK(n == 1 && got[0] == 0);
	CHECK(class_of(MPI_Graph_neighbors_count(d, 3, &n)) == MPI_ERR_RANK);
	OK(MPI_Comm_free(&d));
}

static void grids(void)
{
	int dims[2] = {2, 2}, around[2] = {0, 1}, got[2], wraps[2], at[2], n;
	MPI_Comm c;
	OK(MPI_Cart_map(MPI_COMM_WORLD, 1, (int[]){3}, around, &n));
	CHECK(n == MPI_UNDEFINED || (n >= 0 && n < 3));
	CHECK(class_of(MPI_Cart_map(MPI_COMM_WORLD, 1, (int[]){0}, around, &n)) != MPI_SUCCESS);
	OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &c));
	OK(MPI_Cart_get(c, 2, got, wraps, at));
	CHECK(got[0] == 2 && got[1] == 2 && wraps[0] == 0 && wraps[1] == 1 && at[0] == rank / 2 && at[1] == rank % 2);
	CHECK(class_of(MPI_Cart_get(MPI_COMM_WORLD, 2, got, wraps, at)) == MPI_ERR_TOPOLOGY);
	OK(MPI_Comm_free(&c));
	OK(MPI_Cart_create(MPI_COMM_WORLD, 0, dims, around, 0, &c)); /* a point, of one rank */
	CHECK((c != MPI_COMM_NULL) == (rank == 0));
	if (c != MPI_COMM_NULL) {
		OK(MPI_Cart_get(c, 0, got, wraps, at));
		OK(MPI_Cartdim_get(c, &n));
		CHECK(n == 0 && size_of(c) == 1);
		OK(MPI_Comm_free(&c));
	}
}

/* buffers sends by memory that all messages share, and by that of one communicator. */
static void buffers(void)
{
	enum { N = 500 };
	int out[N], in[N], i, n, round, to = (rank + 1) % size, from = (rank + size - 1) % size;
	int room = N * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
	void *memory = malloc(room), *back;
	MPI_Comm c;
	MPI_Request r, s;
	MPI_Message m;
	MPI_Status status;
	MPI_Count elements;
	for (i = 0; i < N; i++)
		out[i] = rank * N + i;
	OK(MPI_Buffer_flush()); /* of nothing */
	OK(MPI_Buffer_attach(memory, room));
	OK(MPI_Bsend_init(out, N, MPI_INT, to, 1, MPI_COMM_WORLD, &r));
	for (round = 0; round < 3; round++) {
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		out[0] = -1; /* what was sent was copied */
		memset(in, 0, sizeof in);
		OK(MPI_Mprobe(from, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
		OK(MPI_Imrecv(in, N, MPI_INT, &m, &s));
		OK(MPI_Wait(&s, &status));
		CHECK(m == MPI_MESSAGE_NULL && status.MPI_SOURCE == from && status.MPI_TAG == 1 && in[0] == from * N && in[N - 1] == from * N + N - 1);
		OK(MPI_Get_elements_x(&status, MPI_INT, &elements));
		CHECK(elements == N);
		out[0] = rank * N;
		OK(MPI_Buffer_flush()); /* so that there is room again */
	}
	OK(MPI_Request_free(&r));
	OK(MPI_Ibsend(out, N, MPI_INT, to, 2, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_Buffer_iflush(&r));
	OK(MPI_Recv(in, N, MPI_INT, from, 2, MPI_COMM_WORLD, &status));
	CHECK(in[N - 1] == from * N + N - 1);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(class_of(MPI_Ibsend(out, N + MPI_BSEND_OVERHEAD, MPI_INT, to, 2, MPI_COMM_WORLD, &r)) == MPI_ERR_BUFFER);
	OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
	CHECK(m == MPI_MESSAGE_NO_PROC);
	OK(MPI_Imrecv(in, N, MPI_INT, &m, &r));
	OK(MPI_Wait(&r, &status));
	OK(MPI_Get_elements_x(&status, MPI_INT, &elements));
	CHECK(m == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL && elements == 0);
	OK(MPI_Buffer_detach(&back, &n));
	CHECK(back == memory && n == room);
	/* of one communicator: messages of another have none */
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	OK(MPI_Comm_attach_buffer(c, memory, room));
	CHECK(class_of(MPI_Bsend(out, 1, MPI_INT, to, 3, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
	for (round = 0; round < 2; round++) {
		OK(MPI_Bsend(out, N, MPI_INT, to, 3, c));
		if (round == 1)
			OK(MPI_Comm_iflush_buffer(c, &r));
		OK(MPI_Recv(in, N, MPI_INT, from, 3, c, MPI_STATUS_IGNORE));
		CHECK(in[N - 1] == from * N + N - 1);
		if (round == 0)
			OK(MPI_Comm_flush_buffer(c));
	}
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_Comm_detach_buffer(c, &back, &n));
	CHECK(back == memory && n == room);
	CHECK(class_of(MPI_Bsend(out, 1, MPI_INT, to, 3, c)) == MPI_ERR_BUFFER);
	OK(MPI_Comm_attach_buffer(c, MPI_BUFFER_AUTOMATIC, 0));
	OK(MPI_Bsend(out, N, MPI_INT, to, 3, c));
	OK(MPI_Recv(in, N, MPI_INT, from, 3, c, MPI_STATUS_IGNORE));
	OK(MPI_Comm_detach_buffer(c, &back, &n));
	CHECK(back == MPI_BUFFER_AUTOMATIC && n == 0);
	OK(MPI_Comm_free(&c));
	free(memory);
}

/* value is that of a key; 0: there is none. */
static int value(MPI_Info i, const char *key)
{
	char text[32];
	int room = sizeof text, there;
	OK(MPI_Info_get_string(i, key, &room, text, &there));
	return there ? atoi(text) : 0;
}

static void library(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING], host[MPI_MAX_PROCESSOR_NAME];
	int a, b, n;
	char *memory;
	MPI_Errhandler e;
	MPI_Info i;
	int32_t yes = -1, no = 7, y = 0, x = 0;
	OK(MPI_Get_version(&a, &b));
	CHECK(a == MPI_VERSION && b == MPI_SUBVERSION && a == 5);
	OK(MPI_Abi_get_version(&a, &b));
	CHECK(a == MPI_ABI_VERSION && b == MPI_ABI_SUBVERSION && a == 1);
	OK(MPI_Get_library_version(text, &n));
	CHECK(n == (int)strlen(text) && strncmp(text, "pm2 ", 4) == 0);
	OK(MPI_Get_processor_name(text, &n));
	OK(gethostname(host, sizeof host));
	CHECK(n == (int)strlen(text) && strcmp(text, host) == 0);
	OK(MPI_Finalized(&n));
	CHECK(n == 0);
	OK(MPI_Alloc_mem(10000, MPI_INFO_NULL, &memory));
	CHECK(memory != NULL && (uintptr_t)memory % 16 == 0);
	memset(memory, 1, 10000);
	OK(MPI_Free_mem(memory));
	CHECK(class_of(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory)) == MPI_ERR_ARG);
	CHECK(class_of(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &memory)) == MPI_ERR_NO_MEM);
	OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &e));
	CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(e)) == e && e == MPI_ERRORS_RETURN);
	OK(MPI_Abi_get_info(&i));
	CHECK(value(i, "mpi_aint_size") == sizeof(MPI_Aint) && value(i, "mpi_count_size") == sizeof(MPI_Count) && value(i, "mpi_offset_size") == sizeof(MPI_Offset));
	OK(MPI_Info_free(&i));
	OK(MPI_Get_hw_resource_info(&i));
	OK(MPI_Info_get_nkeys(i, &n));
	CHECK(n >= 0);
	OK(MPI_Info_free(&i));
	/* what a library of Fortran leaves for others */
	OK(MPI_Abi_get_fortran_info(&i));
	CHECK(i == MPI_INFO_NULL);
	OK(MPI_Info_create(&i));
	OK(MPI_Info_set(i, "mpi_integer_size", "4"));
	OK(MPI_Abi_set_fortran_info(i));
	CHECK(class_of(MPI_Abi_set_fortran_info(i)) == MPI_ERR_ABI);
	OK(MPI_Info_free(&i));
	OK(MPI_Abi_get_fortran_info(&i));
	CHECK(value(i, "mpi_integer_size") == 4);
	OK(MPI_Info_free(&i));
	OK(MPI_Abi_get_fortran_booleans(4, &y, &x, &n));
	CHECK(!n && y == 0);
	OK(MPI_Abi_set_fortran_booleans(4, &yes, &no));
	CHECK(class_of(MPI_Abi_set_fortran_booleans(4, &yes, &no)) == MPI_ERR_ABI);
	OK(MPI_Abi_get_fortran_booleans(4, &y, &x, &n));
	CHECK(n && y == -1 && x == 7);
}

/* refused has what needs processes of other jobs. */
static void refused(void)
{
	MPI_Comm c = MPI_COMM_WORLD;
	char port[MPI_MAX_PORT_NAME] = "port", *commands[1] = {"true"};
	int code, most = 1;
	MPI_Info none = MPI_INFO_NULL;
	OK(MPI_Comm_get_parent(&c));
	CHECK(c == MPI_COMM_NULL); /* started by no other program */
	CHECK(class_of(MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &c, &code)) == MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK(class_of(MPI_Comm_spawn_multiple(1, commands, MPI_ARGVS_NULL, &most, &none, 0, MPI_COMM_WORLD, &c, &code)) == MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK(class_of(MPI_Open_port(MPI_INFO_NULL, port)) == MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &c)) == MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK(class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &c)) == MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK(class_of(MPI_Close_port(port)) == MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK(class_of(MPI_Comm_join(0, &c)) == MPI_ERR_UNSUPPORTED_OPERATION);
	CHECK(c == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
	int n;
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
	CHECK(size == 4);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	groups();
	hints();
	parts();
	attributes();
	graphs();
	grids();
	buffers();
	library();
	refused();
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Finalize());
	OK(MPI_Finalized(&n));
	CHECK(n == 1);
	if (rank == 0)
		printf("all is well\n");
	return 0;
}
