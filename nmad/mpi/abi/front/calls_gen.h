/* Made of table.txt by go generate; do not edit. */

int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false, int *is_set)
{
	struct pm2_call c;
	c.function = 0, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)logical_size;
	c.word[1] = (intptr_t)(void *)logical_true;
	c.word[2] = (intptr_t)(void *)logical_false;
	c.word[3] = (intptr_t)(void *)is_set;
	return cross(&c);
}
extern __typeof__(PMPI_Abi_get_fortran_booleans) MPI_Abi_get_fortran_booleans __attribute__((weak, alias("PMPI_Abi_get_fortran_booleans")));

int PMPI_Abi_get_fortran_info(MPI_Info *info)
{
	struct pm2_call c;
	c.function = 1, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_Abi_get_fortran_info) MPI_Abi_get_fortran_info __attribute__((weak, alias("PMPI_Abi_get_fortran_info")));

int PMPI_Abi_get_info(MPI_Info *info)
{
	struct pm2_call c;
	c.function = 2, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_Abi_get_info) MPI_Abi_get_info __attribute__((weak, alias("PMPI_Abi_get_info")));

extern __typeof__(PMPI_Abi_get_version) MPI_Abi_get_version __attribute__((weak, alias("PMPI_Abi_get_version")));

int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
	struct pm2_call c;
	c.function = 4, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)logical_size;
	c.word[1] = (intptr_t)(void *)logical_true;
	c.word[2] = (intptr_t)(void *)logical_false;
	return cross(&c);
}
extern __typeof__(PMPI_Abi_set_fortran_booleans) MPI_Abi_set_fortran_booleans __attribute__((weak, alias("PMPI_Abi_set_fortran_booleans")));

int PMPI_Abi_set_fortran_info(MPI_Info info)
{
	struct pm2_call c;
	c.function = 5, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_Abi_set_fortran_info) MPI_Abi_set_fortran_info __attribute__((weak, alias("PMPI_Abi_set_fortran_info")));

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
	struct pm2_call c;
	c.function = 6, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)errorcode;
	return cross(&c);
}
extern __typeof__(PMPI_Abort) MPI_Abort __attribute__((weak, alias("PMPI_Abort")));

int PMPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct pm2_call c;
	c.function = 7, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)op;
	c.word[8] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Accumulate) MPI_Accumulate __attribute__((weak, alias("PMPI_Accumulate")));

int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct pm2_call c;
	c.function = 7, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)op;
	c.word[8] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Accumulate_c) MPI_Accumulate_c __attribute__((weak, alias("PMPI_Accumulate_c")));

int PMPI_Add_error_class(int *errorclass)
{
	struct pm2_call c;
	c.function = 8, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)errorclass;
	return cross(&c);
}
extern __typeof__(PMPI_Add_error_class) MPI_Add_error_class __attribute__((weak, alias("PMPI_Add_error_class")));

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
	struct pm2_call c;
	c.function = 9, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)errorclass;
	c.word[1] = (intptr_t)(void *)errorcode;
	return cross(&c);
}
extern __typeof__(PMPI_Add_error_code) MPI_Add_error_code __attribute__((weak, alias("PMPI_Add_error_code")));

int PMPI_Add_error_string(int errorcode, const char *string)
{
	struct pm2_call c;
	c.function = 10, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)errorcode;
	c.word[1] = (intptr_t)(void *)string;
	return cross(&c);
}
extern __typeof__(PMPI_Add_error_string) MPI_Add_error_string __attribute__((weak, alias("PMPI_Add_error_string")));

extern __typeof__(PMPI_Aint_add) MPI_Aint_add __attribute__((weak, alias("PMPI_Aint_add")));

extern __typeof__(PMPI_Aint_diff) MPI_Aint_diff __attribute__((weak, alias("PMPI_Aint_diff")));

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 13, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Allgather) MPI_Allgather __attribute__((weak, alias("PMPI_Allgather")));

int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 13, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Allgather_c) MPI_Allgather_c __attribute__((weak, alias("PMPI_Allgather_c")));

int PMPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 14, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Allgather_init) MPI_Allgather_init __attribute__((weak, alias("PMPI_Allgather_init")));

int PMPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 14, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Allgather_init_c) MPI_Allgather_init_c __attribute__((weak, alias("PMPI_Allgather_init_c")));

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 15, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Allgatherv) MPI_Allgatherv __attribute__((weak, alias("PMPI_Allgatherv")));

int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 15, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Allgatherv_c) MPI_Allgatherv_c __attribute__((weak, alias("PMPI_Allgatherv_c")));

int PMPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 16, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)info;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Allgatherv_init) MPI_Allgatherv_init __attribute__((weak, alias("PMPI_Allgatherv_init")));

int PMPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 16, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)info;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Allgatherv_init_c) MPI_Allgatherv_init_c __attribute__((weak, alias("PMPI_Allgatherv_init_c")));

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
	struct pm2_call c;
	c.function = 17, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)size;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)(void *)baseptr;
	return cross(&c);
}
extern __typeof__(PMPI_Alloc_mem) MPI_Alloc_mem __attribute__((weak, alias("PMPI_Alloc_mem")));

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 18, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Allreduce) MPI_Allreduce __attribute__((weak, alias("PMPI_Allreduce")));

int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 18, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Allreduce_c) MPI_Allreduce_c __attribute__((weak, alias("PMPI_Allreduce_c")));

int PMPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 19, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Allreduce_init) MPI_Allreduce_init __attribute__((weak, alias("PMPI_Allreduce_init")));

int PMPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 19, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Allreduce_init_c) MPI_Allreduce_init_c __attribute__((weak, alias("PMPI_Allreduce_init_c")));

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 20, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoall) MPI_Alltoall __attribute__((weak, alias("PMPI_Alltoall")));

int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 20, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoall_c) MPI_Alltoall_c __attribute__((weak, alias("PMPI_Alltoall_c")));

int PMPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 21, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoall_init) MPI_Alltoall_init __attribute__((weak, alias("PMPI_Alltoall_init")));

int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 21, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoall_init_c) MPI_Alltoall_init_c __attribute__((weak, alias("PMPI_Alltoall_init_c")));

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 22, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoallv) MPI_Alltoallv __attribute__((weak, alias("PMPI_Alltoallv")));

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 22, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoallv_c) MPI_Alltoallv_c __attribute__((weak, alias("PMPI_Alltoallv_c")));

int PMPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 23, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoallv_init) MPI_Alltoallv_init __attribute__((weak, alias("PMPI_Alltoallv_init")));

int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 23, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoallv_init_c) MPI_Alltoallv_init_c __attribute__((weak, alias("PMPI_Alltoallv_init_c")));

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 24, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoallw) MPI_Alltoallw __attribute__((weak, alias("PMPI_Alltoallw")));

int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 24, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoallw_c) MPI_Alltoallw_c __attribute__((weak, alias("PMPI_Alltoallw_c")));

int PMPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 25, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoallw_init) MPI_Alltoallw_init __attribute__((weak, alias("PMPI_Alltoallw_init")));

int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 25, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Alltoallw_init_c) MPI_Alltoallw_init_c __attribute__((weak, alias("PMPI_Alltoallw_init_c")));

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
	struct pm2_call c;
	c.function = 26, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)keyval;
	return cross(&c);
}
extern __typeof__(PMPI_Attr_delete) MPI_Attr_delete __attribute__((weak, alias("PMPI_Attr_delete")));

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
	struct pm2_call c;
	c.function = 27, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)keyval;
	c.word[2] = (intptr_t)(void *)attribute_val;
	c.word[3] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Attr_get) MPI_Attr_get __attribute__((weak, alias("PMPI_Attr_get")));

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
	struct pm2_call c;
	c.function = 28, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)keyval;
	c.word[2] = (intptr_t)(void *)attribute_val;
	return cross(&c);
}
extern __typeof__(PMPI_Attr_put) MPI_Attr_put __attribute__((weak, alias("PMPI_Attr_put")));

int PMPI_Barrier(MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 29, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Barrier) MPI_Barrier __attribute__((weak, alias("PMPI_Barrier")));

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 30, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Barrier_init) MPI_Barrier_init __attribute__((weak, alias("PMPI_Barrier_init")));

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 31, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)root;
	c.word[4] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Bcast) MPI_Bcast __attribute__((weak, alias("PMPI_Bcast")));

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 31, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)root;
	c.word[4] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Bcast_c) MPI_Bcast_c __attribute__((weak, alias("PMPI_Bcast_c")));

int PMPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 32, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)root;
	c.word[4] = (intptr_t)(void *)comm;
	c.word[5] = (intptr_t)(void *)info;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Bcast_init) MPI_Bcast_init __attribute__((weak, alias("PMPI_Bcast_init")));

int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 32, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)root;
	c.word[4] = (intptr_t)(void *)comm;
	c.word[5] = (intptr_t)(void *)info;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Bcast_init_c) MPI_Bcast_init_c __attribute__((weak, alias("PMPI_Bcast_init_c")));

int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 33, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Bsend) MPI_Bsend __attribute__((weak, alias("PMPI_Bsend")));

int PMPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 33, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Bsend_c) MPI_Bsend_c __attribute__((weak, alias("PMPI_Bsend_c")));

int PMPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 34, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Bsend_init) MPI_Bsend_init __attribute__((weak, alias("PMPI_Bsend_init")));

int PMPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 34, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Bsend_init_c) MPI_Bsend_init_c __attribute__((weak, alias("PMPI_Bsend_init_c")));

int PMPI_Buffer_attach(void *buffer, int size)
{
	struct pm2_call c;
	c.function = 35, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer;
	c.word[1] = (intptr_t)size;
	return cross(&c);
}
extern __typeof__(PMPI_Buffer_attach) MPI_Buffer_attach __attribute__((weak, alias("PMPI_Buffer_attach")));

int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
	struct pm2_call c;
	c.function = 35, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer;
	c.word[1] = (intptr_t)size;
	return cross(&c);
}
extern __typeof__(PMPI_Buffer_attach_c) MPI_Buffer_attach_c __attribute__((weak, alias("PMPI_Buffer_attach_c")));

int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
	struct pm2_call c;
	c.function = 36, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer_addr;
	c.word[1] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Buffer_detach) MPI_Buffer_detach __attribute__((weak, alias("PMPI_Buffer_detach")));

int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
	struct pm2_call c;
	c.function = 36, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer_addr;
	c.word[1] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Buffer_detach_c) MPI_Buffer_detach_c __attribute__((weak, alias("PMPI_Buffer_detach_c")));

int PMPI_Buffer_flush(void)
{
	struct pm2_call c;
	c.function = 37, c.wide = 0, c.object = 0, c.handler = 0;
	return cross(&c);
}
extern __typeof__(PMPI_Buffer_flush) MPI_Buffer_flush __attribute__((weak, alias("PMPI_Buffer_flush")));

int PMPI_Buffer_iflush(MPI_Request *request)
{
	struct pm2_call c;
	c.function = 38, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Buffer_iflush) MPI_Buffer_iflush __attribute__((weak, alias("PMPI_Buffer_iflush")));

int PMPI_Cancel(MPI_Request *request)
{
	struct pm2_call c;
	c.function = 39, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Cancel) MPI_Cancel __attribute__((weak, alias("PMPI_Cancel")));

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
	struct pm2_call c;
	c.function = 40, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)rank;
	c.word[2] = (intptr_t)maxdims;
	c.word[3] = (intptr_t)(void *)coords;
	return cross(&c);
}
extern __typeof__(PMPI_Cart_coords) MPI_Cart_coords __attribute__((weak, alias("PMPI_Cart_coords")));

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *comm_cart)
{
	struct pm2_call c;
	c.function = 41, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm_old;
	c.word[1] = (intptr_t)ndims;
	c.word[2] = (intptr_t)(void *)dims;
	c.word[3] = (intptr_t)(void *)periods;
	c.word[4] = (intptr_t)reorder;
	c.word[5] = (intptr_t)(void *)comm_cart;
	return cross(&c);
}
extern __typeof__(PMPI_Cart_create) MPI_Cart_create __attribute__((weak, alias("PMPI_Cart_create")));

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
	struct pm2_call c;
	c.function = 42, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)maxdims;
	c.word[2] = (intptr_t)(void *)dims;
	c.word[3] = (intptr_t)(void *)periods;
	c.word[4] = (intptr_t)(void *)coords;
	return cross(&c);
}
extern __typeof__(PMPI_Cart_get) MPI_Cart_get __attribute__((weak, alias("PMPI_Cart_get")));

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
	struct pm2_call c;
	c.function = 43, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)ndims;
	c.word[2] = (intptr_t)(void *)dims;
	c.word[3] = (intptr_t)(void *)periods;
	c.word[4] = (intptr_t)(void *)newrank;
	return cross(&c);
}
extern __typeof__(PMPI_Cart_map) MPI_Cart_map __attribute__((weak, alias("PMPI_Cart_map")));

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
	struct pm2_call c;
	c.function = 44, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)coords;
	c.word[2] = (intptr_t)(void *)rank;
	return cross(&c);
}
extern __typeof__(PMPI_Cart_rank) MPI_Cart_rank __attribute__((weak, alias("PMPI_Cart_rank")));

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
	struct pm2_call c;
	c.function = 45, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)direction;
	c.word[2] = (intptr_t)disp;
	c.word[3] = (intptr_t)(void *)rank_source;
	c.word[4] = (intptr_t)(void *)rank_dest;
	return cross(&c);
}
extern __typeof__(PMPI_Cart_shift) MPI_Cart_shift __attribute__((weak, alias("PMPI_Cart_shift")));

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 46, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)remain_dims;
	c.word[2] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Cart_sub) MPI_Cart_sub __attribute__((weak, alias("PMPI_Cart_sub")));

int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
	struct pm2_call c;
	c.function = 47, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)ndims;
	return cross(&c);
}
extern __typeof__(PMPI_Cartdim_get) MPI_Cartdim_get __attribute__((weak, alias("PMPI_Cartdim_get")));

int PMPI_Close_port(const char *port_name)
{
	struct pm2_call c;
	c.function = 48, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)port_name;
	return cross(&c);
}
extern __typeof__(PMPI_Close_port) MPI_Close_port __attribute__((weak, alias("PMPI_Close_port")));

int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 49, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)port_name;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)root;
	c.word[3] = (intptr_t)(void *)comm;
	c.word[4] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_accept) MPI_Comm_accept __attribute__((weak, alias("PMPI_Comm_accept")));

int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size)
{
	struct pm2_call c;
	c.function = 50, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)buffer;
	c.word[2] = (intptr_t)size;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_attach_buffer) MPI_Comm_attach_buffer __attribute__((weak, alias("PMPI_Comm_attach_buffer")));

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
	struct pm2_call c;
	c.function = 50, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)buffer;
	c.word[2] = (intptr_t)size;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_attach_buffer_c) MPI_Comm_attach_buffer_c __attribute__((weak, alias("PMPI_Comm_attach_buffer_c")));

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
	struct pm2_call c;
	c.function = 51, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)errorcode;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_call_errhandler) MPI_Comm_call_errhandler __attribute__((weak, alias("PMPI_Comm_call_errhandler")));

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
	struct pm2_call c;
	c.function = 52, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm1;
	c.word[1] = (intptr_t)(void *)comm2;
	c.word[2] = (intptr_t)(void *)result;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_compare) MPI_Comm_compare __attribute__((weak, alias("PMPI_Comm_compare")));

int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 53, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)port_name;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)root;
	c.word[3] = (intptr_t)(void *)comm;
	c.word[4] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_connect) MPI_Comm_connect __attribute__((weak, alias("PMPI_Comm_connect")));

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 54, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)group;
	c.word[2] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_create) MPI_Comm_create __attribute__((weak, alias("PMPI_Comm_create")));

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
	struct pm2_call c;
	c.function = 55, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm_errhandler_fn;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_create_errhandler) MPI_Comm_create_errhandler __attribute__((weak, alias("PMPI_Comm_create_errhandler")));

int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 56, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	c.word[1] = (intptr_t)(void *)stringtag;
	c.word[2] = (intptr_t)(void *)info;
	c.word[3] = (intptr_t)(void *)errhandler;
	c.word[4] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_create_from_group) MPI_Comm_create_from_group __attribute__((weak, alias("PMPI_Comm_create_from_group")));

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 57, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)group;
	c.word[2] = (intptr_t)tag;
	c.word[3] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_create_group) MPI_Comm_create_group __attribute__((weak, alias("PMPI_Comm_create_group")));

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn, MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state)
{
	struct pm2_call c;
	c.function = 58, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm_copy_attr_fn;
	c.word[1] = (intptr_t)(void *)comm_delete_attr_fn;
	c.word[2] = (intptr_t)(void *)comm_keyval;
	c.word[3] = (intptr_t)(void *)extra_state;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_create_keyval) MPI_Comm_create_keyval __attribute__((weak, alias("PMPI_Comm_create_keyval")));

int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
	struct pm2_call c;
	c.function = 59, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)comm_keyval;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_delete_attr) MPI_Comm_delete_attr __attribute__((weak, alias("PMPI_Comm_delete_attr")));

int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{
	struct pm2_call c;
	c.function = 60, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)buffer_addr;
	c.word[2] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_detach_buffer) MPI_Comm_detach_buffer __attribute__((weak, alias("PMPI_Comm_detach_buffer")));

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
	struct pm2_call c;
	c.function = 60, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)buffer_addr;
	c.word[2] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_detach_buffer_c) MPI_Comm_detach_buffer_c __attribute__((weak, alias("PMPI_Comm_detach_buffer_c")));

int PMPI_Comm_disconnect(MPI_Comm *comm)
{
	struct pm2_call c;
	c.function = 61, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_disconnect) MPI_Comm_disconnect __attribute__((weak, alias("PMPI_Comm_disconnect")));

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 62, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_dup) MPI_Comm_dup __attribute__((weak, alias("PMPI_Comm_dup")));

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 63, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_dup_with_info) MPI_Comm_dup_with_info __attribute__((weak, alias("PMPI_Comm_dup_with_info")));

int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 64, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_flush_buffer) MPI_Comm_flush_buffer __attribute__((weak, alias("PMPI_Comm_flush_buffer")));

int PMPI_Comm_free(MPI_Comm *comm)
{
	struct pm2_call c;
	c.function = 65, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_free) MPI_Comm_free __attribute__((weak, alias("PMPI_Comm_free")));

int PMPI_Comm_free_keyval(int *comm_keyval)
{
	struct pm2_call c;
	c.function = 66, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm_keyval;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_free_keyval) MPI_Comm_free_keyval __attribute__((weak, alias("PMPI_Comm_free_keyval")));

extern __typeof__(PMPI_Comm_fromint) MPI_Comm_fromint __attribute__((weak, alias("PMPI_Comm_fromint")));

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
	struct pm2_call c;
	c.function = 68, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)comm_keyval;
	c.word[2] = (intptr_t)(void *)attribute_val;
	c.word[3] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_get_attr) MPI_Comm_get_attr __attribute__((weak, alias("PMPI_Comm_get_attr")));

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
	struct pm2_call c;
	c.function = 69, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_get_errhandler) MPI_Comm_get_errhandler __attribute__((weak, alias("PMPI_Comm_get_errhandler")));

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
	struct pm2_call c;
	c.function = 70, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)info_used;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_get_info) MPI_Comm_get_info __attribute__((weak, alias("PMPI_Comm_get_info")));

