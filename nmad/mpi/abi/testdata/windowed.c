/* What is asked of a window, and kept at it; accesses that have requests; memory that comes and goes. */
#include "check.h"

static int rank, size, next, copied, deleted, told, told_code;
static MPI_Win told_of;

static void handler(MPI_Win *w, int *code, ...)
{
	told++, told_code = *code, told_of = *w;
}

static int copies(MPI_Win w, int key, void *extra, void *in, void *out, int *flag)
{
	(void)w, (void)key, (void)extra, (void)in, (void)out;
	copied++, *flag = 0;
	return MPI_SUCCESS;
}

static int deletes(MPI_Win w, int key, void *value, void *extra)
{
	(void)w, (void)key;
	deleted += value == extra;
	return MPI_SUCCESS;
}

static void asked(MPI_Win w)
{
	MPI_Group g, world;
	MPI_Info i;
	MPI_Errhandler h, got;
	char name[MPI_MAX_OBJECT_NAME], value[20];
	int n, flag, code, room = sizeof value;
	OK(MPI_Win_get_group(w, &g));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_compare(g, world, &n));
	CHECK(n == MPI_IDENT);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&world));
	OK(MPI_Win_get_name(w, name, &n));
	CHECK(n == 0 && name[0] == 0);
	OK(MPI_Win_set_name(w, "of the test"));
	OK(MPI_Win_get_name(w, name, &n));
	CHECK(n == 11 && strcmp(name, "of the test") == 0);
	OK(MPI_Info_create(&i));
	OK(MPI_Info_set(i, "no_locks", "false"));
	OK(MPI_Win_set_info(w, i));
	OK(MPI_Info_free(&i));
	OK(MPI_Win_get_info(w, &i));
	OK(MPI_Info_get_string(i, "no_locks", &room, value, &flag));
	CHECK(flag && strcmp(value, "false") == 0);
	OK(MPI_Info_free(&i));
	CHECK(MPI_Win_fromint(MPI_Win_toint(w)) == w && MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
	OK(MPI_Win_get_errhandler(w, &got));
	CHECK(got == MPI_ERRORS_ARE_FATAL);
	OK(MPI_Win_create_errhandler(handler, &h));
	OK(MPI_Win_set_errhandler(w, h));
	OK(MPI_Win_get_errhandler(w, &got));
	CHECK(got == h);
	OK(MPI_Errhandler_free(&got));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Win_call_errhandler(w, MPI_ERR_DISP));
	CHECK(told == 1 && told_code == MPI_ERR_DISP && told_of == w);
	CHECK(class_of(MPI_Win_sync(MPI_WIN_NULL)) == MPI_ERR_WIN); /* an error of no window, which its handler does not hear */
	code = MPI_Win_flush_local(99, w);
	CHECK(class_of(code) == MPI_ERR_RANK || class_of(code) == MPI_ERR_RMA_SYNC);
	CHECK(told == 2 && told_code == code && told_of == w);
}

static void kept(MPI_Win w)
{
	int key, other, flag, mark;
	void *got = NULL;
	OK(MPI_Win_create_keyval(copies, deletes, &key, &mark));
	OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL));
	OK(MPI_Win_set_attr(w, key, &mark));
	OK(MPI_Win_set_attr(w, other, &told));
	OK(MPI_Win_get_attr(w, key, &got, &flag));
	CHECK(flag && got == &mark);
	OK(MPI_Win_delete_attr(w, key));
	CHECK(deleted == 1);
	OK(MPI_Win_get_attr(w, key, &got, &flag));
	CHECK(!flag);
	OK(MPI_Win_get_attr(w, other, &got, &flag));
	CHECK(flag && got == &told);
	CHECK(class_of(MPI_Win_set_attr(w, MPI_WIN_SIZE, &mark)) == MPI_ERR_KEYVAL);
	OK(MPI_Win_free_keyval(&key));
	OK(MPI_Win_free_keyval(&other));
	CHECK(key == MPI_KEYVAL_INVALID && other == MPI_KEYVAL_INVALID && copied == 0);
}

