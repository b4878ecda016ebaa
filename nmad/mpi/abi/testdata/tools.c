/* The tools interface: control variables, performance variables, and their categories. */
#include "check.h"

static void controls(void)
{
	int n, i, at, length, level, bind, scope, count, room, eager = 0;
	char name[256], text[4096];
	MPI_Datatype t;
	MPI_T_enum e;
	MPI_T_cvar_handle h;
	OK(MPI_T_cvar_get_num(&n));
	CHECK(n > 10);
	for (i = 0; i < n; i++) {
		length = sizeof name, room = sizeof text;
		OK(MPI_T_cvar_get_info(i, name, &length, &level, &t, &e, text, &room, &bind, &scope));
		CHECK(length == (int)strlen(name) + 1 && room == (int)strlen(text) + 1 && room > 10 && t == MPI_CHAR && e == MPI_T_ENUM_NULL && bind == MPI_T_BIND_NO_OBJECT && scope == MPI_T_SCOPE_CONSTANT);
		OK(MPI_T_cvar_get_index(name, &at));
		CHECK(at == i);
		OK(MPI_T_cvar_handle_alloc(i, NULL, &h, &count));
		CHECK(count > 0 && count < (int)sizeof text);
		OK(MPI_T_cvar_read(h, text));
		CHECK((int)strlen(text) + 1 == count);
		if (strcmp(name, "PM2_EAGER") == 0)
			eager = strcmp(text, "12345") == 0;
		CHECK(MPI_T_cvar_write(h, text) == MPI_T_ERR_CVAR_SET_NEVER);
		OK(MPI_T_cvar_handle_free(&h));
		CHECK(h == MPI_T_CVAR_HANDLE_NULL);
	}
	CHECK(eager);
	length = 4;
	OK(MPI_T_cvar_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	CHECK(strlen(name) == 3 && length > 4);
	CHECK(MPI_T_cvar_get_index("no such", &at) == MPI_T_ERR_INVALID_NAME);
	CHECK(MPI_T_cvar_get_info(n, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_cvar_read((MPI_T_cvar_handle)12, text) == MPI_T_ERR_INVALID_HANDLE);
	OK(MPI_Error_string(MPI_T_ERR_CVAR_SET_NEVER, text, &length));
	CHECK(length > 10);
}

static unsigned long long value(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
	unsigned long long v = 77;
	OK(MPI_T_pvar_read(s, h, &v));
	return v;
}

static MPI_T_pvar_handle handle_of(MPI_T_pvar_session s, const char *name, int class)
{
	int at, count;
	MPI_T_pvar_handle h;
	OK(MPI_T_pvar_get_index(name, class, &at));
	OK(MPI_T_pvar_handle_alloc(s, at, NULL, &h, &count));
	CHECK(count == 1);
	return h;
}

static void messages(int n)
{
	char b[100];
	MPI_Request r;
	while (n-- > 0) {
		OK(MPI_Isend(b, sizeof b, MPI_CHAR, 0, 1, MPI_COMM_SELF, &r));
		OK(MPI_Recv(b, sizeof b, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
}

static void measures(void)
{
	int n, i, at, class, length, level, bind, readonly, always, once, room;
	unsigned long long v = 5;
	char name[256], text[1000];
	MPI_Datatype t;
	MPI_T_pvar_session s, other;
	MPI_T_pvar_handle sends, bytes, there, again;
	OK(MPI_T_pvar_get_num(&n));
	CHECK(n >= 10);
	for (i = 0; i < n; i++) {
		length = sizeof name, room = sizeof text;
		OK(MPI_T_pvar_get_info(i, name, &length, &level, &class, &t, NULL, text, &room, &bind, &readonly, &always, &once));
		CHECK(t == MPI_UNSIGNED_LONG_LONG && bind == MPI_T_BIND_NO_OBJECT && readonly == always && once == !always && room > 10);
		OK(MPI_T_pvar_get_index(name, class, &at));
		CHECK(at == i);
		CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &at) == MPI_T_ERR_INVALID_NAME);
	}
	OK(MPI_T_pvar_session_create(&s));
	OK(MPI_T_pvar_session_create(&other));
	sends = handle_of(s, "pm2_sends", MPI_T_PVAR_CLASS_COUNTER), again = handle_of(other, "pm2_sends", MPI_T_PVAR_CLASS_COUNTER);
	bytes = handle_of(s, "pm2_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE);
	there = handle_of(s, "pm2_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL);
	messages(3);
	CHECK(value(s, sends) == 0 && value(s, bytes) == 0);
	OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
	CHECK(MPI_T_pvar_start(s, there) == MPI_T_ERR_PVAR_NO_STARTSTOP && MPI_T_pvar_reset(s, there) == MPI_T_ERR_PVAR_NO_WRITE);
	messages(5);
	CHECK(value(s, sends) == 5 && value(s, bytes) == 500 && value(other, again) == 0);
	OK(MPI_T_pvar_stop(s, sends));
	messages(2);
	CHECK(value(s, sends) == 5 && value(s, bytes) == 700);
	OK(MPI_T_pvar_start(s, sends));
	messages(1);
	OK(MPI_T_pvar_readreset(s, sends, &v));
	CHECK(v == 6 && value(s, sends) == 0);
	v = 40;
	OK(MPI_T_pvar_write(s, sends, &v));
	messages(2);
	CHECK(value(s, sends) == 42);
	OK(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES));
	CHECK(value(s, sends) == 0 && value(s, bytes) == 0);
	CHECK(value(s, there) == 0);
	OK(MPI_Send(text, 60, MPI_CHAR, 0, 2, MPI_COMM_SELF));
	CHECK(value(s, there) == 60);
	OK(MPI_Recv(text, 60, MPI_CHAR, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
	CHECK(value(s, there) == 0);
	CHECK(MPI_T_pvar_read(other, sends, &v) == MPI_T_ERR_INVALID_HANDLE);
	OK(MPI_T_pvar_handle_free(s, &sends));
	CHECK(sends == MPI_T_PVAR_HANDLE_NULL && MPI_T_pvar_handle_free(s, &sends) == MPI_T_ERR_INVALID_HANDLE);
	OK(MPI_T_pvar_session_free(&s));
	CHECK(s == MPI_T_PVAR_SESSION_NULL && MPI_T_pvar_read(s, bytes, &v) == MPI_T_ERR_INVALID_SESSION);
	OK(MPI_T_pvar_session_free(&other));
}

static void categories(void)
{
	int n, i, controls, measures, all, length, room, at[1000];
	char name[100], text[1000];
	OK(MPI_T_category_get_num(&n));
	CHECK(n == 2);
	for (i = 0; i < n; i++) {
		length = sizeof name, room = sizeof text;
		OK(MPI_T_category_get_info(i, name, &length, text, &room, &controls, &measures, &all));
		OK(MPI_T_category_get_index(name, &all));
		CHECK(all == i && (controls == 0) != (measures == 0));
		OK(MPI_T_category_get_cvars(i, 1000, at));
		OK(MPI_T_category_get_pvars(i, 1000, at));
		CHECK(at[controls + measures - 1] == controls + measures - 1);
		OK(MPI_T_category_get_num_events(i, &all));
		CHECK(all == 0);
	}
}

int main(int argc, char **argv)
{
	int n;
	CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
	OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &n));
	controls();
	OK(MPI_Init(&argc, &argv));
	measures();
	categories();
	OK(MPI_T_finalize());
	CHECK(MPI_T_pvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
	return well();
}
