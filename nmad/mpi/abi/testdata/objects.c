/* Groups, infos and attributes. */
#include "check.h"

static int copies, deletes;

static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	(void)c, (void)key;
	copies += *(int *)extra;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c, (void)key, (void)value;
	deletes += *(int *)extra;
	return MPI_SUCCESS;
}

static int refuse(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	(void)c, (void)key, (void)extra, (void)in, (void)out;
	*flag = 0;
	return MPI_ERR_KEYVAL;
}

static void attributes(void)
{
	int key, extra = 1, x, flag, *value;
	MPI_Comm c, d;
	OK(MPI_Comm_create_keyval(copy, delete, &key, &extra));
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	OK(MPI_Comm_set_attr(c, key, &x));
	OK(MPI_Comm_dup(c, &d));
	OK(MPI_Comm_get_attr(d, key, &value, &flag));
	CHECK(flag && value == &x && copies == 1);
	OK(MPI_Comm_delete_attr(d, key));
	OK(MPI_Comm_get_attr(d, key, &value, &flag));
	CHECK(!flag && deletes == 1);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_free(&c));
	CHECK(deletes == 2);
	OK(MPI_Comm_free_keyval(&key));
	CHECK(key == MPI_KEYVAL_INVALID);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL));
	OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &x));
	CHECK(class_of(MPI_Comm_dup(MPI_COMM_WORLD, &c)) == MPI_ERR_KEYVAL);
	OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
	CHECK(flag && *value >= 32767);
}

/* What is there from the start. */
static void given(void)
{
	int *value, flag, n, i, room = 10;
	char text[MPI_MAX_ERROR_STRING], before[MPI_MAX_ERROR_STRING] = "", size[10];
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
	CHECK(flag && *value == 0);
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
	CHECK(flag && *value == 1);
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
	CHECK(flag && *value == size_of(MPI_COMM_WORLD));
	OK(MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &room, size, &flag));
	CHECK(flag && atoi(size) == size_of(MPI_COMM_WORLD));
	for (i = MPI_SUCCESS; i <= MPI_T_ERR_PVAR_NO_ATOMIC; i++) {
		if (i > MPI_ERR_ABI && i < MPI_T_ERR_CANNOT_INIT)
			continue;
		CHECK(class_of(i) == i);
		OK(MPI_Error_string(i, text, &n));
		CHECK(n > 5 && n == (int)strlen(text) && strcmp(text, before) != 0);
		strcpy(before, text);
	}
}

static int told;

static void tell(MPI_File *f, int *code, ...)
{
	told += *f == MPI_FILE_NULL && class_of(*code) == MPI_ERR_UNSUPPORTED_OPERATION;
}

/* Classes and codes of the program's, and the handler of files, of which there are none. */
static void errors(void)
{
	int class, code, n, *last, flag;
	char text[MPI_MAX_ERROR_STRING] = "x";
	MPI_Errhandler h, old;
	MPI_File f;
	OK(MPI_Add_error_class(&class));
	OK(MPI_Add_error_code(class, &code));
	OK(MPI_Add_error_code(MPI_ERR_RANK, &n));
	CHECK(class_of(code) == class && class_of(n) == MPI_ERR_RANK && class_of(class) == class);
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
	CHECK(flag && *last == n);
	OK(MPI_Error_string(code, text, &flag));
	CHECK(flag == 0 && *text == 0);
	OK(MPI_Add_error_string(code, "mine"));
	OK(MPI_Error_string(code, text, &flag));
	CHECK(strcmp(text, "mine") == 0);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	CHECK(class_of(MPI_Add_error_code(code, &flag)) == MPI_ERR_ARG && class_of(MPI_Remove_error_class(class)) == MPI_ERR_ARG);
	OK(MPI_Remove_error_code(code));
	OK(MPI_Remove_error_code(n));
	OK(MPI_Remove_error_class(class));
	CHECK(class_of(MPI_File_open(MPI_COMM_SELF, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &f)) == MPI_ERR_UNSUPPORTED_OPERATION);
	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &old));
	CHECK(old == MPI_ERRORS_RETURN);
	OK(MPI_File_create_errhandler(tell, &h));
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, h));
	CHECK(MPI_File_open(MPI_COMM_SELF, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &f) != MPI_SUCCESS && told == 1);
	OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_UNSUPPORTED_OPERATION));
	CHECK(told == 2);
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, old));
	OK(MPI_Errhandler_free(&h));
}

static void infos(void)
{
	MPI_Info i, j;
	char value[100], key[MPI_MAX_INFO_KEY];
	int flag, n, room = sizeof value;
	OK(MPI_Info_create(&i));
	OK(MPI_Info_set(i, "fruit", "apple"));
	OK(MPI_Info_set(i, "colour", "red"));
	OK(MPI_Info_dup(i, &j));
	OK(MPI_Info_delete(i, "fruit"));
	OK(MPI_Info_get_nkeys(i, &n));
	CHECK(n == 1);
	OK(MPI_Info_get_nthkey(j, 1, key));
	CHECK(strcmp(key, "colour") == 0);
	OK(MPI_Info_get_string(j, "fruit", &room, value, &flag));
	CHECK(flag && room == 6 && strcmp(value, "apple") == 0);
	OK(MPI_Info_get(i, "fruit", 9, value, &flag));
	CHECK(!flag);
	OK(MPI_Info_free(&i));
	OK(MPI_Info_free(&j));
}

static void groups(void)
{
	MPI_Group g, none;
	int n, zero = 0, r;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &g));
	OK(MPI_Group_excl(g, 1, &zero, &none));
	CHECK(none == MPI_GROUP_EMPTY);
	OK(MPI_Group_compare(g, none, &n));
	CHECK(n == MPI_UNEQUAL);
	OK(MPI_Group_translate_ranks(g, 1, &zero, g, &r));
	CHECK(r == 0);
	OK(MPI_Group_translate_ranks(g, 1, &zero, none, &r));
	CHECK(r == MPI_UNDEFINED);
	OK(MPI_Group_free(&g));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	attributes();
	given();
	infos();
	errors();
	groups();
	return well();
}
