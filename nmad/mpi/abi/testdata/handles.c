/* Handles that are used after their end, or are of another kind, are errors; their numbers for Fortran lead back. */
#include "check.h"

static int told, told_code;
static MPI_Comm told_of;

static void handler(MPI_Comm *c, int *code, ...)
{
	told++, told_code = *code, told_of = *c;
}

int main(int argc, char **argv)
{
	MPI_Comm c, stale;
	MPI_Datatype t, old;
	MPI_Group g, gone;
	MPI_Request r, done;
	MPI_Info i, none;
	MPI_Errhandler h, got;
	int x = 1, y = 0, n, code, class;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Init(&argc, &argv);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	CHECK(MPI_Comm_fromint(MPI_Comm_toint(c)) == c && MPI_Comm_toint(MPI_COMM_WORLD) == 0x101);
	stale = c;
	OK(MPI_Comm_free(&c));
	CHECK(c == MPI_COMM_NULL);
	CHECK(class_of(MPI_Comm_rank(stale, &n)) == MPI_ERR_COMM);
	CHECK(class_of(MPI_Barrier(stale)) == MPI_ERR_COMM);
	CHECK(MPI_Comm_fromint(MPI_Comm_toint(stale)) != stale);
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &c)); /* in the place of the other one */
	CHECK(c != stale && class_of(MPI_Barrier(stale)) == MPI_ERR_COMM);
	CHECK(class_of(MPI_Barrier((MPI_Comm)MPI_INFO_NULL)) == MPI_ERR_COMM);
	CHECK(class_of(MPI_Barrier((MPI_Comm)&x)) == MPI_ERR_COMM);
	OK(MPI_Type_contiguous(3, MPI_INT, &t));
	CHECK(class_of(MPI_Send(&x, 1, t, 0, 0, MPI_COMM_SELF)) == MPI_ERR_TYPE); /* not committed */
	CHECK(class_of(MPI_Barrier((MPI_Comm)t)) == MPI_ERR_COMM);
	old = t;
	OK(MPI_Type_free(&t));
	CHECK(class_of(MPI_Type_size(old, &n)) == MPI_ERR_TYPE);
	OK(MPI_Comm_group(MPI_COMM_WORLD, &g));
	gone = g;
	OK(MPI_Group_free(&g));
	CHECK(class_of(MPI_Group_size(gone, &n)) == MPI_ERR_GROUP);
	OK(MPI_Irecv(&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
	done = r;
	OK(MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(class_of(MPI_Wait(&done, MPI_STATUS_IGNORE)) == MPI_ERR_REQUEST);
	OK(MPI_Info_create(&i));
	none = i;
	OK(MPI_Info_free(&i));
	CHECK(class_of(MPI_Info_set(none, "a", "b")) == MPI_ERR_INFO);
	/* A handler of the program's hears of errors of its communicator, with the handle that the program has. */
	OK(MPI_Comm_create_errhandler(handler, &h));
	OK(MPI_Comm_set_errhandler(c, h));
	OK(MPI_Errhandler_free(&h));
	code = MPI_Send(&x, 1, MPI_INT, 5, 0, c);
	CHECK(told == 1 && told_of == c && told_code == code && class_of(code) == MPI_ERR_RANK);
	OK(MPI_Comm_get_errhandler(c, &got));
	CHECK(got != MPI_ERRHANDLER_NULL);
	OK(MPI_Errhandler_free(&got));
	OK(MPI_Add_error_class(&class));
	OK(MPI_Add_error_code(class, &code));
	OK(MPI_Add_error_string(code, "of the program"));
	OK(MPI_Error_string(code, text, &n));
	CHECK(strcmp(text, "of the program") == 0 && n == 14 && class_of(code) == class);
	OK(MPI_Comm_call_errhandler(c, code));
	CHECK(told == 2 && told_code == code);
	OK(MPI_Comm_free(&c));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
	CHECK(class_of(MPI_Comm_connect("x", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &c)) == MPI_ERR_UNSUPPORTED_OPERATION); /* by the handler of the communicator */
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)); /* files have their own, which returns */
	CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, (MPI_File[1]){0})) == MPI_ERR_UNSUPPORTED_OPERATION);
	return well();
}