int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
	struct pm2_call c;
	c.function = 71, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)comm_name;
	c.word[2] = (intptr_t)(void *)resultlen;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_get_name) MPI_Comm_get_name __attribute__((weak, alias("PMPI_Comm_get_name")));

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
	struct pm2_call c;
	c.function = 72, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)parent;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_get_parent) MPI_Comm_get_parent __attribute__((weak, alias("PMPI_Comm_get_parent")));

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
	struct pm2_call c;
	c.function = 73, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)group;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_group) MPI_Comm_group __attribute__((weak, alias("PMPI_Comm_group")));

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 74, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)newcomm;
	c.word[2] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_idup) MPI_Comm_idup __attribute__((weak, alias("PMPI_Comm_idup")));

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 75, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)(void *)newcomm;
	c.word[3] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_idup_with_info) MPI_Comm_idup_with_info __attribute__((weak, alias("PMPI_Comm_idup_with_info")));

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 76, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_iflush_buffer) MPI_Comm_iflush_buffer __attribute__((weak, alias("PMPI_Comm_iflush_buffer")));

int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{
	struct pm2_call c;
	c.function = 77, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)fd;
	c.word[1] = (intptr_t)(void *)intercomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_join) MPI_Comm_join __attribute__((weak, alias("PMPI_Comm_join")));

static int cross_Comm_rank(MPI_Comm comm, int *rank)
{
	struct pm2_call c;
	c.function = 78, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)rank;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_rank) MPI_Comm_rank __attribute__((weak, alias("PMPI_Comm_rank")));

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
	struct pm2_call c;
	c.function = 79, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)group;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_remote_group) MPI_Comm_remote_group __attribute__((weak, alias("PMPI_Comm_remote_group")));

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
	struct pm2_call c;
	c.function = 80, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_remote_size) MPI_Comm_remote_size __attribute__((weak, alias("PMPI_Comm_remote_size")));

int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
	struct pm2_call c;
	c.function = 81, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)comm_keyval;
	c.word[2] = (intptr_t)(void *)attribute_val;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_set_attr) MPI_Comm_set_attr __attribute__((weak, alias("PMPI_Comm_set_attr")));

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
	struct pm2_call c;
	c.function = 82, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_set_errhandler) MPI_Comm_set_errhandler __attribute__((weak, alias("PMPI_Comm_set_errhandler")));

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
	struct pm2_call c;
	c.function = 83, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_set_info) MPI_Comm_set_info __attribute__((weak, alias("PMPI_Comm_set_info")));

int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
	struct pm2_call c;
	c.function = 84, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)comm_name;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_set_name) MPI_Comm_set_name __attribute__((weak, alias("PMPI_Comm_set_name")));

static int cross_Comm_size(MPI_Comm comm, int *size)
{
	struct pm2_call c;
	c.function = 85, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_size) MPI_Comm_size __attribute__((weak, alias("PMPI_Comm_size")));

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
	struct pm2_call c;
	c.function = 86, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)command;
	c.word[1] = (intptr_t)(void *)argv;
	c.word[2] = (intptr_t)maxprocs;
	c.word[3] = (intptr_t)(void *)info;
	c.word[4] = (intptr_t)root;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)intercomm;
	c.word[7] = (intptr_t)(void *)array_of_errcodes;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_spawn) MPI_Comm_spawn __attribute__((weak, alias("PMPI_Comm_spawn")));

int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[], const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
	struct pm2_call c;
	c.function = 87, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_commands;
	c.word[2] = (intptr_t)(void *)array_of_argv;
	c.word[3] = (intptr_t)(void *)array_of_maxprocs;
	c.word[4] = (intptr_t)(void *)array_of_info;
	c.word[5] = (intptr_t)root;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)intercomm;
	c.word[8] = (intptr_t)(void *)array_of_errcodes;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_spawn_multiple) MPI_Comm_spawn_multiple __attribute__((weak, alias("PMPI_Comm_spawn_multiple")));

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 88, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)color;
	c.word[2] = (intptr_t)key;
	c.word[3] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_split) MPI_Comm_split __attribute__((weak, alias("PMPI_Comm_split")));

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
	struct pm2_call c;
	c.function = 89, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)split_type;
	c.word[2] = (intptr_t)key;
	c.word[3] = (intptr_t)(void *)info;
	c.word[4] = (intptr_t)(void *)newcomm;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_split_type) MPI_Comm_split_type __attribute__((weak, alias("PMPI_Comm_split_type")));

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
	struct pm2_call c;
	c.function = 90, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Comm_test_inter) MPI_Comm_test_inter __attribute__((weak, alias("PMPI_Comm_test_inter")));

extern __typeof__(PMPI_Comm_toint) MPI_Comm_toint __attribute__((weak, alias("PMPI_Comm_toint")));

int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
	struct pm2_call c;
	c.function = 92, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)(void *)compare_addr;
	c.word[2] = (intptr_t)(void *)result_addr;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)target_rank;
	c.word[5] = (intptr_t)target_disp;
	c.word[6] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Compare_and_swap) MPI_Compare_and_swap __attribute__((weak, alias("PMPI_Compare_and_swap")));

int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
	struct pm2_call c;
	c.function = 93, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)nnodes;
	c.word[1] = (intptr_t)ndims;
	c.word[2] = (intptr_t)(void *)dims;
	return cross(&c);
}
extern __typeof__(PMPI_Dims_create) MPI_Dims_create __attribute__((weak, alias("PMPI_Dims_create")));

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[], const int *weights, MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
	struct pm2_call c;
	c.function = 94, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm_old;
	c.word[1] = (intptr_t)n;
	c.word[2] = (intptr_t)(void *)sources;
	c.word[3] = (intptr_t)(void *)degrees;
	c.word[4] = (intptr_t)(void *)destinations;
	c.word[5] = (intptr_t)(void *)weights;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)reorder;
	c.word[8] = (intptr_t)(void *)comm_dist_graph;
	return cross(&c);
}
extern __typeof__(PMPI_Dist_graph_create) MPI_Dist_graph_create __attribute__((weak, alias("PMPI_Dist_graph_create")));

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int *sourceweights, int outdegree, const int destinations[], const int *destweights, MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
	struct pm2_call c;
	c.function = 95, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm_old;
	c.word[1] = (intptr_t)indegree;
	c.word[2] = (intptr_t)(void *)sources;
	c.word[3] = (intptr_t)(void *)sourceweights;
	c.word[4] = (intptr_t)outdegree;
	c.word[5] = (intptr_t)(void *)destinations;
	c.word[6] = (intptr_t)(void *)destweights;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)reorder;
	c.word[9] = (intptr_t)(void *)comm_dist_graph;
	return cross(&c);
}
extern __typeof__(PMPI_Dist_graph_create_adjacent) MPI_Dist_graph_create_adjacent __attribute__((weak, alias("PMPI_Dist_graph_create_adjacent")));

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int *sourceweights, int maxoutdegree, int destinations[], int *destweights)
{
	struct pm2_call c;
	c.function = 96, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)maxindegree;
	c.word[2] = (intptr_t)(void *)sources;
	c.word[3] = (intptr_t)(void *)sourceweights;
	c.word[4] = (intptr_t)maxoutdegree;
	c.word[5] = (intptr_t)(void *)destinations;
	c.word[6] = (intptr_t)(void *)destweights;
	return cross(&c);
}
extern __typeof__(PMPI_Dist_graph_neighbors) MPI_Dist_graph_neighbors __attribute__((weak, alias("PMPI_Dist_graph_neighbors")));

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
	struct pm2_call c;
	c.function = 97, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)indegree;
	c.word[2] = (intptr_t)(void *)outdegree;
	c.word[3] = (intptr_t)(void *)weighted;
	return cross(&c);
}
extern __typeof__(PMPI_Dist_graph_neighbors_count) MPI_Dist_graph_neighbors_count __attribute__((weak, alias("PMPI_Dist_graph_neighbors_count")));

int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
	struct pm2_call c;
	c.function = 98, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Errhandler_free) MPI_Errhandler_free __attribute__((weak, alias("PMPI_Errhandler_free")));

extern __typeof__(PMPI_Errhandler_fromint) MPI_Errhandler_fromint __attribute__((weak, alias("PMPI_Errhandler_fromint")));

extern __typeof__(PMPI_Errhandler_toint) MPI_Errhandler_toint __attribute__((weak, alias("PMPI_Errhandler_toint")));

int PMPI_Error_class(int errorcode, int *errorclass)
{
	struct pm2_call c;
	c.function = 101, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)errorcode;
	c.word[1] = (intptr_t)(void *)errorclass;
	return cross(&c);
}
extern __typeof__(PMPI_Error_class) MPI_Error_class __attribute__((weak, alias("PMPI_Error_class")));

int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
	struct pm2_call c;
	c.function = 102, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)errorcode;
	c.word[1] = (intptr_t)(void *)string;
	c.word[2] = (intptr_t)(void *)resultlen;
	return cross(&c);
}
extern __typeof__(PMPI_Error_string) MPI_Error_string __attribute__((weak, alias("PMPI_Error_string")));

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 103, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Exscan) MPI_Exscan __attribute__((weak, alias("PMPI_Exscan")));

int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 103, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Exscan_c) MPI_Exscan_c __attribute__((weak, alias("PMPI_Exscan_c")));

int PMPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 104, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Exscan_init) MPI_Exscan_init __attribute__((weak, alias("PMPI_Exscan_init")));

int PMPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 104, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Exscan_init_c) MPI_Exscan_init_c __attribute__((weak, alias("PMPI_Exscan_init_c")));

int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
	struct pm2_call c;
	c.function = 105, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)(void *)result_addr;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)(void *)op;
	c.word[6] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Fetch_and_op) MPI_Fetch_and_op __attribute__((weak, alias("PMPI_Fetch_and_op")));

int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{
	struct pm2_call c;
	c.function = 106, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)errorcode;
	return cross(&c);
}
extern __typeof__(PMPI_File_call_errhandler) MPI_File_call_errhandler __attribute__((weak, alias("PMPI_File_call_errhandler")));

int PMPI_File_close(MPI_File *fh)
{
	struct pm2_call c;
	c.function = 107, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	return cross(&c);
}
extern __typeof__(PMPI_File_close) MPI_File_close __attribute__((weak, alias("PMPI_File_close")));

int PMPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler)
{
	struct pm2_call c;
	c.function = 108, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)file_errhandler_fn;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_File_create_errhandler) MPI_File_create_errhandler __attribute__((weak, alias("PMPI_File_create_errhandler")));

int PMPI_File_delete(const char *filename, MPI_Info info)
{
	struct pm2_call c;
	c.function = 109, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)filename;
	c.word[1] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_File_delete) MPI_File_delete __attribute__((weak, alias("PMPI_File_delete")));

extern __typeof__(PMPI_File_fromint) MPI_File_fromint __attribute__((weak, alias("PMPI_File_fromint")));

int PMPI_File_get_amode(MPI_File fh, int *amode)
{
	struct pm2_call c;
	c.function = 111, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)amode;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_amode) MPI_File_get_amode __attribute__((weak, alias("PMPI_File_get_amode")));

int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
	struct pm2_call c;
	c.function = 112, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_atomicity) MPI_File_get_atomicity __attribute__((weak, alias("PMPI_File_get_atomicity")));

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
	struct pm2_call c;
	c.function = 113, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)disp;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_byte_offset) MPI_File_get_byte_offset __attribute__((weak, alias("PMPI_File_get_byte_offset")));

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
	struct pm2_call c;
	c.function = 114, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)file;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_errhandler) MPI_File_get_errhandler __attribute__((weak, alias("PMPI_File_get_errhandler")));

int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
	struct pm2_call c;
	c.function = 115, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)group;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_group) MPI_File_get_group __attribute__((weak, alias("PMPI_File_get_group")));

int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
	struct pm2_call c;
	c.function = 116, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)info_used;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_info) MPI_File_get_info __attribute__((weak, alias("PMPI_File_get_info")));

int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
	struct pm2_call c;
	c.function = 117, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)offset;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_position) MPI_File_get_position __attribute__((weak, alias("PMPI_File_get_position")));

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
	struct pm2_call c;
	c.function = 118, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)offset;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_position_shared) MPI_File_get_position_shared __attribute__((weak, alias("PMPI_File_get_position_shared")));

int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
	struct pm2_call c;
	c.function = 119, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_size) MPI_File_get_size __attribute__((weak, alias("PMPI_File_get_size")));

int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
	struct pm2_call c;
	c.function = 120, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)(void *)extent;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_type_extent) MPI_File_get_type_extent __attribute__((weak, alias("PMPI_File_get_type_extent")));

int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
	struct pm2_call c;
	c.function = 120, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)(void *)extent;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_type_extent_c) MPI_File_get_type_extent_c __attribute__((weak, alias("PMPI_File_get_type_extent_c")));

int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep)
{
	struct pm2_call c;
	c.function = 121, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)disp;
	c.word[2] = (intptr_t)(void *)etype;
	c.word[3] = (intptr_t)(void *)filetype;
	c.word[4] = (intptr_t)(void *)datarep;
	return cross(&c);
}
extern __typeof__(PMPI_File_get_view) MPI_File_get_view __attribute__((weak, alias("PMPI_File_get_view")));

int PMPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 122, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread) MPI_File_iread __attribute__((weak, alias("PMPI_File_iread")));

int PMPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 122, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread_c) MPI_File_iread_c __attribute__((weak, alias("PMPI_File_iread_c")));

int PMPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 123, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread_all) MPI_File_iread_all __attribute__((weak, alias("PMPI_File_iread_all")));

int PMPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 123, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread_all_c) MPI_File_iread_all_c __attribute__((weak, alias("PMPI_File_iread_all_c")));

int PMPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 124, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread_at) MPI_File_iread_at __attribute__((weak, alias("PMPI_File_iread_at")));

int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 124, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread_at_c) MPI_File_iread_at_c __attribute__((weak, alias("PMPI_File_iread_at_c")));

int PMPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 125, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread_at_all) MPI_File_iread_at_all __attribute__((weak, alias("PMPI_File_iread_at_all")));

int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 125, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread_at_all_c) MPI_File_iread_at_all_c __attribute__((weak, alias("PMPI_File_iread_at_all_c")));

int PMPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 126, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread_shared) MPI_File_iread_shared __attribute__((weak, alias("PMPI_File_iread_shared")));

int PMPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 126, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iread_shared_c) MPI_File_iread_shared_c __attribute__((weak, alias("PMPI_File_iread_shared_c")));

int PMPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 127, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite) MPI_File_iwrite __attribute__((weak, alias("PMPI_File_iwrite")));

int PMPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 127, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite_c) MPI_File_iwrite_c __attribute__((weak, alias("PMPI_File_iwrite_c")));

int PMPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 128, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite_all) MPI_File_iwrite_all __attribute__((weak, alias("PMPI_File_iwrite_all")));

int PMPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 128, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite_all_c) MPI_File_iwrite_all_c __attribute__((weak, alias("PMPI_File_iwrite_all_c")));

int PMPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 129, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite_at) MPI_File_iwrite_at __attribute__((weak, alias("PMPI_File_iwrite_at")));

int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 129, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite_at_c) MPI_File_iwrite_at_c __attribute__((weak, alias("PMPI_File_iwrite_at_c")));

int PMPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 130, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite_at_all) MPI_File_iwrite_at_all __attribute__((weak, alias("PMPI_File_iwrite_at_all")));

int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 130, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite_at_all_c) MPI_File_iwrite_at_all_c __attribute__((weak, alias("PMPI_File_iwrite_at_all_c")));

int PMPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 131, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite_shared) MPI_File_iwrite_shared __attribute__((weak, alias("PMPI_File_iwrite_shared")));

int PMPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 131, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_File_iwrite_shared_c) MPI_File_iwrite_shared_c __attribute__((weak, alias("PMPI_File_iwrite_shared_c")));

int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
	struct pm2_call c;
	c.function = 132, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)filename;
	c.word[2] = (intptr_t)amode;
	c.word[3] = (intptr_t)(void *)info;
	c.word[4] = (intptr_t)(void *)fh;
	return cross(&c);
}
extern __typeof__(PMPI_File_open) MPI_File_open __attribute__((weak, alias("PMPI_File_open")));

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
	struct pm2_call c;
	c.function = 133, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)size;
	return cross(&c);
}
extern __typeof__(PMPI_File_preallocate) MPI_File_preallocate __attribute__((weak, alias("PMPI_File_preallocate")));

int PMPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 134, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read) MPI_File_read __attribute__((weak, alias("PMPI_File_read")));

int PMPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 134, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_c) MPI_File_read_c __attribute__((weak, alias("PMPI_File_read_c")));

int PMPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 135, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_all) MPI_File_read_all __attribute__((weak, alias("PMPI_File_read_all")));

int PMPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 135, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_all_c) MPI_File_read_all_c __attribute__((weak, alias("PMPI_File_read_all_c")));

int PMPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 136, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_all_begin) MPI_File_read_all_begin __attribute__((weak, alias("PMPI_File_read_all_begin")));

int PMPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 136, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_all_begin_c) MPI_File_read_all_begin_c __attribute__((weak, alias("PMPI_File_read_all_begin_c")));

int PMPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 137, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_all_end) MPI_File_read_all_end __attribute__((weak, alias("PMPI_File_read_all_end")));

int PMPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 138, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_at) MPI_File_read_at __attribute__((weak, alias("PMPI_File_read_at")));

int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 138, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_at_c) MPI_File_read_at_c __attribute__((weak, alias("PMPI_File_read_at_c")));

int PMPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 139, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_at_all) MPI_File_read_at_all __attribute__((weak, alias("PMPI_File_read_at_all")));

int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 139, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_at_all_c) MPI_File_read_at_all_c __attribute__((weak, alias("PMPI_File_read_at_all_c")));

int PMPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 140, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_at_all_begin) MPI_File_read_at_all_begin __attribute__((weak, alias("PMPI_File_read_at_all_begin")));

int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 140, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_at_all_begin_c) MPI_File_read_at_all_begin_c __attribute__((weak, alias("PMPI_File_read_at_all_begin_c")));

int PMPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 141, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_at_all_end) MPI_File_read_at_all_end __attribute__((weak, alias("PMPI_File_read_at_all_end")));

int PMPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 142, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_ordered) MPI_File_read_ordered __attribute__((weak, alias("PMPI_File_read_ordered")));

int PMPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 142, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_ordered_c) MPI_File_read_ordered_c __attribute__((weak, alias("PMPI_File_read_ordered_c")));

int PMPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 143, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_ordered_begin) MPI_File_read_ordered_begin __attribute__((weak, alias("PMPI_File_read_ordered_begin")));

int PMPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 143, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_ordered_begin_c) MPI_File_read_ordered_begin_c __attribute__((weak, alias("PMPI_File_read_ordered_begin_c")));

int PMPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 144, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_ordered_end) MPI_File_read_ordered_end __attribute__((weak, alias("PMPI_File_read_ordered_end")));

int PMPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 145, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_shared) MPI_File_read_shared __attribute__((weak, alias("PMPI_File_read_shared")));

int PMPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 145, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_read_shared_c) MPI_File_read_shared_c __attribute__((weak, alias("PMPI_File_read_shared_c")));

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
	struct pm2_call c;
	c.function = 146, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)whence;
	return cross(&c);
}
extern __typeof__(PMPI_File_seek) MPI_File_seek __attribute__((weak, alias("PMPI_File_seek")));

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
	struct pm2_call c;
	c.function = 147, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)whence;
	return cross(&c);
}
extern __typeof__(PMPI_File_seek_shared) MPI_File_seek_shared __attribute__((weak, alias("PMPI_File_seek_shared")));

