/* Handles of all kinds to numbers and back, statuses by their fields, environment, codes of errors, threads, and attributes by the names of MPI 1. */
#include "check.h"
#include <pthread.h>

static void numbers(void)
{
	MPI_Info i, again;
	MPI_Op o;
	MPI_Message m;
	MPI_Session s;
	int n = 5, flag, same;
	MPI_Group g;
	CHECK(MPI_Info_toint(MPI_INFO_NULL) == 0x130 && MPI_Info_fromint(0x130) == MPI_INFO_NULL);
	OK(MPI_Info_create(&i));
	again = MPI_Info_fromint(MPI_Info_toint(i));
	OK(MPI_Info_set(again, "key", "value"));
	OK(MPI_Info_get_valuelen(i, "key", &n, &flag));
	CHECK(again == i && flag && n == 5);
	n = 77;
	OK(MPI_Info_get_valuelen(i, "no such", &n, &flag));
	CHECK(!flag && n == 77);
	OK(MPI_Info_free(&i));
	CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM && MPI_Op_toint(MPI_SUM) != MPI_Op_toint(MPI_PROD));
	OK(MPI_Op_create((MPI_User_function *)numbers, 1, &o)); /* which is not called */
	CHECK(MPI_Op_fromint(MPI_Op_toint(o)) == o);
	OK(MPI_Op_free(&o));
	CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL && MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
	OK(MPI_Send(&n, 1, MPI_INT, 0, 4, MPI_COMM_SELF));
	OK(MPI_Mprobe(0, 4, MPI_COMM_SELF, &m, MPI_STATUS_IGNORE));
	CHECK(MPI_Message_fromint(MPI_Message_toint(m)) == m);
	OK(MPI_Mrecv(&same, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
	CHECK(same == 77 && m == MPI_MESSAGE_NULL);
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	CHECK(MPI_Session_fromint(MPI_Session_toint(s)) == s && MPI_Session_toint(MPI_SESSION_NULL) == 0x120);
	OK(MPI_Session_finalize(&s));
	OK(MPI_Comm_group(MPI_COMM_SELF, &g));
	CHECK(MPI_Group_fromint(MPI_Group_toint(g)) == g);
	OK(MPI_Group_free(&g));
}

static void statuses(void)
{
	MPI_Status s;
	MPI_Count x;
	MPI_Datatype pair;
	int n;
	memset(&s, 0, sizeof s);
	OK(MPI_Status_set_source(&s, 11));
	OK(MPI_Status_set_tag(&s, 12));
	OK(MPI_Status_set_error(&s, MPI_ERR_TRUNCATE));
	CHECK(s.MPI_SOURCE == 11 && s.MPI_TAG == 12 && s.MPI_ERROR == MPI_ERR_TRUNCATE);
	s.MPI_SOURCE = 21, s.MPI_TAG = 22, s.MPI_ERROR = MPI_ERR_OTHER;
	OK(MPI_Status_get_source(&s, &n));
	CHECK(n == 21);
	OK(MPI_Status_get_tag(&s, &n));
	CHECK(n == 22);
	OK(MPI_Status_get_error(&s, &n));
	CHECK(n == MPI_ERR_OTHER);
	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_commit(&pair));
	OK(MPI_Status_set_elements_x(&s, pair, 3));
	OK(MPI_Get_elements_x(&s, pair, &x));
	OK(MPI_Get_count(&s, pair, &n));
	CHECK(x == 3 && n == MPI_UNDEFINED);
	OK(MPI_Status_set_elements_x(&s, MPI_CHAR, 5000000000));
	OK(MPI_Get_elements_x(&s, MPI_CHAR, &x));
	OK(MPI_Get_count(&s, MPI_CHAR, &n));
	CHECK(x == 5000000000 && n == MPI_UNDEFINED && s.MPI_SOURCE == 21);
	OK(MPI_Type_free(&pair));
}

static void environment(int argc, char **argv)
{
	MPI_Info i;
	char value[MPI_MAX_INFO_VAL];
	int n = sizeof value, flag;
	OK(MPI_Info_create_env(argc, argv, &i));
	OK(MPI_Info_get_string(i, "thread_level", &n, value, &flag));
	CHECK(flag && strcmp(value, "MPI_THREAD_MULTIPLE") == 0);
	OK(MPI_Info_set(i, "own", "1")); /* it is the program's */
	OK(MPI_Info_get_string(MPI_INFO_ENV, "own", &n, value, &flag));
	CHECK(!flag);
	OK(MPI_Info_free(&i));
	CHECK(i == MPI_INFO_NULL);
}

static void texts(void)
{
	int class, code, n;
	char text[MPI_MAX_ERROR_STRING];
	OK(MPI_Add_error_class(&class));
	OK(MPI_Add_error_code(class, &code));
	OK(MPI_Add_error_string(code, "own"));
	OK(MPI_Error_string(code, text, &n));
	CHECK(n == 3 && strcmp(text, "own") == 0);
	OK(MPI_Remove_error_string(code));
	OK(MPI_Error_string(code, text, &n));
	CHECK(n == 0 && text[0] == 0);
	CHECK(class_of(MPI_Remove_error_string(MPI_ERR_ARG)) == MPI_ERR_ARG);
}

static void *elsewhere(void *flag)
{
	OK(MPI_Is_thread_main(flag));
	return NULL;
}

static void threads(void)
{
	int flag = 77, provided = 77;
	pthread_t t;
	OK(MPI_Query_thread(&provided));
	CHECK(provided == MPI_THREAD_MULTIPLE);
	OK(MPI_Is_thread_main(&flag));
	CHECK(flag == 1);
	CHECK(pthread_create(&t, NULL, elsewhere, &flag) == 0 && pthread_join(t, NULL) == 0 && flag == 0);
	OK(MPI_Pcontrol(0));
	OK(MPI_Pcontrol(2, "more", 3));
}

static int copied, deleted;

static int copies(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	(void)c, (void)key, (void)extra;
	copied++, *(void **)out = in, *flag = 1;
	return MPI_SUCCESS;
}

static int deletes(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c, (void)key, (void)value, (void)extra;
	deleted++;
	return MPI_SUCCESS;
}

static void keys(void)
{
	MPI_Comm c;
	int key, flag, mark;
	void *got = NULL;
	OK(MPI_Keyval_create(copies, deletes, &key, NULL));
	OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &mark));
	OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
	OK(MPI_Comm_get_attr(c, key, &got, &flag));
	CHECK(flag && got == &mark && copied == 1);
	OK(MPI_Comm_free(&c));
	CHECK(deleted == 1);
	OK(MPI_Comm_delete_attr(MPI_COMM_SELF, key));
	OK(MPI_Keyval_free(&key));
	CHECK(deleted == 2 && key == MPI_KEYVAL_INVALID);
	CHECK(class_of(MPI_Keyval_free(&key)) == MPI_ERR_KEYVAL);
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	numbers();
	statuses();
	environment(argc, argv);
	texts();
	threads();
	keys();
	return well();
}