static void accesses(MPI_Win w, int *base)
{
	MPI_Request r;
	int x, y, i, seven = 7;
	for (i = 0; i < 8; i++)
		base[i] = 10 * rank + i;
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock_all(0, w));
	OK(MPI_Win_sync(w));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	y = -1;
	OK(MPI_Rget(&y, 1, MPI_INT, next, 3, 1, MPI_INT, w, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(y == 10 * next + 3 && r == MPI_REQUEST_NULL);
	OK(MPI_Raccumulate(&seven, 1, MPI_INT, next, 4, 1, MPI_INT, MPI_SUM, w, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_Win_flush(next, w));
	OK(MPI_Rget_accumulate(&seven, 1, MPI_INT, &y, 1, MPI_INT, next, 4, 1, MPI_INT, MPI_SUM, w, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(y == 10 * next + 4 + 7);
	OK(MPI_Rget_accumulate(NULL, 0, MPI_INT, &y, 1, MPI_INT, next, 5, 1, MPI_INT, MPI_NO_OP, w, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(y == 10 * next + 5);
	x = 1000 + rank;
	OK(MPI_Put(&x, 1, MPI_INT, next, 6, 1, MPI_INT, w));
	OK(MPI_Win_flush_local(next, w));
	x = -1; /* its memory is the program's again */
	OK(MPI_Get(&y, 1, MPI_INT, next, 7, 1, MPI_INT, w));
	OK(MPI_Win_flush_local_all(w));
	CHECK(y == 10 * next + 7);
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK(base[4] == 10 * rank + 4 + 14 && base[6] == 1000 + (rank + size - 1) % size);
}

/* MPI_Win_test ends an epoch when those that access are done, and not before. */
static void tested(MPI_Win w, int *base)
{
	MPI_Group g, to, from;
	int before = (rank + size - 1) % size, x = 300 + rank, flag = 77, n = 0;
	OK(MPI_Win_get_group(w, &g));
	OK(MPI_Group_incl(g, 1, &next, &to));
	OK(MPI_Group_incl(g, 1, &before, &from));
	OK(MPI_Win_post(from, 0, w));
	OK(MPI_Win_start(to, 0, w));
	OK(MPI_Put(&x, 1, MPI_INT, next, 1, 1, MPI_INT, w));
	if (size == 1) {
		OK(MPI_Win_test(w, &flag));
		CHECK(!flag);
	}
	OK(MPI_Win_complete(w));
	do {
		OK(MPI_Win_test(w, &flag));
	} while (!flag && ++n < 100000000);
	CHECK(flag && base[1] == 300 + before);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&to));
	OK(MPI_Group_free(&from));
}

static void dynamic(void)
{
	MPI_Win w;
	int m[4] = {1, 2, 3, 4}, y = 0;
	MPI_Aint at, there;
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	CHECK(class_of(MPI_Win_attach(w, NULL, sizeof m)) == MPI_ERR_BASE);
	OK(MPI_Win_attach(w, NULL, 0));
	OK(MPI_Win_attach(w, m, sizeof m));
	m[2] = 30 + rank;
	OK(MPI_Get_address(m, &at));
	OK(MPI_Sendrecv(&at, 1, MPI_AINT, (rank + size - 1) % size, 0, &there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w));
	OK(MPI_Get(&y, 1, MPI_INT, next, MPI_Aint_add(there, 2 * sizeof(int)), 1, MPI_INT, w));
	OK(MPI_Win_unlock(next, w));
	CHECK(y == 30 + next);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_detach(w, m));
	CHECK(class_of(MPI_Win_detach(w, m)) == MPI_ERR_RMA_ATTACH);
	OK(MPI_Win_free(&w));
}

int main(int argc, char **argv)
{
	MPI_Win w;
	int *base;
	OK(MPI_Init(&argc, &argv));
	rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD), next = (rank + 1) % size;
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
	asked(w);
	kept(w);
	accesses(w, base);
	tested(w, base);
	OK(MPI_Win_free(&w));
	dynamic();
	return well();
}