int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
	struct pm2_call c;
	c.function = 148, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)flag;
	return cross(&c);
}
extern __typeof__(PMPI_File_set_atomicity) MPI_File_set_atomicity __attribute__((weak, alias("PMPI_File_set_atomicity")));

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
	struct pm2_call c;
	c.function = 149, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)file;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_File_set_errhandler) MPI_File_set_errhandler __attribute__((weak, alias("PMPI_File_set_errhandler")));

int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
	struct pm2_call c;
	c.function = 150, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_File_set_info) MPI_File_set_info __attribute__((weak, alias("PMPI_File_set_info")));

int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
	struct pm2_call c;
	c.function = 151, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)size;
	return cross(&c);
}
extern __typeof__(PMPI_File_set_size) MPI_File_set_size __attribute__((weak, alias("PMPI_File_set_size")));

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep, MPI_Info info)
{
	struct pm2_call c;
	c.function = 152, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)disp;
	c.word[2] = (intptr_t)(void *)etype;
	c.word[3] = (intptr_t)(void *)filetype;
	c.word[4] = (intptr_t)(void *)datarep;
	c.word[5] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_File_set_view) MPI_File_set_view __attribute__((weak, alias("PMPI_File_set_view")));

int PMPI_File_sync(MPI_File fh)
{
	struct pm2_call c;
	c.function = 153, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	return cross(&c);
}
extern __typeof__(PMPI_File_sync) MPI_File_sync __attribute__((weak, alias("PMPI_File_sync")));

extern __typeof__(PMPI_File_toint) MPI_File_toint __attribute__((weak, alias("PMPI_File_toint")));

int PMPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 155, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write) MPI_File_write __attribute__((weak, alias("PMPI_File_write")));

int PMPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 155, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_c) MPI_File_write_c __attribute__((weak, alias("PMPI_File_write_c")));

int PMPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 156, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_all) MPI_File_write_all __attribute__((weak, alias("PMPI_File_write_all")));

int PMPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 156, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_all_c) MPI_File_write_all_c __attribute__((weak, alias("PMPI_File_write_all_c")));

int PMPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 157, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_all_begin) MPI_File_write_all_begin __attribute__((weak, alias("PMPI_File_write_all_begin")));

int PMPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 157, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_all_begin_c) MPI_File_write_all_begin_c __attribute__((weak, alias("PMPI_File_write_all_begin_c")));

int PMPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 158, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_all_end) MPI_File_write_all_end __attribute__((weak, alias("PMPI_File_write_all_end")));

int PMPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 159, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_at) MPI_File_write_at __attribute__((weak, alias("PMPI_File_write_at")));

int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 159, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_at_c) MPI_File_write_at_c __attribute__((weak, alias("PMPI_File_write_at_c")));

int PMPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 160, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_at_all) MPI_File_write_at_all __attribute__((weak, alias("PMPI_File_write_at_all")));

int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 160, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_at_all_c) MPI_File_write_at_all_c __attribute__((weak, alias("PMPI_File_write_at_all_c")));

int PMPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 161, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_at_all_begin) MPI_File_write_at_all_begin __attribute__((weak, alias("PMPI_File_write_at_all_begin")));

int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 161, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)offset;
	c.word[2] = (intptr_t)(void *)buf;
	c.word[3] = (intptr_t)count;
	c.word[4] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_at_all_begin_c) MPI_File_write_at_all_begin_c __attribute__((weak, alias("PMPI_File_write_at_all_begin_c")));

int PMPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 162, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_at_all_end) MPI_File_write_at_all_end __attribute__((weak, alias("PMPI_File_write_at_all_end")));

int PMPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 163, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_ordered) MPI_File_write_ordered __attribute__((weak, alias("PMPI_File_write_ordered")));

int PMPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 163, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_ordered_c) MPI_File_write_ordered_c __attribute__((weak, alias("PMPI_File_write_ordered_c")));

int PMPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 164, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_ordered_begin) MPI_File_write_ordered_begin __attribute__((weak, alias("PMPI_File_write_ordered_begin")));

int PMPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 164, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_ordered_begin_c) MPI_File_write_ordered_begin_c __attribute__((weak, alias("PMPI_File_write_ordered_begin_c")));

int PMPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 165, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_ordered_end) MPI_File_write_ordered_end __attribute__((weak, alias("PMPI_File_write_ordered_end")));

int PMPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 166, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_shared) MPI_File_write_shared __attribute__((weak, alias("PMPI_File_write_shared")));

int PMPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 166, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)fh;
	c.word[1] = (intptr_t)(void *)buf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_File_write_shared_c) MPI_File_write_shared_c __attribute__((weak, alias("PMPI_File_write_shared_c")));

int PMPI_Finalize(void)
{
	struct pm2_call c;
	c.function = 167, c.wide = 0, c.object = 0, c.handler = 0;
	return cross(&c);
}
extern __typeof__(PMPI_Finalize) MPI_Finalize __attribute__((weak, alias("PMPI_Finalize")));

extern __typeof__(PMPI_Finalized) MPI_Finalized __attribute__((weak, alias("PMPI_Finalized")));

int PMPI_Free_mem(void *base)
{
	struct pm2_call c;
	c.function = 169, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)base;
	return cross(&c);
}
extern __typeof__(PMPI_Free_mem) MPI_Free_mem __attribute__((weak, alias("PMPI_Free_mem")));

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 170, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Gather) MPI_Gather __attribute__((weak, alias("PMPI_Gather")));

int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 170, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Gather_c) MPI_Gather_c __attribute__((weak, alias("PMPI_Gather_c")));

int PMPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 171, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)info;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Gather_init) MPI_Gather_init __attribute__((weak, alias("PMPI_Gather_init")));

int PMPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 171, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)info;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Gather_init_c) MPI_Gather_init_c __attribute__((weak, alias("PMPI_Gather_init_c")));

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 172, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Gatherv) MPI_Gatherv __attribute__((weak, alias("PMPI_Gatherv")));

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 172, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Gatherv_c) MPI_Gatherv_c __attribute__((weak, alias("PMPI_Gatherv_c")));

int PMPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 173, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Gatherv_init) MPI_Gatherv_init __attribute__((weak, alias("PMPI_Gatherv_init")));

int PMPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 173, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Gatherv_init_c) MPI_Gatherv_init_c __attribute__((weak, alias("PMPI_Gatherv_init_c")));

int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct pm2_call c;
	c.function = 174, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Get) MPI_Get __attribute__((weak, alias("PMPI_Get")));

int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct pm2_call c;
	c.function = 174, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Get_c) MPI_Get_c __attribute__((weak, alias("PMPI_Get_c")));

int PMPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct pm2_call c;
	c.function = 175, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)(void *)result_addr;
	c.word[4] = (intptr_t)result_count;
	c.word[5] = (intptr_t)(void *)result_datatype;
	c.word[6] = (intptr_t)target_rank;
	c.word[7] = (intptr_t)target_disp;
	c.word[8] = (intptr_t)target_count;
	c.word[9] = (intptr_t)(void *)target_datatype;
	c.word[10] = (intptr_t)(void *)op;
	c.word[11] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Get_accumulate) MPI_Get_accumulate __attribute__((weak, alias("PMPI_Get_accumulate")));

int PMPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	struct pm2_call c;
	c.function = 175, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)(void *)result_addr;
	c.word[4] = (intptr_t)result_count;
	c.word[5] = (intptr_t)(void *)result_datatype;
	c.word[6] = (intptr_t)target_rank;
	c.word[7] = (intptr_t)target_disp;
	c.word[8] = (intptr_t)target_count;
	c.word[9] = (intptr_t)(void *)target_datatype;
	c.word[10] = (intptr_t)(void *)op;
	c.word[11] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Get_accumulate_c) MPI_Get_accumulate_c __attribute__((weak, alias("PMPI_Get_accumulate_c")));

extern __typeof__(PMPI_Get_address) MPI_Get_address __attribute__((weak, alias("PMPI_Get_address")));

static int cross_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
	struct pm2_call c;
	c.function = 177, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)status;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)(void *)count;
	return cross(&c);
}
extern __typeof__(PMPI_Get_count) MPI_Get_count __attribute__((weak, alias("PMPI_Get_count")));

static int cross_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
	struct pm2_call c;
	c.function = 177, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)status;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)(void *)count;
	return cross(&c);
}
extern __typeof__(PMPI_Get_count_c) MPI_Get_count_c __attribute__((weak, alias("PMPI_Get_count_c")));

int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
	struct pm2_call c;
	c.function = 178, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)status;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)(void *)count;
	return cross(&c);
}
extern __typeof__(PMPI_Get_elements) MPI_Get_elements __attribute__((weak, alias("PMPI_Get_elements")));

int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
	struct pm2_call c;
	c.function = 178, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)status;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)(void *)count;
	return cross(&c);
}
extern __typeof__(PMPI_Get_elements_c) MPI_Get_elements_c __attribute__((weak, alias("PMPI_Get_elements_c")));

int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
	struct pm2_call c;
	c.function = 179, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)status;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)(void *)count;
	return cross(&c);
}
extern __typeof__(PMPI_Get_elements_x) MPI_Get_elements_x __attribute__((weak, alias("PMPI_Get_elements_x")));

int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
	struct pm2_call c;
	c.function = 180, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)hw_info;
	return cross(&c);
}
extern __typeof__(PMPI_Get_hw_resource_info) MPI_Get_hw_resource_info __attribute__((weak, alias("PMPI_Get_hw_resource_info")));

int PMPI_Get_library_version(char *version, int *resultlen)
{
	struct pm2_call c;
	c.function = 181, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)version;
	c.word[1] = (intptr_t)(void *)resultlen;
	return cross(&c);
}
extern __typeof__(PMPI_Get_library_version) MPI_Get_library_version __attribute__((weak, alias("PMPI_Get_library_version")));

int PMPI_Get_processor_name(char *name, int *resultlen)
{
	struct pm2_call c;
	c.function = 182, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)name;
	c.word[1] = (intptr_t)(void *)resultlen;
	return cross(&c);
}
extern __typeof__(PMPI_Get_processor_name) MPI_Get_processor_name __attribute__((weak, alias("PMPI_Get_processor_name")));

extern __typeof__(PMPI_Get_version) MPI_Get_version __attribute__((weak, alias("PMPI_Get_version")));

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder, MPI_Comm *comm_graph)
{
	struct pm2_call c;
	c.function = 184, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm_old;
	c.word[1] = (intptr_t)nnodes;
	c.word[2] = (intptr_t)(void *)indx;
	c.word[3] = (intptr_t)(void *)edges;
	c.word[4] = (intptr_t)reorder;
	c.word[5] = (intptr_t)(void *)comm_graph;
	return cross(&c);
}
extern __typeof__(PMPI_Graph_create) MPI_Graph_create __attribute__((weak, alias("PMPI_Graph_create")));

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{
	struct pm2_call c;
	c.function = 185, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)maxindex;
	c.word[2] = (intptr_t)maxedges;
	c.word[3] = (intptr_t)(void *)indx;
	c.word[4] = (intptr_t)(void *)edges;
	return cross(&c);
}
extern __typeof__(PMPI_Graph_get) MPI_Graph_get __attribute__((weak, alias("PMPI_Graph_get")));

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
	struct pm2_call c;
	c.function = 186, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)nnodes;
	c.word[2] = (intptr_t)(void *)indx;
	c.word[3] = (intptr_t)(void *)edges;
	c.word[4] = (intptr_t)(void *)newrank;
	return cross(&c);
}
extern __typeof__(PMPI_Graph_map) MPI_Graph_map __attribute__((weak, alias("PMPI_Graph_map")));

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
	struct pm2_call c;
	c.function = 187, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)rank;
	c.word[2] = (intptr_t)maxneighbors;
	c.word[3] = (intptr_t)(void *)neighbors;
	return cross(&c);
}
extern __typeof__(PMPI_Graph_neighbors) MPI_Graph_neighbors __attribute__((weak, alias("PMPI_Graph_neighbors")));

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
	struct pm2_call c;
	c.function = 188, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)rank;
	c.word[2] = (intptr_t)(void *)nneighbors;
	return cross(&c);
}
extern __typeof__(PMPI_Graph_neighbors_count) MPI_Graph_neighbors_count __attribute__((weak, alias("PMPI_Graph_neighbors_count")));

int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
	struct pm2_call c;
	c.function = 189, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)nnodes;
	c.word[2] = (intptr_t)(void *)nedges;
	return cross(&c);
}
extern __typeof__(PMPI_Graphdims_get) MPI_Graphdims_get __attribute__((weak, alias("PMPI_Graphdims_get")));

int PMPI_Grequest_complete(MPI_Request request)
{
	struct pm2_call c;
	c.function = 190, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Grequest_complete) MPI_Grequest_complete __attribute__((weak, alias("PMPI_Grequest_complete")));

int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn, MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 191, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)query_fn;
	c.word[1] = (intptr_t)(void *)free_fn;
	c.word[2] = (intptr_t)(void *)cancel_fn;
	c.word[3] = (intptr_t)(void *)extra_state;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Grequest_start) MPI_Grequest_start __attribute__((weak, alias("PMPI_Grequest_start")));

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
	struct pm2_call c;
	c.function = 192, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group1;
	c.word[1] = (intptr_t)(void *)group2;
	c.word[2] = (intptr_t)(void *)result;
	return cross(&c);
}
extern __typeof__(PMPI_Group_compare) MPI_Group_compare __attribute__((weak, alias("PMPI_Group_compare")));

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
	struct pm2_call c;
	c.function = 193, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group1;
	c.word[1] = (intptr_t)(void *)group2;
	c.word[2] = (intptr_t)(void *)newgroup;
	return cross(&c);
}
extern __typeof__(PMPI_Group_difference) MPI_Group_difference __attribute__((weak, alias("PMPI_Group_difference")));

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
	struct pm2_call c;
	c.function = 194, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	c.word[1] = (intptr_t)n;
	c.word[2] = (intptr_t)(void *)ranks;
	c.word[3] = (intptr_t)(void *)newgroup;
	return cross(&c);
}
extern __typeof__(PMPI_Group_excl) MPI_Group_excl __attribute__((weak, alias("PMPI_Group_excl")));

int PMPI_Group_free(MPI_Group *group)
{
	struct pm2_call c;
	c.function = 195, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	return cross(&c);
}
extern __typeof__(PMPI_Group_free) MPI_Group_free __attribute__((weak, alias("PMPI_Group_free")));

int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
	struct pm2_call c;
	c.function = 196, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)pset_name;
	c.word[2] = (intptr_t)(void *)newgroup;
	return cross(&c);
}
extern __typeof__(PMPI_Group_from_session_pset) MPI_Group_from_session_pset __attribute__((weak, alias("PMPI_Group_from_session_pset")));

extern __typeof__(PMPI_Group_fromint) MPI_Group_fromint __attribute__((weak, alias("PMPI_Group_fromint")));

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
	struct pm2_call c;
	c.function = 198, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	c.word[1] = (intptr_t)n;
	c.word[2] = (intptr_t)(void *)ranks;
	c.word[3] = (intptr_t)(void *)newgroup;
	return cross(&c);
}
extern __typeof__(PMPI_Group_incl) MPI_Group_incl __attribute__((weak, alias("PMPI_Group_incl")));

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
	struct pm2_call c;
	c.function = 199, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group1;
	c.word[1] = (intptr_t)(void *)group2;
	c.word[2] = (intptr_t)(void *)newgroup;
	return cross(&c);
}
extern __typeof__(PMPI_Group_intersection) MPI_Group_intersection __attribute__((weak, alias("PMPI_Group_intersection")));

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
	struct pm2_call c;
	c.function = 200, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	c.word[1] = (intptr_t)n;
	c.word[2] = (intptr_t)(void *)ranges;
	c.word[3] = (intptr_t)(void *)newgroup;
	return cross(&c);
}
extern __typeof__(PMPI_Group_range_excl) MPI_Group_range_excl __attribute__((weak, alias("PMPI_Group_range_excl")));

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
	struct pm2_call c;
	c.function = 201, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	c.word[1] = (intptr_t)n;
	c.word[2] = (intptr_t)(void *)ranges;
	c.word[3] = (intptr_t)(void *)newgroup;
	return cross(&c);
}
extern __typeof__(PMPI_Group_range_incl) MPI_Group_range_incl __attribute__((weak, alias("PMPI_Group_range_incl")));

int PMPI_Group_rank(MPI_Group group, int *rank)
{
	struct pm2_call c;
	c.function = 202, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	c.word[1] = (intptr_t)(void *)rank;
	return cross(&c);
}
extern __typeof__(PMPI_Group_rank) MPI_Group_rank __attribute__((weak, alias("PMPI_Group_rank")));

int PMPI_Group_size(MPI_Group group, int *size)
{
	struct pm2_call c;
	c.function = 203, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	c.word[1] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Group_size) MPI_Group_size __attribute__((weak, alias("PMPI_Group_size")));

extern __typeof__(PMPI_Group_toint) MPI_Group_toint __attribute__((weak, alias("PMPI_Group_toint")));

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
	struct pm2_call c;
	c.function = 205, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group1;
	c.word[1] = (intptr_t)n;
	c.word[2] = (intptr_t)(void *)ranks1;
	c.word[3] = (intptr_t)(void *)group2;
	c.word[4] = (intptr_t)(void *)ranks2;
	return cross(&c);
}
extern __typeof__(PMPI_Group_translate_ranks) MPI_Group_translate_ranks __attribute__((weak, alias("PMPI_Group_translate_ranks")));

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
	struct pm2_call c;
	c.function = 206, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group1;
	c.word[1] = (intptr_t)(void *)group2;
	c.word[2] = (intptr_t)(void *)newgroup;
	return cross(&c);
}
extern __typeof__(PMPI_Group_union) MPI_Group_union __attribute__((weak, alias("PMPI_Group_union")));

int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 207, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iallgather) MPI_Iallgather __attribute__((weak, alias("PMPI_Iallgather")));

int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 207, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iallgather_c) MPI_Iallgather_c __attribute__((weak, alias("PMPI_Iallgather_c")));

int PMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 208, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iallgatherv) MPI_Iallgatherv __attribute__((weak, alias("PMPI_Iallgatherv")));

int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 208, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iallgatherv_c) MPI_Iallgatherv_c __attribute__((weak, alias("PMPI_Iallgatherv_c")));

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 209, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iallreduce) MPI_Iallreduce __attribute__((weak, alias("PMPI_Iallreduce")));

int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 209, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iallreduce_c) MPI_Iallreduce_c __attribute__((weak, alias("PMPI_Iallreduce_c")));

int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 210, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ialltoall) MPI_Ialltoall __attribute__((weak, alias("PMPI_Ialltoall")));

int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 210, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ialltoall_c) MPI_Ialltoall_c __attribute__((weak, alias("PMPI_Ialltoall_c")));

int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 211, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ialltoallv) MPI_Ialltoallv __attribute__((weak, alias("PMPI_Ialltoallv")));

int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 211, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ialltoallv_c) MPI_Ialltoallv_c __attribute__((weak, alias("PMPI_Ialltoallv_c")));

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 212, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ialltoallw) MPI_Ialltoallw __attribute__((weak, alias("PMPI_Ialltoallw")));

int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 212, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ialltoallw_c) MPI_Ialltoallw_c __attribute__((weak, alias("PMPI_Ialltoallw_c")));

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 213, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ibarrier) MPI_Ibarrier __attribute__((weak, alias("PMPI_Ibarrier")));

int PMPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 214, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)root;
	c.word[4] = (intptr_t)(void *)comm;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ibcast) MPI_Ibcast __attribute__((weak, alias("PMPI_Ibcast")));

