/* What the library does not have, files and names of services, it refuses by an error that says so, and leaves what was to be written as it was. */
#include "check.h"
#include <stddef.h>

static int n;

#define REFUSED(x) \
	do { \
		CHECK(class_of(x) == MPI_ERR_UNSUPPORTED_OPERATION); \
		n++; \
	} while (0)

static const MPI_File f = MPI_FILE_NULL;
static char b[8] = "before";
static MPI_Status status;
static MPI_Request r = MPI_REQUEST_NULL;
static MPI_Offset offset = 77;

static void about(void)
{
	MPI_File file = MPI_FILE_NULL;
	MPI_Group g = MPI_GROUP_NULL;
	MPI_Info i = MPI_INFO_NULL;
	MPI_Datatype t = MPI_DATATYPE_NULL, u = MPI_DATATYPE_NULL;
	MPI_Aint extent = 77;
	int flag = 77;
	char rep[MPI_MAX_DATAREP_STRING] = "before";
	MPI_Errhandler h;
	CHECK(MPI_File_toint(f) == 0x118 && MPI_File_fromint(0x118) == f);
	OK(MPI_File_get_errhandler(f, &h));
	CHECK(h == MPI_ERRORS_RETURN);
	REFUSED(MPI_File_open(MPI_COMM_SELF, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
	REFUSED(MPI_File_close(&file));
	CHECK(file == MPI_FILE_NULL);
	REFUSED(MPI_File_delete("none", MPI_INFO_NULL));
	REFUSED(MPI_File_get_amode(f, &flag));
	REFUSED(MPI_File_get_atomicity(f, &flag));
	REFUSED(MPI_File_set_atomicity(f, 1));
	REFUSED(MPI_File_get_byte_offset(f, 1, &offset));
	REFUSED(MPI_File_get_group(f, &g));
	REFUSED(MPI_File_get_info(f, &i));
	REFUSED(MPI_File_set_info(f, MPI_INFO_NULL));
	REFUSED(MPI_File_get_position(f, &offset));
	REFUSED(MPI_File_get_position_shared(f, &offset));
	REFUSED(MPI_File_get_size(f, &offset));
	REFUSED(MPI_File_set_size(f, 1));
	REFUSED(MPI_File_get_type_extent(f, MPI_INT, &extent));
	REFUSED(MPI_File_get_view(f, &offset, &t, &u, rep));
	REFUSED(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
	REFUSED(MPI_File_preallocate(f, 1));
	REFUSED(MPI_File_seek(f, 0, MPI_SEEK_SET));
	REFUSED(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	REFUSED(MPI_File_sync(f));
	CHECK(flag == 77 && extent == 77 && g == MPI_GROUP_NULL && i == MPI_INFO_NULL && t == MPI_DATATYPE_NULL && u == t && strcmp(rep, "before") == 0);
}

static void reads(void)
{
	REFUSED(MPI_File_iread(f, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_iread_all(f, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_iread_at(f, 0, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_iread_at_all(f, 0, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_iread_shared(f, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_read(f, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_read_all(f, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_read_all_begin(f, b, 8, MPI_CHAR));
	REFUSED(MPI_File_read_all_end(f, b, &status));
	REFUSED(MPI_File_read_at(f, 0, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_read_at_all(f, 0, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_read_at_all_begin(f, 0, b, 8, MPI_CHAR));
	REFUSED(MPI_File_read_at_all_end(f, b, &status));
	REFUSED(MPI_File_read_ordered(f, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_read_ordered_begin(f, b, 8, MPI_CHAR));
	REFUSED(MPI_File_read_ordered_end(f, b, &status));
	REFUSED(MPI_File_read_shared(f, b, 8, MPI_CHAR, &status));
}

static void writes(void)
{
	REFUSED(MPI_File_iwrite(f, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_iwrite_all(f, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_iwrite_at(f, 0, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_iwrite_at_all(f, 0, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_iwrite_shared(f, b, 8, MPI_CHAR, &r));
	REFUSED(MPI_File_write(f, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_write_all(f, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_write_all_begin(f, b, 8, MPI_CHAR));
	REFUSED(MPI_File_write_all_end(f, b, &status));
	REFUSED(MPI_File_write_at(f, 0, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_write_at_all(f, 0, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_write_at_all_begin(f, 0, b, 8, MPI_CHAR));
	REFUSED(MPI_File_write_at_all_end(f, b, &status));
	REFUSED(MPI_File_write_ordered(f, b, 8, MPI_CHAR, &status));
	REFUSED(MPI_File_write_ordered_begin(f, b, 8, MPI_CHAR));
	REFUSED(MPI_File_write_ordered_end(f, b, &status));
	REFUSED(MPI_File_write_shared(f, b, 8, MPI_CHAR, &status));
}

static int extent_of(MPI_Datatype t, MPI_Aint *extent, void *state)
{
	(void)t, (void)state;
	*extent = 4;
	return MPI_SUCCESS;
}

static void services(void)
{
	char port[MPI_MAX_PORT_NAME] = "before";
	REFUSED(MPI_Register_datarep("own", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL));
	REFUSED(MPI_Open_port(MPI_INFO_NULL, port));
	REFUSED(MPI_Publish_name("service", MPI_INFO_NULL, port));
	REFUSED(MPI_Lookup_name("service", MPI_INFO_NULL, port));
	REFUSED(MPI_Unpublish_name("service", MPI_INFO_NULL, port));
	CHECK(strcmp(port, "before") == 0);
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	status.MPI_TAG = 12;
	about();
	reads();
	writes();
	services();
	CHECK(n == 60 && offset == 77 && status.MPI_TAG == 12 && r == MPI_REQUEST_NULL && strcmp(b, "before") == 0);
	return well();
}
