/* The external32 representation: how long it is of each datatype, and what it has. */
#include "check.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <wchar.h>

static void sizes(void)
{
	struct { MPI_Datatype type; int size; } all[] = {
		{MPI_PACKED, 1}, {MPI_BYTE, 1}, {MPI_CHAR, 1}, {MPI_UNSIGNED_CHAR, 1}, {MPI_SIGNED_CHAR, 1}, {MPI_WCHAR, 2}, {MPI_SHORT, 2}, {MPI_UNSIGNED_SHORT, 2}, {MPI_INT, 4}, {MPI_UNSIGNED, 4},
		{MPI_LONG, 4}, {MPI_UNSIGNED_LONG, 4}, {MPI_LONG_LONG_INT, 8}, {MPI_UNSIGNED_LONG_LONG, 8}, {MPI_FLOAT, 4}, {MPI_DOUBLE, 8}, {MPI_LONG_DOUBLE, 16}, {MPI_C_BOOL, 1}, {MPI_INT64_T, 8}, {MPI_AINT, 8},
		{MPI_COUNT, 8}, {MPI_OFFSET, 8}, {MPI_C_COMPLEX, 8}, {MPI_C_DOUBLE_COMPLEX, 16}, {MPI_C_LONG_DOUBLE_COMPLEX, 32}, {MPI_CHARACTER, 1}, {MPI_LOGICAL, 4}, {MPI_INTEGER, 4}, {MPI_REAL, 4},
		{MPI_DOUBLE_PRECISION, 8}, {MPI_COMPLEX, 8}, {MPI_DOUBLE_COMPLEX, 16}, {MPI_LONG_INT, 8}, {MPI_DOUBLE_INT, 12}, {MPI_LONG_DOUBLE_INT, 20},
	};
	unsigned i;
	MPI_Aint n;
	for (i = 0; i < sizeof all / sizeof *all; i++) {
		OK(MPI_Pack_external_size("external32", 3, all[i].type, &n));
		CHECK(n == 3 * all[i].size);
	}
}

static void longs(void)
{
	struct pair { long v; int i; } in[2] = {{-5, 6}, {INT_MAX, -1}}, out[2];
	long many[4] = {1, -2, INT_MIN, 4}, back[4] = {0};
	unsigned long large = UINT_MAX, also = 0;
	wchar_t text[3] = L"a\u20ac", again[3] = {0};
	unsigned char wire[64];
	static const unsigned char want[] = {0, 0, 0, 1, 0x80, 0, 0, 0};
	MPI_Datatype every, inside;
	MPI_Aint n, at = 0;
	OK(MPI_Type_vector(2, 1, 2, MPI_LONG, &every));
	OK(MPI_Type_commit(&every));
	OK(MPI_Pack_external_size("external32", 1, every, &n));
	CHECK(n == 8);
	OK(MPI_Pack_external("external32", many, 1, every, wire, sizeof wire, &at));
	CHECK(at == 8 && memcmp(wire, want, 8) == 0);
	at = 0;
	OK(MPI_Unpack_external("external32", wire, 8, &at, back, 1, every));
	CHECK(at == 8 && back[0] == 1 && back[1] == 0 && back[2] == INT_MIN && back[3] == 0);
	OK(MPI_Type_free(&every));
	at = 0;
	OK(MPI_Pack_external("external32", in, 2, MPI_LONG_INT, wire, sizeof wire, &at));
	CHECK(at == 16);
	at = 0;
	OK(MPI_Unpack_external("external32", wire, 16, &at, out, 2, MPI_LONG_INT));
	CHECK(out[0].v == -5 && out[0].i == 6 && out[1].v == INT_MAX && out[1].i == -1);
	at = 0;
	OK(MPI_Pack_external("external32", &large, 1, MPI_UNSIGNED_LONG, wire, sizeof wire, &at));
	OK(MPI_Pack_external("external32", text, 3, MPI_WCHAR, wire, sizeof wire, &at));
	CHECK(at == 10);
	at = 0;
	OK(MPI_Unpack_external("external32", wire, 10, &at, &also, 1, MPI_UNSIGNED_LONG));
	OK(MPI_Unpack_external("external32", wire, 10, &at, again, 3, MPI_WCHAR));
	CHECK(also == UINT_MAX && wcscmp(text, again) == 0);
	/* What is too large is an error, also in a datatype that has it somewhere. */
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	many[2] = LONG_MAX, at = 0;
	OK(MPI_Type_contiguous(4, MPI_LONG, &inside));
	OK(MPI_Type_commit(&inside));
	CHECK(class_of(MPI_Pack_external("external32", many, 1, inside, wire, sizeof wire, &at)) == MPI_ERR_CONVERSION);
	CHECK(class_of(MPI_Pack_external("external32", many, 1, inside, wire, 15, &at)) == MPI_ERR_ARG);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
	OK(MPI_Type_free(&inside));
}

static void long_doubles(void)
{
	long double in[] = {0, -0.0L, 1, -2.5L, 1.0L / 3, 0x1p-16382L, 0x1p-16445L, 0x1.fffffffffffffffep16383L, INFINITY, -INFINITY, NAN}, out[11];
	static const unsigned char one[16] = {0x3f, 0xff}, less[16] = {0xc0, 0, 0x40};
	unsigned char wire[sizeof in];
	MPI_Aint at = 0;
	int i;
	OK(MPI_Pack_external("external32", in, 11, MPI_LONG_DOUBLE, wire, sizeof wire, &at));
	CHECK(at == 176 && memcmp(wire + 32, one, 16) == 0 && memcmp(wire + 48, less, 16) == 0);
	at = 0;
	OK(MPI_Unpack_external("external32", wire, sizeof wire, &at, out, 11, MPI_LONG_DOUBLE));
	for (i = 0; i < 10; i++)
		CHECK(in[i] == out[i] && signbit(in[i]) == signbit(out[i]));
	CHECK(isnan(out[10]));
	wire[15] = 1, wire[7] = 0x80, at = 0; /* a number between two of this machine's, and beyond */
	OK(MPI_Unpack_external("external32", wire, 16, &at, out, 1, MPI_LONG_DOUBLE));
	CHECK(out[0] > 0 && out[0] < 0x1p-16382L);
	memset(wire, 0xff, 16);
	wire[0] = 0x3f, at = 0; /* nearest to 2 */
	OK(MPI_Unpack_external("external32", wire, 16, &at, out, 1, MPI_LONG_DOUBLE));
	CHECK(out[0] == 2 || LDBL_MANT_DIG > 64);
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	sizes();
	longs();
	long_doubles();
	return well();
}