int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 214, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buffer;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)root;
	c.word[4] = (intptr_t)(void *)comm;
	c.word[5] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ibcast_c) MPI_Ibcast_c __attribute__((weak, alias("PMPI_Ibcast_c")));

int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 215, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ibsend) MPI_Ibsend __attribute__((weak, alias("PMPI_Ibsend")));

int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 215, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ibsend_c) MPI_Ibsend_c __attribute__((weak, alias("PMPI_Ibsend_c")));

int PMPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 216, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iexscan) MPI_Iexscan __attribute__((weak, alias("PMPI_Iexscan")));

int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 216, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iexscan_c) MPI_Iexscan_c __attribute__((weak, alias("PMPI_Iexscan_c")));

int PMPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 217, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Igather) MPI_Igather __attribute__((weak, alias("PMPI_Igather")));

int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 217, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Igather_c) MPI_Igather_c __attribute__((weak, alias("PMPI_Igather_c")));

int PMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 218, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Igatherv) MPI_Igatherv __attribute__((weak, alias("PMPI_Igatherv")));

int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 218, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Igatherv_c) MPI_Igatherv_c __attribute__((weak, alias("PMPI_Igatherv_c")));

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 219, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)source;
	c.word[1] = (intptr_t)tag;
	c.word[2] = (intptr_t)(void *)comm;
	c.word[3] = (intptr_t)(void *)flag;
	c.word[4] = (intptr_t)(void *)message;
	c.word[5] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Improbe) MPI_Improbe __attribute__((weak, alias("PMPI_Improbe")));

int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 220, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)(void *)message;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Imrecv) MPI_Imrecv __attribute__((weak, alias("PMPI_Imrecv")));

int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 220, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)(void *)message;
	c.word[4] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Imrecv_c) MPI_Imrecv_c __attribute__((weak, alias("PMPI_Imrecv_c")));

int PMPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 221, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_allgather) MPI_Ineighbor_allgather __attribute__((weak, alias("PMPI_Ineighbor_allgather")));

int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 221, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_allgather_c) MPI_Ineighbor_allgather_c __attribute__((weak, alias("PMPI_Ineighbor_allgather_c")));

int PMPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 222, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_allgatherv) MPI_Ineighbor_allgatherv __attribute__((weak, alias("PMPI_Ineighbor_allgatherv")));

int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 222, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_allgatherv_c) MPI_Ineighbor_allgatherv_c __attribute__((weak, alias("PMPI_Ineighbor_allgatherv_c")));

int PMPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 223, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_alltoall) MPI_Ineighbor_alltoall __attribute__((weak, alias("PMPI_Ineighbor_alltoall")));

int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 223, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_alltoall_c) MPI_Ineighbor_alltoall_c __attribute__((weak, alias("PMPI_Ineighbor_alltoall_c")));

int PMPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 224, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_alltoallv) MPI_Ineighbor_alltoallv __attribute__((weak, alias("PMPI_Ineighbor_alltoallv")));

int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 224, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_alltoallv_c) MPI_Ineighbor_alltoallv_c __attribute__((weak, alias("PMPI_Ineighbor_alltoallv_c")));

int PMPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 225, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_alltoallw) MPI_Ineighbor_alltoallw __attribute__((weak, alias("PMPI_Ineighbor_alltoallw")));

int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 225, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ineighbor_alltoallw_c) MPI_Ineighbor_alltoallw_c __attribute__((weak, alias("PMPI_Ineighbor_alltoallw_c")));

int PMPI_Info_create(MPI_Info *info)
{
	struct pm2_call c;
	c.function = 226, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_Info_create) MPI_Info_create __attribute__((weak, alias("PMPI_Info_create")));

int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
	struct pm2_call c;
	c.function = 227, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)argc;
	c.word[1] = (intptr_t)(void *)argv;
	c.word[2] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_Info_create_env) MPI_Info_create_env __attribute__((weak, alias("PMPI_Info_create_env")));

int PMPI_Info_delete(MPI_Info info, const char *key)
{
	struct pm2_call c;
	c.function = 228, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)key;
	return cross(&c);
}
extern __typeof__(PMPI_Info_delete) MPI_Info_delete __attribute__((weak, alias("PMPI_Info_delete")));

int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
	struct pm2_call c;
	c.function = 229, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)newinfo;
	return cross(&c);
}
extern __typeof__(PMPI_Info_dup) MPI_Info_dup __attribute__((weak, alias("PMPI_Info_dup")));

int PMPI_Info_free(MPI_Info *info)
{
	struct pm2_call c;
	c.function = 230, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_Info_free) MPI_Info_free __attribute__((weak, alias("PMPI_Info_free")));

extern __typeof__(PMPI_Info_fromint) MPI_Info_fromint __attribute__((weak, alias("PMPI_Info_fromint")));

int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
	struct pm2_call c;
	c.function = 232, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)key;
	c.word[2] = (intptr_t)valuelen;
	c.word[3] = (intptr_t)(void *)value;
	c.word[4] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Info_get) MPI_Info_get __attribute__((weak, alias("PMPI_Info_get")));

int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
	struct pm2_call c;
	c.function = 233, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)nkeys;
	return cross(&c);
}
extern __typeof__(PMPI_Info_get_nkeys) MPI_Info_get_nkeys __attribute__((weak, alias("PMPI_Info_get_nkeys")));

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
	struct pm2_call c;
	c.function = 234, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)n;
	c.word[2] = (intptr_t)(void *)key;
	return cross(&c);
}
extern __typeof__(PMPI_Info_get_nthkey) MPI_Info_get_nthkey __attribute__((weak, alias("PMPI_Info_get_nthkey")));

int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{
	struct pm2_call c;
	c.function = 235, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)key;
	c.word[2] = (intptr_t)(void *)buflen;
	c.word[3] = (intptr_t)(void *)value;
	c.word[4] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Info_get_string) MPI_Info_get_string __attribute__((weak, alias("PMPI_Info_get_string")));

int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
	struct pm2_call c;
	c.function = 236, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)key;
	c.word[2] = (intptr_t)(void *)valuelen;
	c.word[3] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Info_get_valuelen) MPI_Info_get_valuelen __attribute__((weak, alias("PMPI_Info_get_valuelen")));

int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
	struct pm2_call c;
	c.function = 237, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)key;
	c.word[2] = (intptr_t)(void *)value;
	return cross(&c);
}
extern __typeof__(PMPI_Info_set) MPI_Info_set __attribute__((weak, alias("PMPI_Info_set")));

extern __typeof__(PMPI_Info_toint) MPI_Info_toint __attribute__((weak, alias("PMPI_Info_toint")));

int PMPI_Init(int *argc, char ***argv)
{
	struct pm2_call c;
	c.function = 239, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)argc;
	c.word[1] = (intptr_t)(void *)argv;
	return cross(&c);
}
extern __typeof__(PMPI_Init) MPI_Init __attribute__((weak, alias("PMPI_Init")));

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	struct pm2_call c;
	c.function = 240, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)argc;
	c.word[1] = (intptr_t)(void *)argv;
	c.word[2] = (intptr_t)required;
	c.word[3] = (intptr_t)(void *)provided;
	return cross(&c);
}
extern __typeof__(PMPI_Init_thread) MPI_Init_thread __attribute__((weak, alias("PMPI_Init_thread")));

extern __typeof__(PMPI_Initialized) MPI_Initialized __attribute__((weak, alias("PMPI_Initialized")));

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm *newintercomm)
{
	struct pm2_call c;
	c.function = 242, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)local_comm;
	c.word[1] = (intptr_t)local_leader;
	c.word[2] = (intptr_t)(void *)peer_comm;
	c.word[3] = (intptr_t)remote_leader;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)newintercomm;
	return cross(&c);
}
extern __typeof__(PMPI_Intercomm_create) MPI_Intercomm_create __attribute__((weak, alias("PMPI_Intercomm_create")));

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
	struct pm2_call c;
	c.function = 243, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)local_group;
	c.word[1] = (intptr_t)local_leader;
	c.word[2] = (intptr_t)(void *)remote_group;
	c.word[3] = (intptr_t)remote_leader;
	c.word[4] = (intptr_t)(void *)stringtag;
	c.word[5] = (intptr_t)(void *)info;
	c.word[6] = (intptr_t)(void *)errhandler;
	c.word[7] = (intptr_t)(void *)newintercomm;
	return cross(&c);
}
extern __typeof__(PMPI_Intercomm_create_from_groups) MPI_Intercomm_create_from_groups __attribute__((weak, alias("PMPI_Intercomm_create_from_groups")));

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
	struct pm2_call c;
	c.function = 244, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)intercomm;
	c.word[1] = (intptr_t)high;
	c.word[2] = (intptr_t)(void *)newintracomm;
	return cross(&c);
}
extern __typeof__(PMPI_Intercomm_merge) MPI_Intercomm_merge __attribute__((weak, alias("PMPI_Intercomm_merge")));

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 245, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)source;
	c.word[1] = (intptr_t)tag;
	c.word[2] = (intptr_t)(void *)comm;
	c.word[3] = (intptr_t)(void *)flag;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Iprobe) MPI_Iprobe __attribute__((weak, alias("PMPI_Iprobe")));

static int cross_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 246, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)source;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Irecv) MPI_Irecv __attribute__((weak, alias("PMPI_Irecv")));

static int cross_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 246, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)source;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Irecv_c) MPI_Irecv_c __attribute__((weak, alias("PMPI_Irecv_c")));

int PMPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 247, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)root;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ireduce) MPI_Ireduce __attribute__((weak, alias("PMPI_Ireduce")));

int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 247, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)root;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ireduce_c) MPI_Ireduce_c __attribute__((weak, alias("PMPI_Ireduce_c")));

int PMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 248, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)(void *)recvcounts;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ireduce_scatter) MPI_Ireduce_scatter __attribute__((weak, alias("PMPI_Ireduce_scatter")));

int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 248, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)(void *)recvcounts;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ireduce_scatter_c) MPI_Ireduce_scatter_c __attribute__((weak, alias("PMPI_Ireduce_scatter_c")));

int PMPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 249, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)recvcount;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ireduce_scatter_block) MPI_Ireduce_scatter_block __attribute__((weak, alias("PMPI_Ireduce_scatter_block")));

int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 249, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)recvcount;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ireduce_scatter_block_c) MPI_Ireduce_scatter_block_c __attribute__((weak, alias("PMPI_Ireduce_scatter_block_c")));

static int cross_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 250, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Irsend) MPI_Irsend __attribute__((weak, alias("PMPI_Irsend")));

static int cross_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 250, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Irsend_c) MPI_Irsend_c __attribute__((weak, alias("PMPI_Irsend_c")));

int PMPI_Is_thread_main(int *flag)
{
	struct pm2_call c;
	c.function = 251, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Is_thread_main) MPI_Is_thread_main __attribute__((weak, alias("PMPI_Is_thread_main")));

int PMPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 252, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iscan) MPI_Iscan __attribute__((weak, alias("PMPI_Iscan")));

int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 252, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iscan_c) MPI_Iscan_c __attribute__((weak, alias("PMPI_Iscan_c")));

int PMPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 253, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iscatter) MPI_Iscatter __attribute__((weak, alias("PMPI_Iscatter")));

int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 253, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iscatter_c) MPI_Iscatter_c __attribute__((weak, alias("PMPI_Iscatter_c")));

int PMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 254, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)displs;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)recvcount;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iscatterv) MPI_Iscatterv __attribute__((weak, alias("PMPI_Iscatterv")));

int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 254, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)displs;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)recvcount;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Iscatterv_c) MPI_Iscatterv_c __attribute__((weak, alias("PMPI_Iscatterv_c")));

static int cross_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 255, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Isend) MPI_Isend __attribute__((weak, alias("PMPI_Isend")));

static int cross_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 255, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Isend_c) MPI_Isend_c __attribute__((weak, alias("PMPI_Isend_c")));

int PMPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 256, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)sendtag;
	c.word[5] = (intptr_t)(void *)recvbuf;
	c.word[6] = (intptr_t)recvcount;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)source;
	c.word[9] = (intptr_t)recvtag;
	c.word[10] = (intptr_t)(void *)comm;
	c.word[11] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Isendrecv) MPI_Isendrecv __attribute__((weak, alias("PMPI_Isendrecv")));

int PMPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 256, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)sendtag;
	c.word[5] = (intptr_t)(void *)recvbuf;
	c.word[6] = (intptr_t)recvcount;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)source;
	c.word[9] = (intptr_t)recvtag;
	c.word[10] = (intptr_t)(void *)comm;
	c.word[11] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Isendrecv_c) MPI_Isendrecv_c __attribute__((weak, alias("PMPI_Isendrecv_c")));

int PMPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 257, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)sendtag;
	c.word[5] = (intptr_t)source;
	c.word[6] = (intptr_t)recvtag;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Isendrecv_replace) MPI_Isendrecv_replace __attribute__((weak, alias("PMPI_Isendrecv_replace")));

int PMPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 257, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)sendtag;
	c.word[5] = (intptr_t)source;
	c.word[6] = (intptr_t)recvtag;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Isendrecv_replace_c) MPI_Isendrecv_replace_c __attribute__((weak, alias("PMPI_Isendrecv_replace_c")));

int PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 258, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Issend) MPI_Issend __attribute__((weak, alias("PMPI_Issend")));

int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 258, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Issend_c) MPI_Issend_c __attribute__((weak, alias("PMPI_Issend_c")));

int PMPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state)
{
	struct pm2_call c;
	c.function = 259, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)copy_fn;
	c.word[1] = (intptr_t)(void *)delete_fn;
	c.word[2] = (intptr_t)(void *)keyval;
	c.word[3] = (intptr_t)(void *)extra_state;
	return cross(&c);
}
extern __typeof__(PMPI_Keyval_create) MPI_Keyval_create __attribute__((weak, alias("PMPI_Keyval_create")));

int PMPI_Keyval_free(int *keyval)
{
	struct pm2_call c;
	c.function = 260, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)keyval;
	return cross(&c);
}
extern __typeof__(PMPI_Keyval_free) MPI_Keyval_free __attribute__((weak, alias("PMPI_Keyval_free")));

int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
	struct pm2_call c;
	c.function = 261, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)service_name;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)(void *)port_name;
	return cross(&c);
}
extern __typeof__(PMPI_Lookup_name) MPI_Lookup_name __attribute__((weak, alias("PMPI_Lookup_name")));

extern __typeof__(PMPI_Message_fromint) MPI_Message_fromint __attribute__((weak, alias("PMPI_Message_fromint")));

extern __typeof__(PMPI_Message_toint) MPI_Message_toint __attribute__((weak, alias("PMPI_Message_toint")));

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 264, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)source;
	c.word[1] = (intptr_t)tag;
	c.word[2] = (intptr_t)(void *)comm;
	c.word[3] = (intptr_t)(void *)message;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Mprobe) MPI_Mprobe __attribute__((weak, alias("PMPI_Mprobe")));

int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 265, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)(void *)message;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Mrecv) MPI_Mrecv __attribute__((weak, alias("PMPI_Mrecv")));

int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 265, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)(void *)message;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Mrecv_c) MPI_Mrecv_c __attribute__((weak, alias("PMPI_Mrecv_c")));

int PMPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 266, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_allgather) MPI_Neighbor_allgather __attribute__((weak, alias("PMPI_Neighbor_allgather")));

int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 266, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_allgather_c) MPI_Neighbor_allgather_c __attribute__((weak, alias("PMPI_Neighbor_allgather_c")));

int PMPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 267, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_allgather_init) MPI_Neighbor_allgather_init __attribute__((weak, alias("PMPI_Neighbor_allgather_init")));

int PMPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 267, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_allgather_init_c) MPI_Neighbor_allgather_init_c __attribute__((weak, alias("PMPI_Neighbor_allgather_init_c")));

int PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 268, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_allgatherv) MPI_Neighbor_allgatherv __attribute__((weak, alias("PMPI_Neighbor_allgatherv")));

int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 268, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_allgatherv_c) MPI_Neighbor_allgatherv_c __attribute__((weak, alias("PMPI_Neighbor_allgatherv_c")));

int PMPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 269, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)info;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_allgatherv_init) MPI_Neighbor_allgatherv_init __attribute__((weak, alias("PMPI_Neighbor_allgatherv_init")));

int PMPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 269, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)(void *)recvcounts;
	c.word[5] = (intptr_t)(void *)displs;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)info;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_allgatherv_init_c) MPI_Neighbor_allgatherv_init_c __attribute__((weak, alias("PMPI_Neighbor_allgatherv_init_c")));

int PMPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 270, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoall) MPI_Neighbor_alltoall __attribute__((weak, alias("PMPI_Neighbor_alltoall")));

int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 270, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoall_c) MPI_Neighbor_alltoall_c __attribute__((weak, alias("PMPI_Neighbor_alltoall_c")));

int PMPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 271, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoall_init) MPI_Neighbor_alltoall_init __attribute__((weak, alias("PMPI_Neighbor_alltoall_init")));

int PMPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 271, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoall_init_c) MPI_Neighbor_alltoall_init_c __attribute__((weak, alias("PMPI_Neighbor_alltoall_init_c")));

int PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 272, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoallv) MPI_Neighbor_alltoallv __attribute__((weak, alias("PMPI_Neighbor_alltoallv")));

int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 272, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoallv_c) MPI_Neighbor_alltoallv_c __attribute__((weak, alias("PMPI_Neighbor_alltoallv_c")));

int PMPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 273, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoallv_init) MPI_Neighbor_alltoallv_init __attribute__((weak, alias("PMPI_Neighbor_alltoallv_init")));

int PMPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 273, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoallv_init_c) MPI_Neighbor_alltoallv_init_c __attribute__((weak, alias("PMPI_Neighbor_alltoallv_init_c")));

int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 274, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoallw) MPI_Neighbor_alltoallw __attribute__((weak, alias("PMPI_Neighbor_alltoallw")));

int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 274, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoallw_c) MPI_Neighbor_alltoallw_c __attribute__((weak, alias("PMPI_Neighbor_alltoallw_c")));

int PMPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 275, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoallw_init) MPI_Neighbor_alltoallw_init __attribute__((weak, alias("PMPI_Neighbor_alltoallw_init")));

int PMPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 275, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)sdispls;
	c.word[3] = (intptr_t)(void *)sendtypes;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)(void *)recvcounts;
	c.word[6] = (intptr_t)(void *)rdispls;
	c.word[7] = (intptr_t)(void *)recvtypes;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Neighbor_alltoallw_init_c) MPI_Neighbor_alltoallw_init_c __attribute__((weak, alias("PMPI_Neighbor_alltoallw_init_c")));

int PMPI_Op_commutative(MPI_Op op, int *commute)
{
	struct pm2_call c;
	c.function = 276, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)op;
	c.word[1] = (intptr_t)(void *)commute;
	return cross(&c);
}
extern __typeof__(PMPI_Op_commutative) MPI_Op_commutative __attribute__((weak, alias("PMPI_Op_commutative")));

int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
	struct pm2_call c;
	c.function = 277, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)user_fn;
	c.word[1] = (intptr_t)commute;
	c.word[2] = (intptr_t)(void *)op;
	return cross(&c);
}
extern __typeof__(PMPI_Op_create) MPI_Op_create __attribute__((weak, alias("PMPI_Op_create")));

int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
	struct pm2_call c;
	c.function = 277, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)user_fn;
	c.word[1] = (intptr_t)commute;
	c.word[2] = (intptr_t)(void *)op;
	return cross(&c);
}
extern __typeof__(PMPI_Op_create_c) MPI_Op_create_c __attribute__((weak, alias("PMPI_Op_create_c")));

