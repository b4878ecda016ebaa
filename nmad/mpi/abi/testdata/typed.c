/* Datatypes of the rarer constructors, what they are made of and how long they are, those that a size or a precision names, and what is kept at a datatype. */
#include "check.h"

/* sent is the ints of b that a message of one element has, in the order in which they go. */
static int sent(const int *b, MPI_Datatype t, int *to, int room)
{
	MPI_Status s;
	int n;
	OK(MPI_Sendrecv(b, 1, t, 0, 3, to, room, MPI_INT, 0, 3, MPI_COMM_SELF, &s));
	OK(MPI_Get_count(&s, MPI_INT, &n));
	return n;
}

static void combined(MPI_Datatype t, int as)
{
	int a, b, c, how;
	OK(MPI_Type_get_envelope(t, &a, &b, &c, &how));
	CHECK(how == as);
}

static void indexed(void)
{
	int b[24], got[24], i, lengths[2] = {2, 1}, places[2] = {5, 1};
	MPI_Aint bytes[2] = {5 * sizeof(int), 1 * sizeof(int)}, lb, extent;
	MPI_Count lbx, extentx, size;
	MPI_Datatype t;
	for (i = 0; i < 24; i++)
		b[i] = 100 + i;
	OK(MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	combined(t, MPI_COMBINER_HINDEXED);
	CHECK(sent(b, t, got, 24) == 3 && got[0] == 105 && got[1] == 106 && got[2] == 101);
	OK(MPI_Type_get_true_extent(t, &lb, &extent));
	CHECK(lb == 4 && extent == 24);
	OK(MPI_Type_get_true_extent_x(t, &lbx, &extentx));
	CHECK(lbx == 4 && extentx == 24);
	OK(MPI_Type_get_extent_x(t, &lbx, &extentx));
	CHECK(lbx == 4 && extentx == 24);
	OK(MPI_Type_size_x(t, &size));
	CHECK(size == 12);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_hindexed_block(2, 2, bytes, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	combined(t, MPI_COMBINER_HINDEXED_BLOCK);
	CHECK(sent(b, t, got, 24) == 4 && got[0] == 105 && got[1] == 106 && got[2] == 101 && got[3] == 102);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_indexed_block(2, 3, places, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	combined(t, MPI_COMBINER_INDEXED_BLOCK);
	CHECK(sent(b, t, got, 24) == 6 && got[0] == 105 && got[2] == 107 && got[3] == 101 && got[5] == 103);
	OK(MPI_Type_free(&t));
}

/* The parts of an array of 4 times 6 of two ranks by blocks of columns, and of three by cycles of two rows. */
static void dealt(void)
{
	int b[24], got[24], i, of[2] = {4, 6}, how[2] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK}, by[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {1, 2}, n = 7, two = 2, three = 3, cyclic = MPI_DISTRIBUTE_CYCLIC;
	MPI_Aint lb, extent;
	MPI_Datatype t;
	for (i = 0; i < 24; i++)
		b[i] = i;
	OK(MPI_Type_create_darray(2, 1, 2, of, how, by, grid, MPI_ORDER_C, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	combined(t, MPI_COMBINER_DARRAY);
	CHECK(sent(b, t, got, 24) == 12);
	for (i = 0; i < 12; i++)
		CHECK(got[i] == i / 3 * 6 + 3 + i % 3);
	OK(MPI_Type_get_extent(t, &lb, &extent));
	CHECK(lb == 0 && extent == 24 * sizeof(int));
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_darray(3, 0, 1, &n, &cyclic, &two, &three, MPI_ORDER_FORTRAN, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	CHECK(sent(b, t, got, 24) == 3 && got[0] == 0 && got[1] == 1 && got[2] == 6);
	OK(MPI_Type_free(&t));
}

static void named(void)
{
	MPI_Datatype t, u;
	int n, ints[2];
	OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t));
	CHECK(t == MPI_REAL8);
	OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &t));
	CHECK(t == MPI_INTEGER2);
	OK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 8, &t));
	OK(MPI_Type_size(t, &n));
	CHECK(n == 8 && t == MPI_COMPLEX8);
	CHECK(class_of(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t)) == MPI_ERR_ARG);
	OK(MPI_Type_create_f90_real(10, 200, &t));
	OK(MPI_Type_create_f90_real(10, 200, &u));
	OK(MPI_Type_size(t, &n));
	CHECK(n == 8 && t == u);
	combined(t, MPI_COMBINER_F90_REAL);
	OK(MPI_Type_get_contents(t, 2, 0, 0, ints, NULL, NULL));
	CHECK(ints[0] == 10 && ints[1] == 200);
	OK(MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &t));
	OK(MPI_Type_size(t, &n));
	CHECK(n == 8);
	combined(t, MPI_COMBINER_F90_COMPLEX);
	OK(MPI_Type_create_f90_integer(9, &t));
	OK(MPI_Type_size(t, &n));
	CHECK(n == 4);
	combined(t, MPI_COMBINER_F90_INTEGER);
	CHECK(class_of(MPI_Type_create_f90_integer(100, &t)) == MPI_ERR_ARG && class_of(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &t)) == MPI_ERR_ARG);
	OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &t));
	CHECK(t == MPI_DOUBLE_INT);
	OK(MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &t));
	CHECK(t == MPI_DATATYPE_NULL);
}

static int copied, deleted, state;

static int copies(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag)
{
	(void)t, (void)key;
	copied += extra == &state;
	*(void **)out = (char *)in + 1;
	*flag = 1;
	return MPI_SUCCESS;
}

static int deletes(MPI_Datatype t, int key, void *value, void *extra)
{
	(void)t, (void)key, (void)value;
	deleted += extra == &state;
	return MPI_SUCCESS;
}

static void kept(void)
{
	MPI_Datatype t, u;
	char values[8], *got = NULL;
	int key, was, flag = 77, n;
	OK(MPI_Type_create_keyval(copies, deletes, &key, &state));
	OK(MPI_Type_contiguous(5, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Type_get_attr(t, key, &got, &flag));
	CHECK(!flag && got == NULL);
	OK(MPI_Type_set_attr(t, key, values));
	OK(MPI_Type_get_attr(t, key, &got, &flag));
	CHECK(flag && got == values);
	OK(MPI_Type_dup(t, &u));
	combined(u, MPI_COMBINER_DUP);
	OK(MPI_Type_size(u, &n));
	CHECK(n == 20 && copied == 1 && u != t);
	OK(MPI_Type_get_attr(u, key, &got, &flag));
	CHECK(flag && got == values + 1);
	OK(MPI_Type_set_attr(t, key, values + 4)); /* ends the one before */
	CHECK(deleted == 1);
	OK(MPI_Type_delete_attr(t, key));
	OK(MPI_Type_get_attr(t, key, &got, &flag));
	CHECK(deleted == 2 && !flag);
	was = key;
	OK(MPI_Type_free_keyval(&key));
	CHECK(key == MPI_KEYVAL_INVALID);
	OK(MPI_Type_get_attr(u, was, &got, &flag)); /* which has one still */
	CHECK(flag);
	OK(MPI_Type_free(&u));
	CHECK(deleted == 3);
	CHECK(class_of(MPI_Type_set_attr(t, was, values)) == MPI_ERR_KEYVAL);
	CHECK(MPI_Type_fromint(MPI_Type_toint(t)) == t && MPI_Type_fromint(MPI_Type_toint(MPI_INT)) == MPI_INT);
	OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	indexed();
	dealt();
	named();
	kept();
	return well();
}
