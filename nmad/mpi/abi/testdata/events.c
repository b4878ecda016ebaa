/* The tools interface has neither events nor enumerations: their numbers are 0, and what names one is an error of the tools interface, before MPI_Init too. */
#include "check.h"

static void never(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *data)
{
	(void)e, (void)r, (void)safety, (void)data;
	abort();
}

static void dropped(MPI_Count n, MPI_T_event_registration r, int source, MPI_T_cb_safety safety, void *data)
{
	(void)n, (void)r, (void)source, (void)safety, (void)data;
	abort();
}

static void freed(MPI_T_event_registration r, MPI_T_cb_safety safety, void *data)
{
	(void)r, (void)safety, (void)data;
	abort();
}

int main(int argc, char **argv)
{
	int n = 77, length = 10, room = 10, at[2] = {55, 55}, categories, i;
	char name[10] = "before", text[10] = "before";
	MPI_Count ticks = 77, most = 77;
	MPI_T_event_registration r = NULL;
	MPI_T_event_instance e = NULL;
	MPI_T_source_order order;
	MPI_Info info = MPI_INFO_NULL;
	const MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_NONE;
	CHECK(MPI_T_event_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED && MPI_T_source_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
	CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, name, &length) == MPI_T_ERR_NOT_INITIALIZED && MPI_T_event_get_index("x", &n) == MPI_T_ERR_NOT_INITIALIZED);
	CHECK(n == 77);
	OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &n));
	OK(MPI_T_event_get_num(&n));
	CHECK(n == 0);
	n = 77;
	OK(MPI_T_source_get_num(&n));
	CHECK(n == 0);
	n = 77;
	CHECK(MPI_T_event_get_index("none", &n) == MPI_T_ERR_INVALID_NAME);
	CHECK(MPI_T_event_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &r) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_source_get_info(0, name, &length, text, &room, &order, &ticks, &most, &info) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_source_get_timestamp(0, &ticks) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_event_callback_get_info(r, safety, &info) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_callback_set_info(r, safety, MPI_INFO_NULL) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_register_callback(r, safety, MPI_INFO_NULL, NULL, never) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_set_dropped_handler(r, dropped) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_handle_get_info(r, &info) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_handle_set_info(r, MPI_INFO_NULL) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_handle_free(r, NULL, freed) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_copy(e, text) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_read(e, 0, text) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_get_source(e, &n) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_get_timestamp(e, &ticks) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, name, &length) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &n, name, &length) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(n == 77 && ticks == 77 && most == 77 && length == 10 && room == 10 && r == NULL && info == MPI_INFO_NULL && strcmp(name, "before") == 0 && strcmp(text, "before") == 0);
	/* Nothing is added to the categories while the process runs, and they have no others in them. */
	OK(MPI_T_category_changed(&length));
	OK(MPI_T_category_get_num(&categories));
	for (i = 0; i < categories; i++) {
		OK(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, &n));
		CHECK(n == 0);
		OK(MPI_T_category_get_categories(i, 2, at));
		OK(MPI_T_category_get_events(i, 2, at));
		CHECK(at[0] == 55 && at[1] == 55);
	}
	CHECK(MPI_T_category_get_categories(categories, 2, at) == MPI_T_ERR_INVALID_INDEX && MPI_T_category_get_events(-1, 2, at) == MPI_T_ERR_INVALID_INDEX);
	OK(MPI_Init(&argc, &argv));
	OK(MPI_T_category_changed(&room));
	CHECK(room == length);
	OK(MPI_T_finalize());
	return well();
}