int PMPI_Op_free(MPI_Op *op)
{
	struct pm2_call c;
	c.function = 278, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)op;
	return cross(&c);
}
extern __typeof__(PMPI_Op_free) MPI_Op_free __attribute__((weak, alias("PMPI_Op_free")));

extern __typeof__(PMPI_Op_fromint) MPI_Op_fromint __attribute__((weak, alias("PMPI_Op_fromint")));

extern __typeof__(PMPI_Op_toint) MPI_Op_toint __attribute__((weak, alias("PMPI_Op_toint")));

int PMPI_Open_port(MPI_Info info, char *port_name)
{
	struct pm2_call c;
	c.function = 281, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)port_name;
	return cross(&c);
}
extern __typeof__(PMPI_Open_port) MPI_Open_port __attribute__((weak, alias("PMPI_Open_port")));

int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 282, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)inbuf;
	c.word[1] = (intptr_t)incount;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)(void *)outbuf;
	c.word[4] = (intptr_t)outsize;
	c.word[5] = (intptr_t)(void *)position;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Pack) MPI_Pack __attribute__((weak, alias("PMPI_Pack")));

int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 282, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)inbuf;
	c.word[1] = (intptr_t)incount;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)(void *)outbuf;
	c.word[4] = (intptr_t)outsize;
	c.word[5] = (intptr_t)(void *)position;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Pack_c) MPI_Pack_c __attribute__((weak, alias("PMPI_Pack_c")));

int PMPI_Pack_external(const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, MPI_Aint outsize, MPI_Aint *position)
{
	struct pm2_call c;
	c.function = 283, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datarep;
	c.word[1] = (intptr_t)(void *)inbuf;
	c.word[2] = (intptr_t)incount;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)outbuf;
	c.word[5] = (intptr_t)outsize;
	c.word[6] = (intptr_t)(void *)position;
	return cross(&c);
}
extern __typeof__(PMPI_Pack_external) MPI_Pack_external __attribute__((weak, alias("PMPI_Pack_external")));

int PMPI_Pack_external_c(const char *datarep, const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position)
{
	struct pm2_call c;
	c.function = 283, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datarep;
	c.word[1] = (intptr_t)(void *)inbuf;
	c.word[2] = (intptr_t)incount;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)outbuf;
	c.word[5] = (intptr_t)outsize;
	c.word[6] = (intptr_t)(void *)position;
	return cross(&c);
}
extern __typeof__(PMPI_Pack_external_c) MPI_Pack_external_c __attribute__((weak, alias("PMPI_Pack_external_c")));

int PMPI_Pack_external_size(const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size)
{
	struct pm2_call c;
	c.function = 284, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datarep;
	c.word[1] = (intptr_t)incount;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Pack_external_size) MPI_Pack_external_size __attribute__((weak, alias("PMPI_Pack_external_size")));

int PMPI_Pack_external_size_c(const char *datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count *size)
{
	struct pm2_call c;
	c.function = 284, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datarep;
	c.word[1] = (intptr_t)incount;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Pack_external_size_c) MPI_Pack_external_size_c __attribute__((weak, alias("PMPI_Pack_external_size_c")));

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
	struct pm2_call c;
	c.function = 285, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)incount;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)(void *)comm;
	c.word[3] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Pack_size) MPI_Pack_size __attribute__((weak, alias("PMPI_Pack_size")));

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
	struct pm2_call c;
	c.function = 285, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)incount;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)(void *)comm;
	c.word[3] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Pack_size_c) MPI_Pack_size_c __attribute__((weak, alias("PMPI_Pack_size_c")));

int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
	struct pm2_call c;
	c.function = 286, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)request;
	c.word[1] = (intptr_t)partition;
	c.word[2] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Parrived) MPI_Parrived __attribute__((weak, alias("PMPI_Parrived")));

extern __typeof__(PMPI_Pcontrol) MPI_Pcontrol __attribute__((weak, alias("PMPI_Pcontrol")));

int PMPI_Pready(int partition, MPI_Request request)
{
	struct pm2_call c;
	c.function = 288, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)partition;
	c.word[1] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Pready) MPI_Pready __attribute__((weak, alias("PMPI_Pready")));

int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)
{
	struct pm2_call c;
	c.function = 289, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)length;
	c.word[1] = (intptr_t)(void *)array_of_partitions;
	c.word[2] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Pready_list) MPI_Pready_list __attribute__((weak, alias("PMPI_Pready_list")));

int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{
	struct pm2_call c;
	c.function = 290, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)partition_low;
	c.word[1] = (intptr_t)partition_high;
	c.word[2] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Pready_range) MPI_Pready_range __attribute__((weak, alias("PMPI_Pready_range")));

int PMPI_Precv_init(void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 291, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)partitions;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)dest;
	c.word[5] = (intptr_t)tag;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Precv_init) MPI_Precv_init __attribute__((weak, alias("PMPI_Precv_init")));

int PMPI_Precv_init_c(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 291, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)partitions;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)dest;
	c.word[5] = (intptr_t)tag;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Precv_init_c) MPI_Precv_init_c __attribute__((weak, alias("PMPI_Precv_init_c")));

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 292, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)source;
	c.word[1] = (intptr_t)tag;
	c.word[2] = (intptr_t)(void *)comm;
	c.word[3] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Probe) MPI_Probe __attribute__((weak, alias("PMPI_Probe")));

int PMPI_Psend_init(const void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 293, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)partitions;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)dest;
	c.word[5] = (intptr_t)tag;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Psend_init) MPI_Psend_init __attribute__((weak, alias("PMPI_Psend_init")));

int PMPI_Psend_init_c(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 293, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)partitions;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)dest;
	c.word[5] = (intptr_t)tag;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Psend_init_c) MPI_Psend_init_c __attribute__((weak, alias("PMPI_Psend_init_c")));

int PMPI_Publish_name(const char *service_name, MPI_Info info, const char *port_name)
{
	struct pm2_call c;
	c.function = 294, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)service_name;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)(void *)port_name;
	return cross(&c);
}
extern __typeof__(PMPI_Publish_name) MPI_Publish_name __attribute__((weak, alias("PMPI_Publish_name")));

int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct pm2_call c;
	c.function = 295, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Put) MPI_Put __attribute__((weak, alias("PMPI_Put")));

int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	struct pm2_call c;
	c.function = 295, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Put_c) MPI_Put_c __attribute__((weak, alias("PMPI_Put_c")));

int PMPI_Query_thread(int *provided)
{
	struct pm2_call c;
	c.function = 296, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)provided;
	return cross(&c);
}
extern __typeof__(PMPI_Query_thread) MPI_Query_thread __attribute__((weak, alias("PMPI_Query_thread")));

int PMPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 297, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)op;
	c.word[8] = (intptr_t)(void *)win;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Raccumulate) MPI_Raccumulate __attribute__((weak, alias("PMPI_Raccumulate")));

int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 297, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)op;
	c.word[8] = (intptr_t)(void *)win;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Raccumulate_c) MPI_Raccumulate_c __attribute__((weak, alias("PMPI_Raccumulate_c")));

static int cross_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 298, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)source;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Recv) MPI_Recv __attribute__((weak, alias("PMPI_Recv")));

static int cross_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 298, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)source;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Recv_c) MPI_Recv_c __attribute__((weak, alias("PMPI_Recv_c")));

int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 299, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)source;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Recv_init) MPI_Recv_init __attribute__((weak, alias("PMPI_Recv_init")));

int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 299, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)source;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Recv_init_c) MPI_Recv_init_c __attribute__((weak, alias("PMPI_Recv_init_c")));

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 300, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)root;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce) MPI_Reduce __attribute__((weak, alias("PMPI_Reduce")));

int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 300, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)root;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_c) MPI_Reduce_c __attribute__((weak, alias("PMPI_Reduce_c")));

int PMPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 301, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)root;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_init) MPI_Reduce_init __attribute__((weak, alias("PMPI_Reduce_init")));

int PMPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 301, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)root;
	c.word[6] = (intptr_t)(void *)comm;
	c.word[7] = (intptr_t)(void *)info;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_init_c) MPI_Reduce_init_c __attribute__((weak, alias("PMPI_Reduce_init_c")));

int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op)
{
	struct pm2_call c;
	c.function = 302, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)inbuf;
	c.word[1] = (intptr_t)(void *)inoutbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_local) MPI_Reduce_local __attribute__((weak, alias("PMPI_Reduce_local")));

int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op)
{
	struct pm2_call c;
	c.function = 302, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)inbuf;
	c.word[1] = (intptr_t)(void *)inoutbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_local_c) MPI_Reduce_local_c __attribute__((weak, alias("PMPI_Reduce_local_c")));

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 303, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)(void *)recvcounts;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_scatter) MPI_Reduce_scatter __attribute__((weak, alias("PMPI_Reduce_scatter")));

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 303, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)(void *)recvcounts;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_scatter_c) MPI_Reduce_scatter_c __attribute__((weak, alias("PMPI_Reduce_scatter_c")));

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 304, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)recvcount;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_scatter_block) MPI_Reduce_scatter_block __attribute__((weak, alias("PMPI_Reduce_scatter_block")));

int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 304, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)recvcount;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_scatter_block_c) MPI_Reduce_scatter_block_c __attribute__((weak, alias("PMPI_Reduce_scatter_block_c")));

int PMPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 305, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)recvcount;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_scatter_block_init) MPI_Reduce_scatter_block_init __attribute__((weak, alias("PMPI_Reduce_scatter_block_init")));

int PMPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 305, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)recvcount;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_scatter_block_init_c) MPI_Reduce_scatter_block_init_c __attribute__((weak, alias("PMPI_Reduce_scatter_block_init_c")));

int PMPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 306, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)(void *)recvcounts;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_scatter_init) MPI_Reduce_scatter_init __attribute__((weak, alias("PMPI_Reduce_scatter_init")));

int PMPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 306, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)(void *)recvcounts;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Reduce_scatter_init_c) MPI_Reduce_scatter_init_c __attribute__((weak, alias("PMPI_Reduce_scatter_init_c")));

int PMPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn, MPI_Datarep_conversion_function *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
	struct pm2_call c;
	c.function = 307, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datarep;
	c.word[1] = (intptr_t)(void *)read_conversion_fn;
	c.word[2] = (intptr_t)(void *)write_conversion_fn;
	c.word[3] = (intptr_t)(void *)dtype_file_extent_fn;
	c.word[4] = (intptr_t)(void *)extra_state;
	return cross(&c);
}
extern __typeof__(PMPI_Register_datarep) MPI_Register_datarep __attribute__((weak, alias("PMPI_Register_datarep")));

int PMPI_Register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn, MPI_Datarep_conversion_function_c *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
	struct pm2_call c;
	c.function = 307, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datarep;
	c.word[1] = (intptr_t)(void *)read_conversion_fn;
	c.word[2] = (intptr_t)(void *)write_conversion_fn;
	c.word[3] = (intptr_t)(void *)dtype_file_extent_fn;
	c.word[4] = (intptr_t)(void *)extra_state;
	return cross(&c);
}
extern __typeof__(PMPI_Register_datarep_c) MPI_Register_datarep_c __attribute__((weak, alias("PMPI_Register_datarep_c")));

int PMPI_Remove_error_class(int errorclass)
{
	struct pm2_call c;
	c.function = 308, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)errorclass;
	return cross(&c);
}
extern __typeof__(PMPI_Remove_error_class) MPI_Remove_error_class __attribute__((weak, alias("PMPI_Remove_error_class")));

int PMPI_Remove_error_code(int errorcode)
{
	struct pm2_call c;
	c.function = 309, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)errorcode;
	return cross(&c);
}
extern __typeof__(PMPI_Remove_error_code) MPI_Remove_error_code __attribute__((weak, alias("PMPI_Remove_error_code")));

int PMPI_Remove_error_string(int errorcode)
{
	struct pm2_call c;
	c.function = 310, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)errorcode;
	return cross(&c);
}
extern __typeof__(PMPI_Remove_error_string) MPI_Remove_error_string __attribute__((weak, alias("PMPI_Remove_error_string")));

int PMPI_Request_free(MPI_Request *request)
{
	struct pm2_call c;
	c.function = 311, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Request_free) MPI_Request_free __attribute__((weak, alias("PMPI_Request_free")));

extern __typeof__(PMPI_Request_fromint) MPI_Request_fromint __attribute__((weak, alias("PMPI_Request_fromint")));

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 313, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)request;
	c.word[1] = (intptr_t)(void *)flag;
	c.word[2] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Request_get_status) MPI_Request_get_status __attribute__((weak, alias("PMPI_Request_get_status")));

int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses)
{
	struct pm2_call c;
	c.function = 314, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	c.word[2] = (intptr_t)(void *)flag;
	c.word[3] = (intptr_t)(void *)array_of_statuses;
	return cross(&c);
}
extern __typeof__(PMPI_Request_get_status_all) MPI_Request_get_status_all __attribute__((weak, alias("PMPI_Request_get_status_all")));

int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 315, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	c.word[2] = (intptr_t)(void *)indx;
	c.word[3] = (intptr_t)(void *)flag;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Request_get_status_any) MPI_Request_get_status_any __attribute__((weak, alias("PMPI_Request_get_status_any")));

int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status *array_of_statuses)
{
	struct pm2_call c;
	c.function = 316, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)incount;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	c.word[2] = (intptr_t)(void *)outcount;
	c.word[3] = (intptr_t)(void *)array_of_indices;
	c.word[4] = (intptr_t)(void *)array_of_statuses;
	return cross(&c);
}
extern __typeof__(PMPI_Request_get_status_some) MPI_Request_get_status_some __attribute__((weak, alias("PMPI_Request_get_status_some")));

extern __typeof__(PMPI_Request_toint) MPI_Request_toint __attribute__((weak, alias("PMPI_Request_toint")));

int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 318, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)win;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Rget) MPI_Rget __attribute__((weak, alias("PMPI_Rget")));

int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 318, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)win;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Rget_c) MPI_Rget_c __attribute__((weak, alias("PMPI_Rget_c")));

int PMPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 319, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)(void *)result_addr;
	c.word[4] = (intptr_t)result_count;
	c.word[5] = (intptr_t)(void *)result_datatype;
	c.word[6] = (intptr_t)target_rank;
	c.word[7] = (intptr_t)target_disp;
	c.word[8] = (intptr_t)target_count;
	c.word[9] = (intptr_t)(void *)target_datatype;
	c.word[10] = (intptr_t)(void *)op;
	c.word[11] = (intptr_t)(void *)win;
	c.word[12] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Rget_accumulate) MPI_Rget_accumulate __attribute__((weak, alias("PMPI_Rget_accumulate")));

int PMPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 319, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)(void *)result_addr;
	c.word[4] = (intptr_t)result_count;
	c.word[5] = (intptr_t)(void *)result_datatype;
	c.word[6] = (intptr_t)target_rank;
	c.word[7] = (intptr_t)target_disp;
	c.word[8] = (intptr_t)target_count;
	c.word[9] = (intptr_t)(void *)target_datatype;
	c.word[10] = (intptr_t)(void *)op;
	c.word[11] = (intptr_t)(void *)win;
	c.word[12] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Rget_accumulate_c) MPI_Rget_accumulate_c __attribute__((weak, alias("PMPI_Rget_accumulate_c")));

int PMPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 320, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)win;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Rput) MPI_Rput __attribute__((weak, alias("PMPI_Rput")));

int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 320, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)origin_addr;
	c.word[1] = (intptr_t)origin_count;
	c.word[2] = (intptr_t)(void *)origin_datatype;
	c.word[3] = (intptr_t)target_rank;
	c.word[4] = (intptr_t)target_disp;
	c.word[5] = (intptr_t)target_count;
	c.word[6] = (intptr_t)(void *)target_datatype;
	c.word[7] = (intptr_t)(void *)win;
	c.word[8] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Rput_c) MPI_Rput_c __attribute__((weak, alias("PMPI_Rput_c")));

static int cross_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 321, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Rsend) MPI_Rsend __attribute__((weak, alias("PMPI_Rsend")));

static int cross_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 321, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Rsend_c) MPI_Rsend_c __attribute__((weak, alias("PMPI_Rsend_c")));

int PMPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 322, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Rsend_init) MPI_Rsend_init __attribute__((weak, alias("PMPI_Rsend_init")));

int PMPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 322, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Rsend_init_c) MPI_Rsend_init_c __attribute__((weak, alias("PMPI_Rsend_init_c")));

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 323, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Scan) MPI_Scan __attribute__((weak, alias("PMPI_Scan")));

int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 323, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Scan_c) MPI_Scan_c __attribute__((weak, alias("PMPI_Scan_c")));

int PMPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 324, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Scan_init) MPI_Scan_init __attribute__((weak, alias("PMPI_Scan_init")));

int PMPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 324, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)recvbuf;
	c.word[2] = (intptr_t)count;
	c.word[3] = (intptr_t)(void *)datatype;
	c.word[4] = (intptr_t)(void *)op;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)info;
	c.word[7] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Scan_init_c) MPI_Scan_init_c __attribute__((weak, alias("PMPI_Scan_init_c")));

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 325, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Scatter) MPI_Scatter __attribute__((weak, alias("PMPI_Scatter")));

int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 325, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Scatter_c) MPI_Scatter_c __attribute__((weak, alias("PMPI_Scatter_c")));

int PMPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 326, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)info;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Scatter_init) MPI_Scatter_init __attribute__((weak, alias("PMPI_Scatter_init")));

int PMPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 326, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)(void *)recvbuf;
	c.word[4] = (intptr_t)recvcount;
	c.word[5] = (intptr_t)(void *)recvtype;
	c.word[6] = (intptr_t)root;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)info;
	c.word[9] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Scatter_init_c) MPI_Scatter_init_c __attribute__((weak, alias("PMPI_Scatter_init_c")));

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 327, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)displs;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)recvcount;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Scatterv) MPI_Scatterv __attribute__((weak, alias("PMPI_Scatterv")));

int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 327, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)displs;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)recvcount;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Scatterv_c) MPI_Scatterv_c __attribute__((weak, alias("PMPI_Scatterv_c")));

int PMPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 328, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)displs;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)recvcount;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Scatterv_init) MPI_Scatterv_init __attribute__((weak, alias("PMPI_Scatterv_init")));

int PMPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 328, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)(void *)sendcounts;
	c.word[2] = (intptr_t)(void *)displs;
	c.word[3] = (intptr_t)(void *)sendtype;
	c.word[4] = (intptr_t)(void *)recvbuf;
	c.word[5] = (intptr_t)recvcount;
	c.word[6] = (intptr_t)(void *)recvtype;
	c.word[7] = (intptr_t)root;
	c.word[8] = (intptr_t)(void *)comm;
	c.word[9] = (intptr_t)(void *)info;
	c.word[10] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Scatterv_init_c) MPI_Scatterv_init_c __attribute__((weak, alias("PMPI_Scatterv_init_c")));

static int cross_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 329, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Send) MPI_Send __attribute__((weak, alias("PMPI_Send")));

static int cross_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 329, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Send_c) MPI_Send_c __attribute__((weak, alias("PMPI_Send_c")));

int PMPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 330, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Send_init) MPI_Send_init __attribute__((weak, alias("PMPI_Send_init")));

int PMPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 330, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Send_init_c) MPI_Send_init_c __attribute__((weak, alias("PMPI_Send_init_c")));

