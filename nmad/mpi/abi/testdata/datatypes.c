/* Datatypes: how they lie, how they were made, and what is packed. */
#include "check.h"
#include <stddef.h>

struct mixed {
	char c;
	double d[2];
	short s;
};

static void lies(MPI_Datatype t, int size, MPI_Aint lower, MPI_Aint extent)
{
	int n;
	MPI_Aint lb, ext;
	OK(MPI_Type_size(t, &n));
	OK(MPI_Type_get_extent(t, &lb, &ext));
	CHECK(n == size && lb == lower && ext == extent);
}

static void structs(void)
{
	int blocks[3] = {1, 2, 1}, ints[4], i, a, b, c, how;
	MPI_Aint at[3] = {offsetof(struct mixed, c), offsetof(struct mixed, d), offsetof(struct mixed, s)}, got[3];
	MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, t, again[3];
	struct mixed in[3], out[3];
	OK(MPI_Type_create_struct(3, blocks, at, types, &t));
	OK(MPI_Type_commit(&t));
	lies(t, 19, 0, sizeof(struct mixed));
	OK(MPI_Type_get_envelope(t, &a, &b, &c, &how));
	CHECK(a == 4 && b == 3 && c == 3 && how == MPI_COMBINER_STRUCT);
	OK(MPI_Type_get_contents(t, 4, 3, 3, ints, got, again));
	CHECK(ints[0] == 3 && ints[2] == 2 && got[2] == at[2] && again[1] == MPI_DOUBLE);
	memset(out, 0, sizeof out);
	for (i = 0; i < 3; i++)
		in[i] = (struct mixed){.c = (char)i, .d = {i, -i}, .s = (short)(7 * i)};
	OK(MPI_Sendrecv(in, 3, t, 0, 0, out, 3, t, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
	for (i = 0; i < 3; i++)
		CHECK(out[i].c == i && out[i].d[1] == -i && out[i].s == 7 * i);
	OK(MPI_Type_free(&t));
	CHECK(t == MPI_DATATYPE_NULL);
}

static void vectors(void)
{
	int matrix[4][5], column[4], i, j, n, counts[2] = {2, 1}, places[2] = {3, 0}, position;
	MPI_Datatype t, u;
	MPI_Status s;
	char packed[100], name[MPI_MAX_OBJECT_NAME];
	MPI_Count count;
	for (i = 0; i < 4; i++)
		for (j = 0; j < 5; j++)
			matrix[i][j] = 10 * i + j;
	OK(MPI_Type_vector(4, 1, 5, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	lies(t, 16, 0, 64);
	OK(MPI_Sendrecv(&matrix[0][2], 1, t, 0, 0, column, 4, MPI_INT, 0, 0, MPI_COMM_SELF, &s));
	for (i = 0; i < 4; i++)
		CHECK(column[i] == 10 * i + 2);
	OK(MPI_Get_count(&s, t, &n));
	CHECK(n == 1);
	OK(MPI_Get_elements(&s, t, &n));
	CHECK(n == 4);
	OK(MPI_Sendrecv(packed, 6, MPI_BYTE, 0, 0, matrix, 1, t, 0, 0, MPI_COMM_SELF, &s));
	OK(MPI_Get_elements(&s, t, &n));
	CHECK(n == MPI_UNDEFINED); /* a number and a half */
	for (i = 0; i < 4; i++)
		for (j = 0; j < 5; j++)
			matrix[i][j] = 10 * i + j;
	OK(MPI_Type_create_resized(t, 0, sizeof(int), &u));
	lies(u, 16, 0, 4);
	OK(MPI_Type_free(&u));
	OK(MPI_Type_indexed(2, counts, places, MPI_INT, &u));
	lies(u, 12, 0, 20);
	OK(MPI_Type_commit(&u));
	OK(MPI_Pack_size(1, u, MPI_COMM_SELF, &n));
	CHECK(n >= 12);
	position = 0;
	OK(MPI_Pack(matrix, 1, u, packed, sizeof packed, &position, MPI_COMM_SELF));
	CHECK(position == 12);
	OK(MPI_Pack(NULL, 0, MPI_INT, NULL, 16, &position, MPI_COMM_SELF));
	OK(MPI_Unpack(NULL, 16, &position, NULL, 0, MPI_INT, MPI_COMM_SELF));
	CHECK(position == 12);
	position = 0;
	OK(MPI_Unpack(packed, sizeof packed, &position, column, 3, MPI_INT, MPI_COMM_SELF));
	CHECK(column[0] == 3 && column[1] == 4 && column[2] == 0);
	OK(MPI_Type_set_name(u, "mine"));
	OK(MPI_Type_get_name(u, name, &n));
	CHECK(strcmp(name, "mine") == 0);
	OK(MPI_Type_size_c(u, &count));
	CHECK(count == 12);
	OK(MPI_Type_free(&u));
	OK(MPI_Type_free(&t));
	OK(MPI_Type_get_name(MPI_INT, name, &n));
	CHECK(strcmp(name, "MPI_INT") == 0 && n == 7);
	lies(MPI_DOUBLE_INT, 12, 0, 16);
	lies(MPI_LONG_DOUBLE, sizeof(long double), 0, sizeof(long double));
	lies(MPI_SHORT_INT, 6, 0, 8);
	lies(MPI_C_BOOL, 1, 0, 1);
	lies(MPI_WCHAR, sizeof(L'x'), 0, sizeof(L'x'));
}

static void addresses(void)
{
	int a = 5, b = 0, one[2] = {1, 1};
	MPI_Aint at[2];
	MPI_Datatype t, types[2] = {MPI_INT, MPI_INT};
	MPI_Request r;
	int in[2] = {0, 0};
	OK(MPI_Get_address(&a, &at[0]));
	OK(MPI_Get_address(&b, &at[1]));
	b = 6;
	CHECK(MPI_Aint_add(at[0], MPI_Aint_diff(at[1], at[0])) == at[1]);
	OK(MPI_Type_create_struct(2, one, at, types, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Isend(MPI_BOTTOM, 1, t, 0, 3, MPI_COMM_SELF, &r));
	OK(MPI_Recv(in, 2, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(in[0] == 5 && in[1] == 6);
	OK(MPI_Type_free(&t));
}

static void external(void)
{
	int in[2] = {0x01020304, -2}, out[2];
	unsigned char b[8];
	MPI_Aint position = 0, size;
	OK(MPI_Pack_external_size("external32", 2, MPI_INT, &size));
	CHECK(size == 8);
	OK(MPI_Pack_external("external32", in, 2, MPI_INT, b, 8, &position));
	CHECK(position == 8 && b[0] == 1 && b[3] == 4 && b[7] == 0xfe);
	position = 0;
	OK(MPI_Unpack_external("external32", b, 8, &position, out, 2, MPI_INT));
	CHECK(out[0] == in[0] && out[1] == in[1]);
}

/* Large counts are told as such, and by the wide form only. */
static void wide(void)
{
	MPI_Datatype t, of;
	MPI_Count ints, addresses, large, types, counts[6];
	const MPI_Count sizes[2] = {(MPI_Count)1 << 33, 4}, parts[2] = {2, 3}, from[2] = {1, 0};
	int how, n[4], narrow[8];
	MPI_Aint at[1];
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	OK(MPI_Type_vector_c(2, 1, (MPI_Count)1 << 33, MPI_INT, &t));
	OK(MPI_Type_get_envelope_c(t, &ints, &addresses, &large, &types, &how));
	CHECK(ints == 0 && addresses == 0 && large == 3 && types == 1 && how == MPI_COMBINER_VECTOR);
	OK(MPI_Type_get_contents_c(t, 0, 0, 3, 1, NULL, NULL, counts, &of));
	CHECK(counts[0] == 2 && counts[1] == 1 && counts[2] == (MPI_Count)1 << 33 && of == MPI_INT);
	CHECK(class_of(MPI_Type_get_contents_c(t, 3, 0, 2, 1, narrow, NULL, counts, &of)) == MPI_ERR_ARG);
	CHECK(class_of(MPI_Type_get_envelope(t, &n[0], &n[1], &n[2], &how)) == MPI_ERR_TYPE);
	CHECK(class_of(MPI_Type_get_contents(t, 8, 1, 1, narrow, at, &of)) == MPI_ERR_TYPE);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_hvector_c(2, 1, 16, MPI_INT, &t));
	OK(MPI_Type_get_envelope_c(t, &ints, &addresses, &large, &types, &how));
	CHECK(ints == 0 && addresses == 0 && large == 3 && how == MPI_COMBINER_HVECTOR);
	OK(MPI_Type_get_contents_c(t, 0, 0, 3, 1, NULL, NULL, counts, &of));
	CHECK(counts[0] == 2 && counts[1] == 1 && counts[2] == 16);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_subarray_c(2, sizes, parts, from, MPI_ORDER_C, MPI_BYTE, &t));
	OK(MPI_Type_get_envelope_c(t, &ints, &addresses, &large, &types, &how));
	CHECK(ints == 2 && addresses == 0 && large == 6 && types == 1 && how == MPI_COMBINER_SUBARRAY);
	OK(MPI_Type_get_contents_c(t, 2, 0, 6, 1, narrow, NULL, counts, &of));
	CHECK(narrow[0] == 2 && narrow[1] == MPI_ORDER_C && counts[0] == sizes[0] && counts[3] == 3 && counts[4] == 1);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_vector(2, 1, 3, MPI_INT, &t));
	OK(MPI_Type_get_envelope_c(t, &ints, &addresses, &large, &types, &how));
	CHECK(ints == 3 && addresses == 0 && large == 0 && types == 1);
	OK(MPI_Type_get_contents_c(t, 3, 0, 0, 1, narrow, NULL, NULL, &of));
	CHECK(narrow[0] == 2 && narrow[2] == 3);
	OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	structs();
	vectors();
	addresses();
	external();
	wide();
	return well();
}