int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 331, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)sendtag;
	c.word[5] = (intptr_t)(void *)recvbuf;
	c.word[6] = (intptr_t)recvcount;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)source;
	c.word[9] = (intptr_t)recvtag;
	c.word[10] = (intptr_t)(void *)comm;
	c.word[11] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Sendrecv) MPI_Sendrecv __attribute__((weak, alias("PMPI_Sendrecv")));

int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 331, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)sendbuf;
	c.word[1] = (intptr_t)sendcount;
	c.word[2] = (intptr_t)(void *)sendtype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)sendtag;
	c.word[5] = (intptr_t)(void *)recvbuf;
	c.word[6] = (intptr_t)recvcount;
	c.word[7] = (intptr_t)(void *)recvtype;
	c.word[8] = (intptr_t)source;
	c.word[9] = (intptr_t)recvtag;
	c.word[10] = (intptr_t)(void *)comm;
	c.word[11] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Sendrecv_c) MPI_Sendrecv_c __attribute__((weak, alias("PMPI_Sendrecv_c")));

int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 332, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)sendtag;
	c.word[5] = (intptr_t)source;
	c.word[6] = (intptr_t)recvtag;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Sendrecv_replace) MPI_Sendrecv_replace __attribute__((weak, alias("PMPI_Sendrecv_replace")));

int PMPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 332, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)sendtag;
	c.word[5] = (intptr_t)source;
	c.word[6] = (intptr_t)recvtag;
	c.word[7] = (intptr_t)(void *)comm;
	c.word[8] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Sendrecv_replace_c) MPI_Sendrecv_replace_c __attribute__((weak, alias("PMPI_Sendrecv_replace_c")));

int PMPI_Session_attach_buffer(MPI_Session session, void *buffer, int size)
{
	struct pm2_call c;
	c.function = 333, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)buffer;
	c.word[2] = (intptr_t)size;
	return cross(&c);
}
extern __typeof__(PMPI_Session_attach_buffer) MPI_Session_attach_buffer __attribute__((weak, alias("PMPI_Session_attach_buffer")));

int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size)
{
	struct pm2_call c;
	c.function = 333, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)buffer;
	c.word[2] = (intptr_t)size;
	return cross(&c);
}
extern __typeof__(PMPI_Session_attach_buffer_c) MPI_Session_attach_buffer_c __attribute__((weak, alias("PMPI_Session_attach_buffer_c")));

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
	struct pm2_call c;
	c.function = 334, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)errorcode;
	return cross(&c);
}
extern __typeof__(PMPI_Session_call_errhandler) MPI_Session_call_errhandler __attribute__((weak, alias("PMPI_Session_call_errhandler")));

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler *errhandler)
{
	struct pm2_call c;
	c.function = 335, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session_errhandler_fn;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Session_create_errhandler) MPI_Session_create_errhandler __attribute__((weak, alias("PMPI_Session_create_errhandler")));

int PMPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size)
{
	struct pm2_call c;
	c.function = 336, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)buffer_addr;
	c.word[2] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Session_detach_buffer) MPI_Session_detach_buffer __attribute__((weak, alias("PMPI_Session_detach_buffer")));

int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size)
{
	struct pm2_call c;
	c.function = 336, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)buffer_addr;
	c.word[2] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Session_detach_buffer_c) MPI_Session_detach_buffer_c __attribute__((weak, alias("PMPI_Session_detach_buffer_c")));

int PMPI_Session_finalize(MPI_Session *session)
{
	struct pm2_call c;
	c.function = 337, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	return cross(&c);
}
extern __typeof__(PMPI_Session_finalize) MPI_Session_finalize __attribute__((weak, alias("PMPI_Session_finalize")));

int PMPI_Session_flush_buffer(MPI_Session session)
{
	struct pm2_call c;
	c.function = 338, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	return cross(&c);
}
extern __typeof__(PMPI_Session_flush_buffer) MPI_Session_flush_buffer __attribute__((weak, alias("PMPI_Session_flush_buffer")));

extern __typeof__(PMPI_Session_fromint) MPI_Session_fromint __attribute__((weak, alias("PMPI_Session_fromint")));

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
	struct pm2_call c;
	c.function = 340, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Session_get_errhandler) MPI_Session_get_errhandler __attribute__((weak, alias("PMPI_Session_get_errhandler")));

int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
	struct pm2_call c;
	c.function = 341, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)info_used;
	return cross(&c);
}
extern __typeof__(PMPI_Session_get_info) MPI_Session_get_info __attribute__((weak, alias("PMPI_Session_get_info")));

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name)
{
	struct pm2_call c;
	c.function = 342, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)n;
	c.word[3] = (intptr_t)(void *)pset_len;
	c.word[4] = (intptr_t)(void *)pset_name;
	return cross(&c);
}
extern __typeof__(PMPI_Session_get_nth_pset) MPI_Session_get_nth_pset __attribute__((weak, alias("PMPI_Session_get_nth_pset")));

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
{
	struct pm2_call c;
	c.function = 343, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)(void *)npset_names;
	return cross(&c);
}
extern __typeof__(PMPI_Session_get_num_psets) MPI_Session_get_num_psets __attribute__((weak, alias("PMPI_Session_get_num_psets")));

int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
	struct pm2_call c;
	c.function = 344, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)pset_name;
	c.word[2] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_Session_get_pset_info) MPI_Session_get_pset_info __attribute__((weak, alias("PMPI_Session_get_pset_info")));

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 345, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Session_iflush_buffer) MPI_Session_iflush_buffer __attribute__((weak, alias("PMPI_Session_iflush_buffer")));

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
	struct pm2_call c;
	c.function = 346, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)errhandler;
	c.word[2] = (intptr_t)(void *)session;
	return cross(&c);
}
extern __typeof__(PMPI_Session_init) MPI_Session_init __attribute__((weak, alias("PMPI_Session_init")));

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
	struct pm2_call c;
	c.function = 347, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Session_set_errhandler) MPI_Session_set_errhandler __attribute__((weak, alias("PMPI_Session_set_errhandler")));

extern __typeof__(PMPI_Session_toint) MPI_Session_toint __attribute__((weak, alias("PMPI_Session_toint")));

int PMPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 349, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Ssend) MPI_Ssend __attribute__((weak, alias("PMPI_Ssend")));

int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 349, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Ssend_c) MPI_Ssend_c __attribute__((weak, alias("PMPI_Ssend_c")));

int PMPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 350, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ssend_init) MPI_Ssend_init __attribute__((weak, alias("PMPI_Ssend_init")));

int PMPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct pm2_call c;
	c.function = 350, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)buf;
	c.word[1] = (intptr_t)count;
	c.word[2] = (intptr_t)(void *)datatype;
	c.word[3] = (intptr_t)dest;
	c.word[4] = (intptr_t)tag;
	c.word[5] = (intptr_t)(void *)comm;
	c.word[6] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Ssend_init_c) MPI_Ssend_init_c __attribute__((weak, alias("PMPI_Ssend_init_c")));

int PMPI_Start(MPI_Request *request)
{
	struct pm2_call c;
	c.function = 351, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)request;
	return cross(&c);
}
extern __typeof__(PMPI_Start) MPI_Start __attribute__((weak, alias("PMPI_Start")));

int PMPI_Startall(int count, MPI_Request array_of_requests[])
{
	struct pm2_call c;
	c.function = 352, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	return cross(&c);
}
extern __typeof__(PMPI_Startall) MPI_Startall __attribute__((weak, alias("PMPI_Startall")));

extern __typeof__(PMPI_Status_get_error) MPI_Status_get_error __attribute__((weak, alias("PMPI_Status_get_error")));

extern __typeof__(PMPI_Status_get_source) MPI_Status_get_source __attribute__((weak, alias("PMPI_Status_get_source")));

extern __typeof__(PMPI_Status_get_tag) MPI_Status_get_tag __attribute__((weak, alias("PMPI_Status_get_tag")));

extern __typeof__(PMPI_Status_set_cancelled) MPI_Status_set_cancelled __attribute__((weak, alias("PMPI_Status_set_cancelled")));

int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
	struct pm2_call c;
	c.function = 357, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)status;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)count;
	return cross(&c);
}
extern __typeof__(PMPI_Status_set_elements) MPI_Status_set_elements __attribute__((weak, alias("PMPI_Status_set_elements")));

int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
	struct pm2_call c;
	c.function = 357, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)status;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)count;
	return cross(&c);
}
extern __typeof__(PMPI_Status_set_elements_c) MPI_Status_set_elements_c __attribute__((weak, alias("PMPI_Status_set_elements_c")));

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
	struct pm2_call c;
	c.function = 358, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)status;
	c.word[1] = (intptr_t)(void *)datatype;
	c.word[2] = (intptr_t)count;
	return cross(&c);
}
extern __typeof__(PMPI_Status_set_elements_x) MPI_Status_set_elements_x __attribute__((weak, alias("PMPI_Status_set_elements_x")));

extern __typeof__(PMPI_Status_set_error) MPI_Status_set_error __attribute__((weak, alias("PMPI_Status_set_error")));

extern __typeof__(PMPI_Status_set_source) MPI_Status_set_source __attribute__((weak, alias("PMPI_Status_set_source")));

extern __typeof__(PMPI_Status_set_tag) MPI_Status_set_tag __attribute__((weak, alias("PMPI_Status_set_tag")));

static int cross_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 362, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)request;
	c.word[1] = (intptr_t)(void *)flag;
	c.word[2] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Test) MPI_Test __attribute__((weak, alias("PMPI_Test")));

extern __typeof__(PMPI_Test_cancelled) MPI_Test_cancelled __attribute__((weak, alias("PMPI_Test_cancelled")));

int PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses)
{
	struct pm2_call c;
	c.function = 364, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	c.word[2] = (intptr_t)(void *)flag;
	c.word[3] = (intptr_t)(void *)array_of_statuses;
	return cross(&c);
}
extern __typeof__(PMPI_Testall) MPI_Testall __attribute__((weak, alias("PMPI_Testall")));

int PMPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 365, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	c.word[2] = (intptr_t)(void *)indx;
	c.word[3] = (intptr_t)(void *)flag;
	c.word[4] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Testany) MPI_Testany __attribute__((weak, alias("PMPI_Testany")));

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status *array_of_statuses)
{
	struct pm2_call c;
	c.function = 366, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)incount;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	c.word[2] = (intptr_t)(void *)outcount;
	c.word[3] = (intptr_t)(void *)array_of_indices;
	c.word[4] = (intptr_t)(void *)array_of_statuses;
	return cross(&c);
}
extern __typeof__(PMPI_Testsome) MPI_Testsome __attribute__((weak, alias("PMPI_Testsome")));

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
	struct pm2_call c;
	c.function = 367, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)comm;
	c.word[1] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Topo_test) MPI_Topo_test __attribute__((weak, alias("PMPI_Topo_test")));

int PMPI_Type_commit(MPI_Datatype *datatype)
{
	struct pm2_call c;
	c.function = 368, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_commit) MPI_Type_commit __attribute__((weak, alias("PMPI_Type_commit")));

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 369, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)oldtype;
	c.word[2] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_contiguous) MPI_Type_contiguous __attribute__((weak, alias("PMPI_Type_contiguous")));

int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 369, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)oldtype;
	c.word[2] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_contiguous_c) MPI_Type_contiguous_c __attribute__((weak, alias("PMPI_Type_contiguous_c")));

int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[], const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 370, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)size;
	c.word[1] = (intptr_t)rank;
	c.word[2] = (intptr_t)ndims;
	c.word[3] = (intptr_t)(void *)array_of_gsizes;
	c.word[4] = (intptr_t)(void *)array_of_distribs;
	c.word[5] = (intptr_t)(void *)array_of_dargs;
	c.word[6] = (intptr_t)(void *)array_of_psizes;
	c.word[7] = (intptr_t)order;
	c.word[8] = (intptr_t)(void *)oldtype;
	c.word[9] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_darray) MPI_Type_create_darray __attribute__((weak, alias("PMPI_Type_create_darray")));

int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[], const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 370, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)size;
	c.word[1] = (intptr_t)rank;
	c.word[2] = (intptr_t)ndims;
	c.word[3] = (intptr_t)(void *)array_of_gsizes;
	c.word[4] = (intptr_t)(void *)array_of_distribs;
	c.word[5] = (intptr_t)(void *)array_of_dargs;
	c.word[6] = (intptr_t)(void *)array_of_psizes;
	c.word[7] = (intptr_t)order;
	c.word[8] = (intptr_t)(void *)oldtype;
	c.word[9] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_darray_c) MPI_Type_create_darray_c __attribute__((weak, alias("PMPI_Type_create_darray_c")));

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 371, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)p;
	c.word[1] = (intptr_t)r;
	c.word[2] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_f90_complex) MPI_Type_create_f90_complex __attribute__((weak, alias("PMPI_Type_create_f90_complex")));

int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 372, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)r;
	c.word[1] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_f90_integer) MPI_Type_create_f90_integer __attribute__((weak, alias("PMPI_Type_create_f90_integer")));

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 373, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)p;
	c.word[1] = (intptr_t)r;
	c.word[2] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_f90_real) MPI_Type_create_f90_real __attribute__((weak, alias("PMPI_Type_create_f90_real")));

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 374, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_blocklengths;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_hindexed) MPI_Type_create_hindexed __attribute__((weak, alias("PMPI_Type_create_hindexed")));

int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 374, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_blocklengths;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_hindexed_c) MPI_Type_create_hindexed_c __attribute__((weak, alias("PMPI_Type_create_hindexed_c")));

int PMPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 375, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)blocklength;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_hindexed_block) MPI_Type_create_hindexed_block __attribute__((weak, alias("PMPI_Type_create_hindexed_block")));

int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 375, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)blocklength;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_hindexed_block_c) MPI_Type_create_hindexed_block_c __attribute__((weak, alias("PMPI_Type_create_hindexed_block_c")));

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 376, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)blocklength;
	c.word[2] = (intptr_t)stride;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_hvector) MPI_Type_create_hvector __attribute__((weak, alias("PMPI_Type_create_hvector")));

int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 376, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)blocklength;
	c.word[2] = (intptr_t)stride;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_hvector_c) MPI_Type_create_hvector_c __attribute__((weak, alias("PMPI_Type_create_hvector_c")));

int PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 377, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)blocklength;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_indexed_block) MPI_Type_create_indexed_block __attribute__((weak, alias("PMPI_Type_create_indexed_block")));

int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 377, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)blocklength;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_indexed_block_c) MPI_Type_create_indexed_block_c __attribute__((weak, alias("PMPI_Type_create_indexed_block_c")));

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn, MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state)
{
	struct pm2_call c;
	c.function = 378, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)type_copy_attr_fn;
	c.word[1] = (intptr_t)(void *)type_delete_attr_fn;
	c.word[2] = (intptr_t)(void *)type_keyval;
	c.word[3] = (intptr_t)(void *)extra_state;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_keyval) MPI_Type_create_keyval __attribute__((weak, alias("PMPI_Type_create_keyval")));

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 379, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)oldtype;
	c.word[1] = (intptr_t)lb;
	c.word[2] = (intptr_t)extent;
	c.word[3] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_resized) MPI_Type_create_resized __attribute__((weak, alias("PMPI_Type_create_resized")));

int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 379, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)oldtype;
	c.word[1] = (intptr_t)lb;
	c.word[2] = (intptr_t)extent;
	c.word[3] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_resized_c) MPI_Type_create_resized_c __attribute__((weak, alias("PMPI_Type_create_resized_c")));

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 380, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_blocklengths;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)array_of_types;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_struct) MPI_Type_create_struct __attribute__((weak, alias("PMPI_Type_create_struct")));

int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 380, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_blocklengths;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)array_of_types;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_struct_c) MPI_Type_create_struct_c __attribute__((weak, alias("PMPI_Type_create_struct_c")));

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[], const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 381, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)ndims;
	c.word[1] = (intptr_t)(void *)array_of_sizes;
	c.word[2] = (intptr_t)(void *)array_of_subsizes;
	c.word[3] = (intptr_t)(void *)array_of_starts;
	c.word[4] = (intptr_t)order;
	c.word[5] = (intptr_t)(void *)oldtype;
	c.word[6] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_subarray) MPI_Type_create_subarray __attribute__((weak, alias("PMPI_Type_create_subarray")));

int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 381, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)ndims;
	c.word[1] = (intptr_t)(void *)array_of_sizes;
	c.word[2] = (intptr_t)(void *)array_of_subsizes;
	c.word[3] = (intptr_t)(void *)array_of_starts;
	c.word[4] = (intptr_t)order;
	c.word[5] = (intptr_t)(void *)oldtype;
	c.word[6] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_create_subarray_c) MPI_Type_create_subarray_c __attribute__((weak, alias("PMPI_Type_create_subarray_c")));

int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{
	struct pm2_call c;
	c.function = 382, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)type_keyval;
	return cross(&c);
}
extern __typeof__(PMPI_Type_delete_attr) MPI_Type_delete_attr __attribute__((weak, alias("PMPI_Type_delete_attr")));

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 383, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)oldtype;
	c.word[1] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_dup) MPI_Type_dup __attribute__((weak, alias("PMPI_Type_dup")));

int PMPI_Type_free(MPI_Datatype *datatype)
{
	struct pm2_call c;
	c.function = 384, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_free) MPI_Type_free __attribute__((weak, alias("PMPI_Type_free")));

int PMPI_Type_free_keyval(int *type_keyval)
{
	struct pm2_call c;
	c.function = 385, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)type_keyval;
	return cross(&c);
}
extern __typeof__(PMPI_Type_free_keyval) MPI_Type_free_keyval __attribute__((weak, alias("PMPI_Type_free_keyval")));

extern __typeof__(PMPI_Type_fromint) MPI_Type_fromint __attribute__((weak, alias("PMPI_Type_fromint")));

int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{
	struct pm2_call c;
	c.function = 387, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)type_keyval;
	c.word[2] = (intptr_t)(void *)attribute_val;
	c.word[3] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_attr) MPI_Type_get_attr __attribute__((weak, alias("PMPI_Type_get_attr")));

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
	struct pm2_call c;
	c.function = 388, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)max_integers;
	c.word[2] = (intptr_t)max_addresses;
	c.word[3] = (intptr_t)max_datatypes;
	c.word[4] = (intptr_t)(void *)array_of_integers;
	c.word[5] = (intptr_t)(void *)array_of_addresses;
	c.word[6] = (intptr_t)(void *)array_of_datatypes;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_contents) MPI_Type_get_contents __attribute__((weak, alias("PMPI_Type_get_contents")));

int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
{
	struct pm2_call c;
	c.function = 389, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)max_integers;
	c.word[2] = (intptr_t)max_addresses;
	c.word[3] = (intptr_t)max_large_counts;
	c.word[4] = (intptr_t)max_datatypes;
	c.word[5] = (intptr_t)(void *)array_of_integers;
	c.word[6] = (intptr_t)(void *)array_of_addresses;
	c.word[7] = (intptr_t)(void *)array_of_large_counts;
	c.word[8] = (intptr_t)(void *)array_of_datatypes;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_contents_c) MPI_Type_get_contents_c __attribute__((weak, alias("PMPI_Type_get_contents_c")));

int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int *combiner)
{
	struct pm2_call c;
	c.function = 390, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)num_integers;
	c.word[2] = (intptr_t)(void *)num_addresses;
	c.word[3] = (intptr_t)(void *)num_datatypes;
	c.word[4] = (intptr_t)(void *)combiner;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_envelope) MPI_Type_get_envelope __attribute__((weak, alias("PMPI_Type_get_envelope")));

int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses, MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)
{
	struct pm2_call c;
	c.function = 391, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)num_integers;
	c.word[2] = (intptr_t)(void *)num_addresses;
	c.word[3] = (intptr_t)(void *)num_large_counts;
	c.word[4] = (intptr_t)(void *)num_datatypes;
	c.word[5] = (intptr_t)(void *)combiner;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_envelope_c) MPI_Type_get_envelope_c __attribute__((weak, alias("PMPI_Type_get_envelope_c")));

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
	struct pm2_call c;
	c.function = 392, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)lb;
	c.word[2] = (intptr_t)(void *)extent;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_extent) MPI_Type_get_extent __attribute__((weak, alias("PMPI_Type_get_extent")));

int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
	struct pm2_call c;
	c.function = 392, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)lb;
	c.word[2] = (intptr_t)(void *)extent;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_extent_c) MPI_Type_get_extent_c __attribute__((weak, alias("PMPI_Type_get_extent_c")));

int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
	struct pm2_call c;
	c.function = 393, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)lb;
	c.word[2] = (intptr_t)(void *)extent;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_extent_x) MPI_Type_get_extent_x __attribute__((weak, alias("PMPI_Type_get_extent_x")));

int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
	struct pm2_call c;
	c.function = 394, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)type_name;
	c.word[2] = (intptr_t)(void *)resultlen;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_name) MPI_Type_get_name __attribute__((weak, alias("PMPI_Type_get_name")));

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
	struct pm2_call c;
	c.function = 395, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)true_lb;
	c.word[2] = (intptr_t)(void *)true_extent;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_true_extent) MPI_Type_get_true_extent __attribute__((weak, alias("PMPI_Type_get_true_extent")));

int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
	struct pm2_call c;
	c.function = 395, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)true_lb;
	c.word[2] = (intptr_t)(void *)true_extent;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_true_extent_c) MPI_Type_get_true_extent_c __attribute__((weak, alias("PMPI_Type_get_true_extent_c")));

int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
	struct pm2_call c;
	c.function = 396, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)true_lb;
	c.word[2] = (intptr_t)(void *)true_extent;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_true_extent_x) MPI_Type_get_true_extent_x __attribute__((weak, alias("PMPI_Type_get_true_extent_x")));

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type)
{
	struct pm2_call c;
	c.function = 397, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)value_type;
	c.word[1] = (intptr_t)(void *)index_type;
	c.word[2] = (intptr_t)(void *)pair_type;
	return cross(&c);
}
extern __typeof__(PMPI_Type_get_value_index) MPI_Type_get_value_index __attribute__((weak, alias("PMPI_Type_get_value_index")));

int PMPI_Type_indexed(int count, const int array_of_blocklengths[], const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 398, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_blocklengths;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_indexed) MPI_Type_indexed __attribute__((weak, alias("PMPI_Type_indexed")));

int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 398, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_blocklengths;
	c.word[2] = (intptr_t)(void *)array_of_displacements;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_indexed_c) MPI_Type_indexed_c __attribute__((weak, alias("PMPI_Type_indexed_c")));

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
	struct pm2_call c;
	c.function = 399, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)typeclass;
	c.word[1] = (intptr_t)size;
	c.word[2] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_match_size) MPI_Type_match_size __attribute__((weak, alias("PMPI_Type_match_size")));

int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{
	struct pm2_call c;
	c.function = 400, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)type_keyval;
	c.word[2] = (intptr_t)(void *)attribute_val;
	return cross(&c);
}
extern __typeof__(PMPI_Type_set_attr) MPI_Type_set_attr __attribute__((weak, alias("PMPI_Type_set_attr")));

int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
	struct pm2_call c;
	c.function = 401, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)type_name;
	return cross(&c);
}
extern __typeof__(PMPI_Type_set_name) MPI_Type_set_name __attribute__((weak, alias("PMPI_Type_set_name")));

static int cross_Type_size(MPI_Datatype datatype, int *size)
{
	struct pm2_call c;
	c.function = 402, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Type_size) MPI_Type_size __attribute__((weak, alias("PMPI_Type_size")));

static int cross_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
	struct pm2_call c;
	c.function = 402, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datatype;
	c.word[1] = (intptr_t)(void *)size;
	return cross(&c);
}
extern __typeof__(PMPI_Type_size_c) MPI_Type_size_c __attribute__((weak, alias("PMPI_Type_size_c")));

extern __typeof__(PMPI_Type_size_x) MPI_Type_size_x __attribute__((weak, alias("PMPI_Type_size_x")));

extern __typeof__(PMPI_Type_toint) MPI_Type_toint __attribute__((weak, alias("PMPI_Type_toint")));

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 405, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)blocklength;
	c.word[2] = (intptr_t)stride;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_vector) MPI_Type_vector __attribute__((weak, alias("PMPI_Type_vector")));

int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct pm2_call c;
	c.function = 405, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)blocklength;
	c.word[2] = (intptr_t)stride;
	c.word[3] = (intptr_t)(void *)oldtype;
	c.word[4] = (intptr_t)(void *)newtype;
	return cross(&c);
}
extern __typeof__(PMPI_Type_vector_c) MPI_Type_vector_c __attribute__((weak, alias("PMPI_Type_vector_c")));

int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 406, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)inbuf;
	c.word[1] = (intptr_t)insize;
	c.word[2] = (intptr_t)(void *)position;
	c.word[3] = (intptr_t)(void *)outbuf;
	c.word[4] = (intptr_t)outcount;
	c.word[5] = (intptr_t)(void *)datatype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Unpack) MPI_Unpack __attribute__((weak, alias("PMPI_Unpack")));

int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
	struct pm2_call c;
	c.function = 406, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)inbuf;
	c.word[1] = (intptr_t)insize;
	c.word[2] = (intptr_t)(void *)position;
	c.word[3] = (intptr_t)(void *)outbuf;
	c.word[4] = (intptr_t)outcount;
	c.word[5] = (intptr_t)(void *)datatype;
	c.word[6] = (intptr_t)(void *)comm;
	return cross(&c);
}
extern __typeof__(PMPI_Unpack_c) MPI_Unpack_c __attribute__((weak, alias("PMPI_Unpack_c")));

int PMPI_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 407, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datarep;
	c.word[1] = (intptr_t)(void *)inbuf;
	c.word[2] = (intptr_t)insize;
	c.word[3] = (intptr_t)(void *)position;
	c.word[4] = (intptr_t)(void *)outbuf;
	c.word[5] = (intptr_t)outcount;
	c.word[6] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_Unpack_external) MPI_Unpack_external __attribute__((weak, alias("PMPI_Unpack_external")));

int PMPI_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype)
{
	struct pm2_call c;
	c.function = 407, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)datarep;
	c.word[1] = (intptr_t)(void *)inbuf;
	c.word[2] = (intptr_t)insize;
	c.word[3] = (intptr_t)(void *)position;
	c.word[4] = (intptr_t)(void *)outbuf;
	c.word[5] = (intptr_t)outcount;
	c.word[6] = (intptr_t)(void *)datatype;
	return cross(&c);
}
extern __typeof__(PMPI_Unpack_external_c) MPI_Unpack_external_c __attribute__((weak, alias("PMPI_Unpack_external_c")));

int PMPI_Unpublish_name(const char *service_name, MPI_Info info, const char *port_name)
{
	struct pm2_call c;
	c.function = 408, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)service_name;
	c.word[1] = (intptr_t)(void *)info;
	c.word[2] = (intptr_t)(void *)port_name;
	return cross(&c);
}
extern __typeof__(PMPI_Unpublish_name) MPI_Unpublish_name __attribute__((weak, alias("PMPI_Unpublish_name")));

static int cross_Wait(MPI_Request *request, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 409, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)request;
	c.word[1] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Wait) MPI_Wait __attribute__((weak, alias("PMPI_Wait")));

static int cross_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
	struct pm2_call c;
	c.function = 410, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	c.word[2] = (intptr_t)(void *)array_of_statuses;
	return cross(&c);
}
extern __typeof__(PMPI_Waitall) MPI_Waitall __attribute__((weak, alias("PMPI_Waitall")));

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
	struct pm2_call c;
	c.function = 411, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)count;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	c.word[2] = (intptr_t)(void *)indx;
	c.word[3] = (intptr_t)(void *)status;
	return cross(&c);
}
extern __typeof__(PMPI_Waitany) MPI_Waitany __attribute__((weak, alias("PMPI_Waitany")));

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status *array_of_statuses)
{
	struct pm2_call c;
	c.function = 412, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)incount;
	c.word[1] = (intptr_t)(void *)array_of_requests;
	c.word[2] = (intptr_t)(void *)outcount;
	c.word[3] = (intptr_t)(void *)array_of_indices;
	c.word[4] = (intptr_t)(void *)array_of_statuses;
	return cross(&c);
}
extern __typeof__(PMPI_Waitsome) MPI_Waitsome __attribute__((weak, alias("PMPI_Waitsome")));

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct pm2_call c;
	c.function = 413, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)size;
	c.word[1] = (intptr_t)disp_unit;
	c.word[2] = (intptr_t)(void *)info;
	c.word[3] = (intptr_t)(void *)comm;
	c.word[4] = (intptr_t)(void *)baseptr;
	c.word[5] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_allocate) MPI_Win_allocate __attribute__((weak, alias("PMPI_Win_allocate")));

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct pm2_call c;
	c.function = 413, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)size;
	c.word[1] = (intptr_t)disp_unit;
	c.word[2] = (intptr_t)(void *)info;
	c.word[3] = (intptr_t)(void *)comm;
	c.word[4] = (intptr_t)(void *)baseptr;
	c.word[5] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_allocate_c) MPI_Win_allocate_c __attribute__((weak, alias("PMPI_Win_allocate_c")));

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct pm2_call c;
	c.function = 414, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)size;
	c.word[1] = (intptr_t)disp_unit;
	c.word[2] = (intptr_t)(void *)info;
	c.word[3] = (intptr_t)(void *)comm;
	c.word[4] = (intptr_t)(void *)baseptr;
	c.word[5] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_allocate_shared) MPI_Win_allocate_shared __attribute__((weak, alias("PMPI_Win_allocate_shared")));

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	struct pm2_call c;
	c.function = 414, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)size;
	c.word[1] = (intptr_t)disp_unit;
	c.word[2] = (intptr_t)(void *)info;
	c.word[3] = (intptr_t)(void *)comm;
	c.word[4] = (intptr_t)(void *)baseptr;
	c.word[5] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_allocate_shared_c) MPI_Win_allocate_shared_c __attribute__((weak, alias("PMPI_Win_allocate_shared_c")));

int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
	struct pm2_call c;
	c.function = 415, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)base;
	c.word[2] = (intptr_t)size;
	return cross(&c);
}
extern __typeof__(PMPI_Win_attach) MPI_Win_attach __attribute__((weak, alias("PMPI_Win_attach")));

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
	struct pm2_call c;
	c.function = 416, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)errorcode;
	return cross(&c);
}
extern __typeof__(PMPI_Win_call_errhandler) MPI_Win_call_errhandler __attribute__((weak, alias("PMPI_Win_call_errhandler")));

int PMPI_Win_complete(MPI_Win win)
{
	struct pm2_call c;
	c.function = 417, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_complete) MPI_Win_complete __attribute__((weak, alias("PMPI_Win_complete")));

int PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct pm2_call c;
	c.function = 418, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)base;
	c.word[1] = (intptr_t)size;
	c.word[2] = (intptr_t)disp_unit;
	c.word[3] = (intptr_t)(void *)info;
	c.word[4] = (intptr_t)(void *)comm;
	c.word[5] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_create) MPI_Win_create __attribute__((weak, alias("PMPI_Win_create")));

int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct pm2_call c;
	c.function = 418, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)base;
	c.word[1] = (intptr_t)size;
	c.word[2] = (intptr_t)disp_unit;
	c.word[3] = (intptr_t)(void *)info;
	c.word[4] = (intptr_t)(void *)comm;
	c.word[5] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_create_c) MPI_Win_create_c __attribute__((weak, alias("PMPI_Win_create_c")));

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct pm2_call c;
	c.function = 419, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)info;
	c.word[1] = (intptr_t)(void *)comm;
	c.word[2] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_create_dynamic) MPI_Win_create_dynamic __attribute__((weak, alias("PMPI_Win_create_dynamic")));

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler)
{
	struct pm2_call c;
	c.function = 420, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win_errhandler_fn;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Win_create_errhandler) MPI_Win_create_errhandler __attribute__((weak, alias("PMPI_Win_create_errhandler")));

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn, MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state)
{
	struct pm2_call c;
	c.function = 421, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win_copy_attr_fn;
	c.word[1] = (intptr_t)(void *)win_delete_attr_fn;
	c.word[2] = (intptr_t)(void *)win_keyval;
	c.word[3] = (intptr_t)(void *)extra_state;
	return cross(&c);
}
extern __typeof__(PMPI_Win_create_keyval) MPI_Win_create_keyval __attribute__((weak, alias("PMPI_Win_create_keyval")));

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
	struct pm2_call c;
	c.function = 422, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)win_keyval;
	return cross(&c);
}
extern __typeof__(PMPI_Win_delete_attr) MPI_Win_delete_attr __attribute__((weak, alias("PMPI_Win_delete_attr")));

int PMPI_Win_detach(MPI_Win win, const void *base)
{
	struct pm2_call c;
	c.function = 423, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)base;
	return cross(&c);
}
extern __typeof__(PMPI_Win_detach) MPI_Win_detach __attribute__((weak, alias("PMPI_Win_detach")));

int PMPI_Win_fence(int assert, MPI_Win win)
{
	struct pm2_call c;
	c.function = 424, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)assert;
	c.word[1] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_fence) MPI_Win_fence __attribute__((weak, alias("PMPI_Win_fence")));

int PMPI_Win_flush(int rank, MPI_Win win)
{
	struct pm2_call c;
	c.function = 425, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)rank;
	c.word[1] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_flush) MPI_Win_flush __attribute__((weak, alias("PMPI_Win_flush")));

int PMPI_Win_flush_all(MPI_Win win)
{
	struct pm2_call c;
	c.function = 426, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_flush_all) MPI_Win_flush_all __attribute__((weak, alias("PMPI_Win_flush_all")));

int PMPI_Win_flush_local(int rank, MPI_Win win)
{
	struct pm2_call c;
	c.function = 427, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)rank;
	c.word[1] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_flush_local) MPI_Win_flush_local __attribute__((weak, alias("PMPI_Win_flush_local")));

int PMPI_Win_flush_local_all(MPI_Win win)
{
	struct pm2_call c;
	c.function = 428, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_flush_local_all) MPI_Win_flush_local_all __attribute__((weak, alias("PMPI_Win_flush_local_all")));

int PMPI_Win_free(MPI_Win *win)
{
	struct pm2_call c;
	c.function = 429, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_free) MPI_Win_free __attribute__((weak, alias("PMPI_Win_free")));

int PMPI_Win_free_keyval(int *win_keyval)
{
	struct pm2_call c;
	c.function = 430, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win_keyval;
	return cross(&c);
}
extern __typeof__(PMPI_Win_free_keyval) MPI_Win_free_keyval __attribute__((weak, alias("PMPI_Win_free_keyval")));

extern __typeof__(PMPI_Win_fromint) MPI_Win_fromint __attribute__((weak, alias("PMPI_Win_fromint")));

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
	struct pm2_call c;
	c.function = 432, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)win_keyval;
	c.word[2] = (intptr_t)(void *)attribute_val;
	c.word[3] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Win_get_attr) MPI_Win_get_attr __attribute__((weak, alias("PMPI_Win_get_attr")));

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
	struct pm2_call c;
	c.function = 433, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Win_get_errhandler) MPI_Win_get_errhandler __attribute__((weak, alias("PMPI_Win_get_errhandler")));

int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
	struct pm2_call c;
	c.function = 434, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)group;
	return cross(&c);
}
extern __typeof__(PMPI_Win_get_group) MPI_Win_get_group __attribute__((weak, alias("PMPI_Win_get_group")));

int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
	struct pm2_call c;
	c.function = 435, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)info_used;
	return cross(&c);
}
extern __typeof__(PMPI_Win_get_info) MPI_Win_get_info __attribute__((weak, alias("PMPI_Win_get_info")));

int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
	struct pm2_call c;
	c.function = 436, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)win_name;
	c.word[2] = (intptr_t)(void *)resultlen;
	return cross(&c);
}
extern __typeof__(PMPI_Win_get_name) MPI_Win_get_name __attribute__((weak, alias("PMPI_Win_get_name")));

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
	struct pm2_call c;
	c.function = 437, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)lock_type;
	c.word[1] = (intptr_t)rank;
	c.word[2] = (intptr_t)assert;
	c.word[3] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_lock) MPI_Win_lock __attribute__((weak, alias("PMPI_Win_lock")));

int PMPI_Win_lock_all(int assert, MPI_Win win)
{
	struct pm2_call c;
	c.function = 438, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)assert;
	c.word[1] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_lock_all) MPI_Win_lock_all __attribute__((weak, alias("PMPI_Win_lock_all")));

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
	struct pm2_call c;
	c.function = 439, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	c.word[1] = (intptr_t)assert;
	c.word[2] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_post) MPI_Win_post __attribute__((weak, alias("PMPI_Win_post")));

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
	struct pm2_call c;
	c.function = 440, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)win_keyval;
	c.word[2] = (intptr_t)(void *)attribute_val;
	return cross(&c);
}
extern __typeof__(PMPI_Win_set_attr) MPI_Win_set_attr __attribute__((weak, alias("PMPI_Win_set_attr")));

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
	struct pm2_call c;
	c.function = 441, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)errhandler;
	return cross(&c);
}
extern __typeof__(PMPI_Win_set_errhandler) MPI_Win_set_errhandler __attribute__((weak, alias("PMPI_Win_set_errhandler")));

int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
	struct pm2_call c;
	c.function = 442, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_Win_set_info) MPI_Win_set_info __attribute__((weak, alias("PMPI_Win_set_info")));

int PMPI_Win_set_name(MPI_Win win, const char *win_name)
{
	struct pm2_call c;
	c.function = 443, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)win_name;
	return cross(&c);
}
extern __typeof__(PMPI_Win_set_name) MPI_Win_set_name __attribute__((weak, alias("PMPI_Win_set_name")));

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
	struct pm2_call c;
	c.function = 444, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)rank;
	c.word[2] = (intptr_t)(void *)size;
	c.word[3] = (intptr_t)(void *)disp_unit;
	c.word[4] = (intptr_t)(void *)baseptr;
	return cross(&c);
}
extern __typeof__(PMPI_Win_shared_query) MPI_Win_shared_query __attribute__((weak, alias("PMPI_Win_shared_query")));

int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr)
{
	struct pm2_call c;
	c.function = 444, c.wide = 1, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)rank;
	c.word[2] = (intptr_t)(void *)size;
	c.word[3] = (intptr_t)(void *)disp_unit;
	c.word[4] = (intptr_t)(void *)baseptr;
	return cross(&c);
}
extern __typeof__(PMPI_Win_shared_query_c) MPI_Win_shared_query_c __attribute__((weak, alias("PMPI_Win_shared_query_c")));

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
	struct pm2_call c;
	c.function = 445, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)group;
	c.word[1] = (intptr_t)assert;
	c.word[2] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_start) MPI_Win_start __attribute__((weak, alias("PMPI_Win_start")));

int PMPI_Win_sync(MPI_Win win)
{
	struct pm2_call c;
	c.function = 446, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_sync) MPI_Win_sync __attribute__((weak, alias("PMPI_Win_sync")));

int PMPI_Win_test(MPI_Win win, int *flag)
{
	struct pm2_call c;
	c.function = 447, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	c.word[1] = (intptr_t)(void *)flag;
	return cross(&c);
}
extern __typeof__(PMPI_Win_test) MPI_Win_test __attribute__((weak, alias("PMPI_Win_test")));

extern __typeof__(PMPI_Win_toint) MPI_Win_toint __attribute__((weak, alias("PMPI_Win_toint")));

int PMPI_Win_unlock(int rank, MPI_Win win)
{
	struct pm2_call c;
	c.function = 449, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)rank;
	c.word[1] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_unlock) MPI_Win_unlock __attribute__((weak, alias("PMPI_Win_unlock")));

int PMPI_Win_unlock_all(MPI_Win win)
{
	struct pm2_call c;
	c.function = 450, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_unlock_all) MPI_Win_unlock_all __attribute__((weak, alias("PMPI_Win_unlock_all")));

int PMPI_Win_wait(MPI_Win win)
{
	struct pm2_call c;
	c.function = 451, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)win;
	return cross(&c);
}
extern __typeof__(PMPI_Win_wait) MPI_Win_wait __attribute__((weak, alias("PMPI_Win_wait")));

extern __typeof__(PMPI_Wtick) MPI_Wtick __attribute__((weak, alias("PMPI_Wtick")));

extern __typeof__(PMPI_Wtime) MPI_Wtime __attribute__((weak, alias("PMPI_Wtime")));

int PMPI_T_category_changed(int *update_number)
{
	struct pm2_call c;
	c.function = 454, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)update_number;
	return cross(&c);
}
extern __typeof__(PMPI_T_category_changed) MPI_T_category_changed __attribute__((weak, alias("PMPI_T_category_changed")));

int PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{
	struct pm2_call c;
	c.function = 455, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)cat_index;
	c.word[1] = (intptr_t)len;
	c.word[2] = (intptr_t)(void *)indices;
	return cross(&c);
}
extern __typeof__(PMPI_T_category_get_categories) MPI_T_category_get_categories __attribute__((weak, alias("PMPI_T_category_get_categories")));

int PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
	struct pm2_call c;
	c.function = 456, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)cat_index;
	c.word[1] = (intptr_t)len;
	c.word[2] = (intptr_t)(void *)indices;
	return cross(&c);
}
extern __typeof__(PMPI_T_category_get_cvars) MPI_T_category_get_cvars __attribute__((weak, alias("PMPI_T_category_get_cvars")));

int PMPI_T_category_get_events(int cat_index, int len, int indices[])
{
	struct pm2_call c;
	c.function = 457, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)cat_index;
	c.word[1] = (intptr_t)len;
	c.word[2] = (intptr_t)(void *)indices;
	return cross(&c);
}
extern __typeof__(PMPI_T_category_get_events) MPI_T_category_get_events __attribute__((weak, alias("PMPI_T_category_get_events")));

int PMPI_T_category_get_index(const char *name, int *cat_index)
{
	struct pm2_call c;
	c.function = 458, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)name;
	c.word[1] = (intptr_t)(void *)cat_index;
	return cross(&c);
}
extern __typeof__(PMPI_T_category_get_index) MPI_T_category_get_index __attribute__((weak, alias("PMPI_T_category_get_index")));

int PMPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars, int *num_pvars, int *num_categories)
{
	struct pm2_call c;
	c.function = 459, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)cat_index;
	c.word[1] = (intptr_t)(void *)name;
	c.word[2] = (intptr_t)(void *)name_len;
	c.word[3] = (intptr_t)(void *)desc;
	c.word[4] = (intptr_t)(void *)desc_len;
	c.word[5] = (intptr_t)(void *)num_cvars;
	c.word[6] = (intptr_t)(void *)num_pvars;
	c.word[7] = (intptr_t)(void *)num_categories;
	return cross(&c);
}
extern __typeof__(PMPI_T_category_get_info) MPI_T_category_get_info __attribute__((weak, alias("PMPI_T_category_get_info")));

int PMPI_T_category_get_num(int *num_cat)
{
	struct pm2_call c;
	c.function = 460, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)num_cat;
	return cross(&c);
}
extern __typeof__(PMPI_T_category_get_num) MPI_T_category_get_num __attribute__((weak, alias("PMPI_T_category_get_num")));

int PMPI_T_category_get_num_events(int cat_index, int *num_events)
{
	struct pm2_call c;
	c.function = 461, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)cat_index;
	c.word[1] = (intptr_t)(void *)num_events;
	return cross(&c);
}
extern __typeof__(PMPI_T_category_get_num_events) MPI_T_category_get_num_events __attribute__((weak, alias("PMPI_T_category_get_num_events")));

int PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
	struct pm2_call c;
	c.function = 462, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)cat_index;
	c.word[1] = (intptr_t)len;
	c.word[2] = (intptr_t)(void *)indices;
	return cross(&c);
}
extern __typeof__(PMPI_T_category_get_pvars) MPI_T_category_get_pvars __attribute__((weak, alias("PMPI_T_category_get_pvars")));

int PMPI_T_cvar_get_index(const char *name, int *cvar_index)
{
	struct pm2_call c;
	c.function = 463, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)name;
	c.word[1] = (intptr_t)(void *)cvar_index;
	return cross(&c);
}
extern __typeof__(PMPI_T_cvar_get_index) MPI_T_cvar_get_index __attribute__((weak, alias("PMPI_T_cvar_get_index")));

int PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
	struct pm2_call c;
	c.function = 464, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)cvar_index;
	c.word[1] = (intptr_t)(void *)name;
	c.word[2] = (intptr_t)(void *)name_len;
	c.word[3] = (intptr_t)(void *)verbosity;
	c.word[4] = (intptr_t)(void *)datatype;
	c.word[5] = (intptr_t)(void *)enumtype;
	c.word[6] = (intptr_t)(void *)desc;
	c.word[7] = (intptr_t)(void *)desc_len;
	c.word[8] = (intptr_t)(void *)bind;
	c.word[9] = (intptr_t)(void *)scope;
	return cross(&c);
}
extern __typeof__(PMPI_T_cvar_get_info) MPI_T_cvar_get_info __attribute__((weak, alias("PMPI_T_cvar_get_info")));

int PMPI_T_cvar_get_num(int *num_cvar)
{
	struct pm2_call c;
	c.function = 465, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)num_cvar;
	return cross(&c);
}
extern __typeof__(PMPI_T_cvar_get_num) MPI_T_cvar_get_num __attribute__((weak, alias("PMPI_T_cvar_get_num")));

int PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count)
{
	struct pm2_call c;
	c.function = 466, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)cvar_index;
	c.word[1] = (intptr_t)(void *)obj_handle;
	c.word[2] = (intptr_t)(void *)handle;
	c.word[3] = (intptr_t)(void *)count;
	return cross(&c);
}
extern __typeof__(PMPI_T_cvar_handle_alloc) MPI_T_cvar_handle_alloc __attribute__((weak, alias("PMPI_T_cvar_handle_alloc")));

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
	struct pm2_call c;
	c.function = 467, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)handle;
	return cross(&c);
}
extern __typeof__(PMPI_T_cvar_handle_free) MPI_T_cvar_handle_free __attribute__((weak, alias("PMPI_T_cvar_handle_free")));

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
	struct pm2_call c;
	c.function = 468, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)handle;
	c.word[1] = (intptr_t)(void *)buf;
	return cross(&c);
}
extern __typeof__(PMPI_T_cvar_read) MPI_T_cvar_read __attribute__((weak, alias("PMPI_T_cvar_read")));

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
	struct pm2_call c;
	c.function = 469, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)handle;
	c.word[1] = (intptr_t)(void *)buf;
	return cross(&c);
}
extern __typeof__(PMPI_T_cvar_write) MPI_T_cvar_write __attribute__((weak, alias("PMPI_T_cvar_write")));

int PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
	struct pm2_call c;
	c.function = 470, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)enumtype;
	c.word[1] = (intptr_t)(void *)num;
	c.word[2] = (intptr_t)(void *)name;
	c.word[3] = (intptr_t)(void *)name_len;
	return cross(&c);
}
extern __typeof__(PMPI_T_enum_get_info) MPI_T_enum_get_info __attribute__((weak, alias("PMPI_T_enum_get_info")));

int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
	struct pm2_call c;
	c.function = 471, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)enumtype;
	c.word[1] = (intptr_t)indx;
	c.word[2] = (intptr_t)(void *)value;
	c.word[3] = (intptr_t)(void *)name;
	c.word[4] = (intptr_t)(void *)name_len;
	return cross(&c);
}
extern __typeof__(PMPI_T_enum_get_item) MPI_T_enum_get_item __attribute__((weak, alias("PMPI_T_enum_get_item")));

int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
	struct pm2_call c;
	c.function = 472, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_registration;
	c.word[1] = (intptr_t)cb_safety;
	c.word[2] = (intptr_t)(void *)info_used;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_callback_get_info) MPI_T_event_callback_get_info __attribute__((weak, alias("PMPI_T_event_callback_get_info")));

int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info)
{
	struct pm2_call c;
	c.function = 473, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_registration;
	c.word[1] = (intptr_t)cb_safety;
	c.word[2] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_callback_set_info) MPI_T_event_callback_set_info __attribute__((weak, alias("PMPI_T_event_callback_set_info")));

int PMPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
	struct pm2_call c;
	c.function = 474, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_instance;
	c.word[1] = (intptr_t)(void *)buffer;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_copy) MPI_T_event_copy __attribute__((weak, alias("PMPI_T_event_copy")));

int PMPI_T_event_get_index(const char *name, int *event_index)
{
	struct pm2_call c;
	c.function = 475, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)name;
	c.word[1] = (intptr_t)(void *)event_index;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_get_index) MPI_T_event_get_index __attribute__((weak, alias("PMPI_T_event_get_index")));

int PMPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind)
{
	struct pm2_call c;
	c.function = 476, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)event_index;
	c.word[1] = (intptr_t)(void *)name;
	c.word[2] = (intptr_t)(void *)name_len;
	c.word[3] = (intptr_t)(void *)verbosity;
	c.word[4] = (intptr_t)(void *)array_of_datatypes;
	c.word[5] = (intptr_t)(void *)array_of_displacements;
	c.word[6] = (intptr_t)(void *)num_elements;
	c.word[7] = (intptr_t)(void *)enumtype;
	c.word[8] = (intptr_t)(void *)info;
	c.word[9] = (intptr_t)(void *)desc;
	c.word[10] = (intptr_t)(void *)desc_len;
	c.word[11] = (intptr_t)(void *)bind;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_get_info) MPI_T_event_get_info __attribute__((weak, alias("PMPI_T_event_get_info")));

int PMPI_T_event_get_num(int *num_events)
{
	struct pm2_call c;
	c.function = 477, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)num_events;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_get_num) MPI_T_event_get_num __attribute__((weak, alias("PMPI_T_event_get_num")));

int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
	struct pm2_call c;
	c.function = 478, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_instance;
	c.word[1] = (intptr_t)(void *)source_index;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_get_source) MPI_T_event_get_source __attribute__((weak, alias("PMPI_T_event_get_source")));

int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
	struct pm2_call c;
	c.function = 479, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_instance;
	c.word[1] = (intptr_t)(void *)event_timestamp;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_get_timestamp) MPI_T_event_get_timestamp __attribute__((weak, alias("PMPI_T_event_get_timestamp")));

int PMPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info, MPI_T_event_registration *event_registration)
{
	struct pm2_call c;
	c.function = 480, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)event_index;
	c.word[1] = (intptr_t)(void *)obj_handle;
	c.word[2] = (intptr_t)(void *)info;
	c.word[3] = (intptr_t)(void *)event_registration;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_handle_alloc) MPI_T_event_handle_alloc __attribute__((weak, alias("PMPI_T_event_handle_alloc")));

int PMPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data, MPI_T_event_free_cb_function free_cb_function)
{
	struct pm2_call c;
	c.function = 481, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_registration;
	c.word[1] = (intptr_t)(void *)user_data;
	c.word[2] = (intptr_t)(void *)free_cb_function;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_handle_free) MPI_T_event_handle_free __attribute__((weak, alias("PMPI_T_event_handle_free")));

int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{
	struct pm2_call c;
	c.function = 482, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_registration;
	c.word[1] = (intptr_t)(void *)info_used;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_handle_get_info) MPI_T_event_handle_get_info __attribute__((weak, alias("PMPI_T_event_handle_get_info")));

int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
	struct pm2_call c;
	c.function = 483, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_registration;
	c.word[1] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_handle_set_info) MPI_T_event_handle_set_info __attribute__((weak, alias("PMPI_T_event_handle_set_info")));

int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
	struct pm2_call c;
	c.function = 484, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_instance;
	c.word[1] = (intptr_t)element_index;
	c.word[2] = (intptr_t)(void *)buffer;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_read) MPI_T_event_read __attribute__((weak, alias("PMPI_T_event_read")));

int PMPI_T_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function)
{
	struct pm2_call c;
	c.function = 485, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_registration;
	c.word[1] = (intptr_t)cb_safety;
	c.word[2] = (intptr_t)(void *)info;
	c.word[3] = (intptr_t)(void *)user_data;
	c.word[4] = (intptr_t)(void *)event_cb_function;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_register_callback) MPI_T_event_register_callback __attribute__((weak, alias("PMPI_T_event_register_callback")));

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration, MPI_T_event_dropped_cb_function dropped_cb_function)
{
	struct pm2_call c;
	c.function = 486, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)event_registration;
	c.word[1] = (intptr_t)(void *)dropped_cb_function;
	return cross(&c);
}
extern __typeof__(PMPI_T_event_set_dropped_handler) MPI_T_event_set_dropped_handler __attribute__((weak, alias("PMPI_T_event_set_dropped_handler")));

int PMPI_T_finalize(void)
{
	struct pm2_call c;
	c.function = 487, c.wide = 0, c.object = 0, c.handler = 0;
	return cross(&c);
}
extern __typeof__(PMPI_T_finalize) MPI_T_finalize __attribute__((weak, alias("PMPI_T_finalize")));

int PMPI_T_init_thread(int required, int *provided)
{
	struct pm2_call c;
	c.function = 488, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)required;
	c.word[1] = (intptr_t)(void *)provided;
	return cross(&c);
}
extern __typeof__(PMPI_T_init_thread) MPI_T_init_thread __attribute__((weak, alias("PMPI_T_init_thread")));

int PMPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
	struct pm2_call c;
	c.function = 489, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)name;
	c.word[1] = (intptr_t)var_class;
	c.word[2] = (intptr_t)(void *)pvar_index;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_get_index) MPI_T_pvar_get_index __attribute__((weak, alias("PMPI_T_pvar_get_index")));

int PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class, MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous, int *atomic)
{
	struct pm2_call c;
	c.function = 490, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)pvar_index;
	c.word[1] = (intptr_t)(void *)name;
	c.word[2] = (intptr_t)(void *)name_len;
	c.word[3] = (intptr_t)(void *)verbosity;
	c.word[4] = (intptr_t)(void *)var_class;
	c.word[5] = (intptr_t)(void *)datatype;
	c.word[6] = (intptr_t)(void *)enumtype;
	c.word[7] = (intptr_t)(void *)desc;
	c.word[8] = (intptr_t)(void *)desc_len;
	c.word[9] = (intptr_t)(void *)bind;
	c.word[10] = (intptr_t)(void *)readonly;
	c.word[11] = (intptr_t)(void *)continuous;
	c.word[12] = (intptr_t)(void *)atomic;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_get_info) MPI_T_pvar_get_info __attribute__((weak, alias("PMPI_T_pvar_get_info")));

int PMPI_T_pvar_get_num(int *num_pvar)
{
	struct pm2_call c;
	c.function = 491, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)num_pvar;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_get_num) MPI_T_pvar_get_num __attribute__((weak, alias("PMPI_T_pvar_get_num")));

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle, int *count)
{
	struct pm2_call c;
	c.function = 492, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)pvar_index;
	c.word[2] = (intptr_t)(void *)obj_handle;
	c.word[3] = (intptr_t)(void *)handle;
	c.word[4] = (intptr_t)(void *)count;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_handle_alloc) MPI_T_pvar_handle_alloc __attribute__((weak, alias("PMPI_T_pvar_handle_alloc")));

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
	struct pm2_call c;
	c.function = 493, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)handle;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_handle_free) MPI_T_pvar_handle_free __attribute__((weak, alias("PMPI_T_pvar_handle_free")));

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
	struct pm2_call c;
	c.function = 494, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)handle;
	c.word[2] = (intptr_t)(void *)buf;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_read) MPI_T_pvar_read __attribute__((weak, alias("PMPI_T_pvar_read")));

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
	struct pm2_call c;
	c.function = 495, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)handle;
	c.word[2] = (intptr_t)(void *)buf;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_readreset) MPI_T_pvar_readreset __attribute__((weak, alias("PMPI_T_pvar_readreset")));

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
	struct pm2_call c;
	c.function = 496, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)handle;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_reset) MPI_T_pvar_reset __attribute__((weak, alias("PMPI_T_pvar_reset")));

int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
	struct pm2_call c;
	c.function = 497, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_session_create) MPI_T_pvar_session_create __attribute__((weak, alias("PMPI_T_pvar_session_create")));

int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
	struct pm2_call c;
	c.function = 498, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_session_free) MPI_T_pvar_session_free __attribute__((weak, alias("PMPI_T_pvar_session_free")));

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
	struct pm2_call c;
	c.function = 499, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)handle;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_start) MPI_T_pvar_start __attribute__((weak, alias("PMPI_T_pvar_start")));

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
	struct pm2_call c;
	c.function = 500, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)handle;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_stop) MPI_T_pvar_stop __attribute__((weak, alias("PMPI_T_pvar_stop")));

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
	struct pm2_call c;
	c.function = 501, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)session;
	c.word[1] = (intptr_t)(void *)handle;
	c.word[2] = (intptr_t)(void *)buf;
	return cross(&c);
}
extern __typeof__(PMPI_T_pvar_write) MPI_T_pvar_write __attribute__((weak, alias("PMPI_T_pvar_write")));

int PMPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)
{
	struct pm2_call c;
	c.function = 502, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)source_index;
	c.word[1] = (intptr_t)(void *)name;
	c.word[2] = (intptr_t)(void *)name_len;
	c.word[3] = (intptr_t)(void *)desc;
	c.word[4] = (intptr_t)(void *)desc_len;
	c.word[5] = (intptr_t)(void *)ordering;
	c.word[6] = (intptr_t)(void *)ticks_per_second;
	c.word[7] = (intptr_t)(void *)max_ticks;
	c.word[8] = (intptr_t)(void *)info;
	return cross(&c);
}
extern __typeof__(PMPI_T_source_get_info) MPI_T_source_get_info __attribute__((weak, alias("PMPI_T_source_get_info")));

int PMPI_T_source_get_num(int *num_sources)
{
	struct pm2_call c;
	c.function = 503, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)(void *)num_sources;
	return cross(&c);
}
extern __typeof__(PMPI_T_source_get_num) MPI_T_source_get_num __attribute__((weak, alias("PMPI_T_source_get_num")));

int PMPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
	struct pm2_call c;
	c.function = 504, c.wide = 0, c.object = 0, c.handler = 0;
	c.word[0] = (intptr_t)source_index;
	c.word[1] = (intptr_t)(void *)timestamp;
	return cross(&c);
}
extern __typeof__(PMPI_T_source_get_timestamp) MPI_T_source_get_timestamp __attribute__((weak, alias("PMPI_T_source_get_timestamp")));

