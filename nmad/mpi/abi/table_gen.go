// Code generated from table.txt and include/mpi.h by go generate; DO NOT EDIT.

//go:build cgo && linux

package main

// entries are the functions of table.txt, in their order there.
var entries = [...]entry{
	0: {"MPI_Abi_get_fortran_booleans", func(a *cCall) error {
		r3, err := a.abiGetFortranBooleans(a.int(0))
		if err != nil {
			return err
		}
		return a.setFlag(3, r3)
	}},
	1: {"MPI_Abi_get_fortran_info", func(a *cCall) error {
		r0 := a.abiGetFortranInfo()
		return a.setInfo(0, r0)
	}},
	2: {"MPI_Abi_get_info", func(a *cCall) error {
		r0 := a.abiGetInfo()
		return a.setInfo(0, r0)
	}},
	3: {name: "MPI_Abi_get_version"},
	4: {"MPI_Abi_set_fortran_booleans", (*cCall).abiSetFortranBooleans},
	5: {"MPI_Abi_set_fortran_info", func(a *cCall) error {
		x0, err := a.info(0)
		if err != nil {
			return err
		}
		return a.abiSetFortranInfo(x0)
	}},
	6: {"MPI_Abort", (*cCall).abort},
	7: {"MPI_Accumulate", func(a *cCall) error {
		x3, err := a.target(3, 8)
		if err != nil {
			return err
		}
		x0, err := a.elements(0)
		if err != nil {
			return err
		}
		return a.accumulate(x0, x3)
	}},
	8: {"MPI_Add_error_class", func(a *cCall) error {
		r0, err := a.addErrorClass()
		if err != nil {
			return err
		}
		return a.setInt(0, r0)
	}},
	9: {"MPI_Add_error_code", func(a *cCall) error {
		r1, err := a.addErrorCode(a.int(0))
		if err != nil {
			return err
		}
		return a.setInt(1, r1)
	}},
	10: {"MPI_Add_error_string", func(a *cCall) error {
		x1, err := a.string(1)
		if err != nil {
			return err
		}
		return a.addErrorString(a.int(0), x1)
	}},
	11: {name: "MPI_Aint_add"},
	12: {name: "MPI_Aint_diff"},
	13: {"MPI_Allgather", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.allgather(callForm{}, x6)
	}},
	14: {"MPI_Allgather_init", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.allgather(callForm{8, true}, x6)
	}},
	15: {"MPI_Allgatherv", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.allgatherv(callForm{}, x7)
	}},
	16: {"MPI_Allgatherv_init", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.allgatherv(callForm{9, true}, x7)
	}},
	17: {"MPI_Alloc_mem", func(a *cCall) error {
		r2, err := a.allocMem(a.int(0))
		if err != nil {
			return err
		}
		return a.setPtr(2, r2)
	}},
	18: {"MPI_Allreduce", func(a *cCall) error {
		x5, err := a.comm(5)
		if err != nil {
			return err
		}
		return a.allreduce(callForm{}, x5)
	}},
	19: {"MPI_Allreduce_init", func(a *cCall) error {
		x5, err := a.comm(5)
		if err != nil {
			return err
		}
		return a.allreduce(callForm{7, true}, x5)
	}},
	20: {"MPI_Alltoall", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.alltoall(callForm{}, x6)
	}},
	21: {"MPI_Alltoall_init", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.alltoall(callForm{8, true}, x6)
	}},
	22: {"MPI_Alltoallv", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.alltoallv(callForm{}, x8)
	}},
	23: {"MPI_Alltoallv_init", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.alltoallv(callForm{10, true}, x8)
	}},
	24: {"MPI_Alltoallw", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.alltoallw(callForm{}, x8)
	}},
	25: {"MPI_Alltoallw_init", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.alltoallw(callForm{10, true}, x8)
	}},
	26: {"MPI_Attr_delete", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.attrDelete(x0, a.int(1))
	}},
	27: {"MPI_Attr_get", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.attrGet(x0, a.int(1))
	}},
	28: {"MPI_Attr_put", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.attrPut(x0, a.int(1))
	}},
	29: {"MPI_Barrier", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		return a.barrier(callForm{}, x0)
	}},
	30: {"MPI_Barrier_init", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		return a.barrier(callForm{2, true}, x0)
	}},
	31: {"MPI_Bcast", func(a *cCall) error {
		x4, err := a.comm(4)
		if err != nil {
			return err
		}
		return a.bcast(callForm{}, x4)
	}},
	32: {"MPI_Bcast_init", func(a *cCall) error {
		x4, err := a.comm(4)
		if err != nil {
			return err
		}
		return a.bcast(callForm{6, true}, x4)
	}},
	33: {"MPI_Bsend", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		return a.bsend(x0)
	}},
	34: {"MPI_Bsend_init", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		r6 := a.bsendInit(x0)
		return a.setRequest(6, r6)
	}},
	35: {"MPI_Buffer_attach", (*cCall).bufferAttach},
	36: {"MPI_Buffer_detach", (*cCall).bufferDetach},
	37: {"MPI_Buffer_flush", (*cCall).bufferFlush},
	38: {"MPI_Buffer_iflush", func(a *cCall) error {
		r0 := a.bufferIflush()
		return a.setRequest(0, r0)
	}},
	39: {"MPI_Cancel", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.cancel(x0)
	}},
	40: {"MPI_Cart_coords", func(a *cCall) error {
		x0, err := a.grid(0)
		if err != nil {
			return err
		}
		r3, err := a.cartCoords(x0, a.int(1), a.int(2))
		if err != nil {
			return err
		}
		return a.setInts(3, r3)
	}},
	41: {"MPI_Cart_create", func(a *cCall) error {
		x0, err := a.intra(0)
		if err != nil {
			return err
		}
		r5, err := a.cartCreate(x0, a.int(1))
		if err != nil {
			return err
		}
		return a.setComm(5, r5)
	}},
	42: {"MPI_Cart_get", func(a *cCall) error {
		x0, err := a.grid(0)
		if err != nil {
			return err
		}
		r2, r3, r4, err := a.cartGet(x0, a.int(1))
		if err != nil {
			return err
		}
		if err := a.setInts(2, r2); err != nil {
			return err
		}
		if err := a.setInts(3, r3); err != nil {
			return err
		}
		return a.setInts(4, r4)
	}},
	43: {"MPI_Cart_map", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r4, err := a.cartMap(x0)
		if err != nil {
			return err
		}
		return a.setInt(4, r4)
	}},
	44: {"MPI_Cart_rank", func(a *cCall) error {
		x0, err := a.grid(0)
		if err != nil {
			return err
		}
		r2, err := a.cartRank(x0)
		if err != nil {
			return err
		}
		return a.setInt(2, r2)
	}},
	45: {"MPI_Cart_shift", func(a *cCall) error {
		x0, err := a.grid(0)
		if err != nil {
			return err
		}
		r3, r4, err := a.cartShift(x0, a.int(1), a.int(2))
		if err != nil {
			return err
		}
		if err := a.setInt(3, r3); err != nil {
			return err
		}
		return a.setInt(4, r4)
	}},
	46: {"MPI_Cart_sub", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r2, err := a.cartSub(x0)
		if err != nil {
			return err
		}
		return a.setComm(2, r2)
	}},
	47: {"MPI_Cartdim_get", func(a *cCall) error {
		x0, err := a.grid(0)
		if err != nil {
			return err
		}
		r1 := a.cartdimGet(x0)
		return a.setInt(1, r1)
	}},
	48: {"MPI_Close_port", (*cCall).unsupported},
	49: {"MPI_Comm_accept", (*cCall).unsupported},
	50: {"MPI_Comm_attach_buffer", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.objectAttachBuffer(x0)
	}},
	51: {"MPI_Comm_call_errhandler", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		a.objectCallErrhandler(x0, a.int(1))
		return nil
	}},
	52: {"MPI_Comm_compare", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		x1, err := a.comm(1)
		if err != nil {
			return err
		}
		r2 := a.commCompare(x0, x1)
		return a.setInt(2, r2)
	}},
	53: {"MPI_Comm_connect", (*cCall).unsupported},
	54: {"MPI_Comm_create", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		x1, err := a.group(1)
		if err != nil {
			return err
		}
		r2, err := a.commCreate(x0, x1)
		if err != nil {
			return err
		}
		return a.setComm(2, r2)
	}},
	55: {"MPI_Comm_create_errhandler", func(a *cCall) error {
		r1, err := a.objectCreateErrhandler(ofComm)
		if err != nil {
			return err
		}
		return a.setHandler(1, r1)
	}},
	56: {"MPI_Comm_create_from_group", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x1, err := a.string(1)
		if err != nil {
			return err
		}
		x2, err := a.hints(2)
		if err != nil {
			return err
		}
		r4, err := a.commCreateFromGroup(x0, x1, x2)
		if err != nil {
			return err
		}
		return a.setComm(4, r4)
	}},
	57: {"MPI_Comm_create_group", func(a *cCall) error {
		x0, err := a.intra(0)
		if err != nil {
			return err
		}
		x1, err := a.group(1)
		if err != nil {
			return err
		}
		r3, err := a.commCreateGroup(x0, x1, a.int(2))
		if err != nil {
			return err
		}
		return a.setComm(3, r3)
	}},
	58: {"MPI_Comm_create_keyval", func(a *cCall) error {
		return a.objectCreateKeyval(ofComm)
	}},
	59: {"MPI_Comm_delete_attr", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.objectDeleteAttr(x0, a.int(1))
	}},
	60: {"MPI_Comm_detach_buffer", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.objectDetachBuffer(x0)
	}},
	61: {"MPI_Comm_disconnect", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.commDisconnect(x0)
	}},
	62: {"MPI_Comm_dup", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r1, err := a.commDup(x0)
		if err != nil {
			return err
		}
		return a.setComm(1, r1)
	}},
	63: {"MPI_Comm_dup_with_info", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		x1, err := a.hints(1)
		if err != nil {
			return err
		}
		r2, err := a.commDupWithInfo(x0, x1)
		if err != nil {
			return err
		}
		return a.setComm(2, r2)
	}},
	64: {"MPI_Comm_flush_buffer", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.objectFlushBuffer(x0)
	}},
	65: {"MPI_Comm_free", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.commFree(x0)
	}},
	66: {"MPI_Comm_free_keyval", func(a *cCall) error {
		x0, err := a.intAt(0)
		if err != nil {
			return err
		}
		return a.objectFreeKeyval(ofComm, x0)
	}},
	67: {name: "MPI_Comm_fromint"},
	68: {"MPI_Comm_get_attr", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.objectGetAttr(x0, a.int(1))
	}},
	69: {"MPI_Comm_get_errhandler", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		r1 := a.objectGetErrhandler(x0)
		return a.setHandler(1, r1)
	}},
	70: {"MPI_Comm_get_info", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		r1 := a.objectGetInfo(x0)
		return a.setInfo(1, r1)
	}},
	71: {"MPI_Comm_get_name", func(a *cCall) error {
		r1, err := a.commGetName()
		if err != nil {
			return err
		}
		return a.setName(1, r1)
	}},
	72: {"MPI_Comm_get_parent", func(a *cCall) error {
		r0 := a.commGetParent()
		return a.setHandle(0, r0)
	}},
	73: {"MPI_Comm_group", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r1 := a.commGroup(x0)
		return a.setGroup(1, r1)
	}},
	74: {"MPI_Comm_idup", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r2, err := a.commIdup(x0)
		if err != nil {
			return err
		}
		return a.setRequest(2, r2)
	}},
	75: {"MPI_Comm_idup_with_info", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		x1, err := a.hints(1)
		if err != nil {
			return err
		}
		r3, err := a.commIdupWithInfo(x0, x1)
		if err != nil {
			return err
		}
		return a.setRequest(3, r3)
	}},
	76: {"MPI_Comm_iflush_buffer", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		r1 := a.objectIflushBuffer(x0)
		return a.setRequest(1, r1)
	}},
	77: {"MPI_Comm_join", (*cCall).unsupported},
	78: {"MPI_Comm_rank", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r1 := a.commRank(x0)
		return a.setInt(1, r1)
	}},
	79: {"MPI_Comm_remote_group", func(a *cCall) error {
		x0, err := a.inter(0)
		if err != nil {
			return err
		}
		r1 := a.commRemoteGroup(x0)
		return a.setGroup(1, r1)
	}},
	80: {"MPI_Comm_remote_size", func(a *cCall) error {
		x0, err := a.inter(0)
		if err != nil {
			return err
		}
		r1 := a.commRemoteSize(x0)
		return a.setInt(1, r1)
	}},
	81: {"MPI_Comm_set_attr", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.objectSetAttr(x0, a.int(1))
	}},
	82: {"MPI_Comm_set_errhandler", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		return a.objectSetErrhandler(x0)
	}},
	83: {"MPI_Comm_set_info", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		x1, err := a.info(1)
		if err != nil {
			return err
		}
		a.objectSetInfo(x0, x1)
		return nil
	}},
	84: {"MPI_Comm_set_name", func(a *cCall) error {
		x0, err := objectOf(a.comm(0))
		if err != nil {
			return err
		}
		x1, err := a.string(1)
		if err != nil {
			return err
		}
		a.objectSetName(x0, x1)
		return nil
	}},
	85: {"MPI_Comm_size", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r1 := a.commSize(x0)
		return a.setInt(1, r1)
	}},
	86: {"MPI_Comm_spawn", (*cCall).unsupported},
	87: {"MPI_Comm_spawn_multiple", (*cCall).unsupported},
	88: {"MPI_Comm_split", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r3, err := a.commSplit(x0, a.int(1), a.int(2))
		if err != nil {
			return err
		}
		return a.setComm(3, r3)
	}},
	89: {"MPI_Comm_split_type", func(a *cCall) error {
		x0, err := a.intra(0)
		if err != nil {
			return err
		}
		x3, err := a.hints(3)
		if err != nil {
			return err
		}
		r4, err := a.commSplitType(x0, a.int(1), a.int(2), x3)
		if err != nil {
			return err
		}
		return a.setComm(4, r4)
	}},
	90: {"MPI_Comm_test_inter", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r1 := a.commTestInter(x0)
		return a.setFlag(1, r1)
	}},
	91: {name: "MPI_Comm_toint"},
	92: {"MPI_Compare_and_swap", func(a *cCall) error {
		x6, err := a.window(6)
		if err != nil {
			return err
		}
		x3, err := a.committed(3)
		if err != nil {
			return err
		}
		return a.compareAndSwap(x3, a.int(4), a.int(5), x6)
	}},
	93: {"MPI_Dims_create", func(a *cCall) error {
		r2, err := a.dimsCreate(a.int(0), a.int(1))
		if err != nil {
			return err
		}
		return a.setInts(2, r2)
	}},
	94: {"MPI_Dist_graph_create", func(a *cCall) error {
		x0, err := a.intra(0)
		if err != nil {
			return err
		}
		x2, err := a.ints(2, a.int(1))
		if err != nil {
			return err
		}
		x3, err := a.ints(3, a.int(1))
		if err != nil {
			return err
		}
		r8, err := a.distGraphCreate(x0, x2, x3)
		if err != nil {
			return err
		}
		return a.setComm(8, r8)
	}},
	95: {"MPI_Dist_graph_create_adjacent", func(a *cCall) error {
		x0, err := a.intra(0)
		if err != nil {
			return err
		}
		x2, err := a.ints(2, a.int(1))
		if err != nil {
			return err
		}
		x3, err := a.weights(3, a.int(1))
		if err != nil {
			return err
		}
		x5, err := a.ints(5, a.int(4))
		if err != nil {
			return err
		}
		x6, err := a.weights(6, a.int(4))
		if err != nil {
			return err
		}
		r9, err := a.distGraphCreateAdjacent(x0, x2, x3, x5, x6)
		if err != nil {
			return err
		}
		return a.setComm(9, r9)
	}},
	96: {"MPI_Dist_graph_neighbors", func(a *cCall) error {
		x0, err := a.topology(0, mpiDistGraph)
		if err != nil {
			return err
		}
		return a.distGraphNeighbors(x0)
	}},
	97: {"MPI_Dist_graph_neighbors_count", func(a *cCall) error {
		x0, err := a.topology(0, mpiDistGraph)
		if err != nil {
			return err
		}
		r1, r2, r3 := a.distGraphNeighborsCount(x0)
		if err := a.setInt(1, r1); err != nil {
			return err
		}
		if err := a.setInt(2, r2); err != nil {
			return err
		}
		return a.setFlag(3, r3)
	}},
	98: {"MPI_Errhandler_free", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.errhandlerFree(x0)
	}},
	99:  {name: "MPI_Errhandler_fromint"},
	100: {name: "MPI_Errhandler_toint"},
	101: {"MPI_Error_class", func(a *cCall) error {
		r1, err := a.errorClass(a.int(0))
		if err != nil {
			return err
		}
		return a.setInt(1, r1)
	}},
	102: {"MPI_Error_string", func(a *cCall) error {
		return a.errorString(a.int(0))
	}},
	103: {"MPI_Exscan", func(a *cCall) error {
		x5, err := a.intra(5)
		if err != nil {
			return err
		}
		return a.exscan(callForm{}, x5)
	}},
	104: {"MPI_Exscan_init", func(a *cCall) error {
		x5, err := a.intra(5)
		if err != nil {
			return err
		}
		return a.exscan(callForm{7, true}, x5)
	}},
	105: {"MPI_Fetch_and_op", func(a *cCall) error {
		x6, err := a.window(6)
		if err != nil {
			return err
		}
		x2, err := a.committed(2)
		if err != nil {
			return err
		}
		return a.fetchAndOp(x2, a.int(3), a.int(4), x6)
	}},
	106: {"MPI_File_call_errhandler", (*cCall).fileCallErrhandler},
	107: {"MPI_File_close", (*cCall).unsupported},
	108: {"MPI_File_create_errhandler", func(a *cCall) error {
		r1, err := a.fileCreateErrhandler()
		if err != nil {
			return err
		}
		return a.setHandler(1, r1)
	}},
	109: {"MPI_File_delete", (*cCall).unsupported},
	110: {name: "MPI_File_fromint"},
	111: {"MPI_File_get_amode", (*cCall).unsupported},
	112: {"MPI_File_get_atomicity", (*cCall).unsupported},
	113: {"MPI_File_get_byte_offset", (*cCall).unsupported},
	114: {"MPI_File_get_errhandler", (*cCall).fileGetErrhandler},
	115: {"MPI_File_get_group", (*cCall).unsupported},
	116: {"MPI_File_get_info", (*cCall).unsupported},
	117: {"MPI_File_get_position", (*cCall).unsupported},
	118: {"MPI_File_get_position_shared", (*cCall).unsupported},
	119: {"MPI_File_get_size", (*cCall).unsupported},
	120: {"MPI_File_get_type_extent", (*cCall).unsupported},
	121: {"MPI_File_get_view", (*cCall).unsupported},
	122: {"MPI_File_iread", (*cCall).unsupported},
	123: {"MPI_File_iread_all", (*cCall).unsupported},
	124: {"MPI_File_iread_at", (*cCall).unsupported},
	125: {"MPI_File_iread_at_all", (*cCall).unsupported},
	126: {"MPI_File_iread_shared", (*cCall).unsupported},
	127: {"MPI_File_iwrite", (*cCall).unsupported},
	128: {"MPI_File_iwrite_all", (*cCall).unsupported},
	129: {"MPI_File_iwrite_at", (*cCall).unsupported},
	130: {"MPI_File_iwrite_at_all", (*cCall).unsupported},
	131: {"MPI_File_iwrite_shared", (*cCall).unsupported},
	132: {"MPI_File_open", (*cCall).unsupported},
	133: {"MPI_File_preallocate", (*cCall).unsupported},
	134: {"MPI_File_read", (*cCall).unsupported},
	135: {"MPI_File_read_all", (*cCall).unsupported},
	136: {"MPI_File_read_all_begin", (*cCall).unsupported},
	137: {"MPI_File_read_all_end", (*cCall).unsupported},
	138: {"MPI_File_read_at", (*cCall).unsupported},
	139: {"MPI_File_read_at_all", (*cCall).unsupported},
	140: {"MPI_File_read_at_all_begin", (*cCall).unsupported},
	141: {"MPI_File_read_at_all_end", (*cCall).unsupported},
	142: {"MPI_File_read_ordered", (*cCall).unsupported},
	143: {"MPI_File_read_ordered_begin", (*cCall).unsupported},
	144: {"MPI_File_read_ordered_end", (*cCall).unsupported},
	145: {"MPI_File_read_shared", (*cCall).unsupported},
	146: {"MPI_File_seek", (*cCall).unsupported},
	147: {"MPI_File_seek_shared", (*cCall).unsupported},
	148: {"MPI_File_set_atomicity", (*cCall).unsupported},
	149: {"MPI_File_set_errhandler", (*cCall).fileSetErrhandler},
	150: {"MPI_File_set_info", (*cCall).unsupported},
	151: {"MPI_File_set_size", (*cCall).unsupported},
	152: {"MPI_File_set_view", (*cCall).unsupported},
	153: {"MPI_File_sync", (*cCall).unsupported},
	154: {name: "MPI_File_toint"},
	155: {"MPI_File_write", (*cCall).unsupported},
	156: {"MPI_File_write_all", (*cCall).unsupported},
	157: {"MPI_File_write_all_begin", (*cCall).unsupported},
	158: {"MPI_File_write_all_end", (*cCall).unsupported},
	159: {"MPI_File_write_at", (*cCall).unsupported},
	160: {"MPI_File_write_at_all", (*cCall).unsupported},
	161: {"MPI_File_write_at_all_begin", (*cCall).unsupported},
	162: {"MPI_File_write_at_all_end", (*cCall).unsupported},
	163: {"MPI_File_write_ordered", (*cCall).unsupported},
	164: {"MPI_File_write_ordered_begin", (*cCall).unsupported},
	165: {"MPI_File_write_ordered_end", (*cCall).unsupported},
	166: {"MPI_File_write_shared", (*cCall).unsupported},
	167: {"MPI_Finalize", (*cCall).finalize},
	168: {name: "MPI_Finalized"},
	169: {"MPI_Free_mem", func(a *cCall) error {
		a.freeMem()
		return nil
	}},
	170: {"MPI_Gather", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.gather(callForm{}, x7)
	}},
	171: {"MPI_Gather_init", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.gather(callForm{9, true}, x7)
	}},
	172: {"MPI_Gatherv", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.gatherv(callForm{}, x8)
	}},
	173: {"MPI_Gatherv_init", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.gatherv(callForm{10, true}, x8)
	}},
	174: {"MPI_Get", func(a *cCall) error {
		x3, err := a.target(3, 7)
		if err != nil {
			return err
		}
		x0, err := a.elements(0)
		if err != nil {
			return err
		}
		return a.get(x0, x3)
	}},
	175: {"MPI_Get_accumulate", func(a *cCall) error {
		x6, err := a.target(6, 11)
		if err != nil {
			return err
		}
		return a.getAccumulate(x6)
	}},
	176: {name: "MPI_Get_address"},
	177: {"MPI_Get_count", func(a *cCall) error {
		x1, err := a.dtype(1)
		if err != nil {
			return err
		}
		r2, err := a.getCount(a.status(0), x1)
		if err != nil {
			return err
		}
		return a.setCount(2, r2)
	}},
	178: {"MPI_Get_elements", func(a *cCall) error {
		x1, err := a.dtype(1)
		if err != nil {
			return err
		}
		r2, err := a.getElements(a.status(0), x1)
		if err != nil {
			return err
		}
		return a.setCount(2, r2)
	}},
	179: {"MPI_Get_elements_x", func(a *cCall) error {
		x1, err := a.dtype(1)
		if err != nil {
			return err
		}
		r2, err := a.getElements(a.status(0), x1)
		if err != nil {
			return err
		}
		return a.setAint(2, r2)
	}},
	180: {"MPI_Get_hw_resource_info", func(a *cCall) error {
		r0 := a.getHwResourceInfo()
		return a.setInfo(0, r0)
	}},
	181: {"MPI_Get_library_version", (*cCall).getLibraryVersion},
	182: {"MPI_Get_processor_name", (*cCall).getProcessorName},
	183: {name: "MPI_Get_version"},
	184: {"MPI_Graph_create", func(a *cCall) error {
		x0, err := a.intra(0)
		if err != nil {
			return err
		}
		r5, err := a.graphCreate(x0)
		if err != nil {
			return err
		}
		return a.setComm(5, r5)
	}},
	185: {"MPI_Graph_get", func(a *cCall) error {
		x0, err := a.topology(0, mpiGraph)
		if err != nil {
			return err
		}
		r3, r4, err := a.graphGet(x0, a.int(1), a.int(2))
		if err != nil {
			return err
		}
		if err := a.setInts(3, r3); err != nil {
			return err
		}
		return a.setInts(4, r4)
	}},
	186: {"MPI_Graph_map", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r4, err := a.graphMap(x0)
		if err != nil {
			return err
		}
		return a.setInt(4, r4)
	}},
	187: {"MPI_Graph_neighbors", func(a *cCall) error {
		x0, err := a.topology(0, mpiGraph)
		if err != nil {
			return err
		}
		r3, err := a.graphNeighbors(x0, a.int(1), a.int(2))
		if err != nil {
			return err
		}
		return a.setInts(3, r3)
	}},
	188: {"MPI_Graph_neighbors_count", func(a *cCall) error {
		x0, err := a.topology(0, mpiGraph)
		if err != nil {
			return err
		}
		r2, err := a.graphNeighborsCount(x0, a.int(1))
		if err != nil {
			return err
		}
		return a.setInt(2, r2)
	}},
	189: {"MPI_Graphdims_get", func(a *cCall) error {
		x0, err := a.topology(0, mpiGraph)
		if err != nil {
			return err
		}
		r1, r2 := a.graphdimsGet(x0)
		if err := a.setInt(1, r1); err != nil {
			return err
		}
		return a.setInt(2, r2)
	}},
	190: {"MPI_Grequest_complete", func(a *cCall) error {
		return a.grequestComplete(a.handle(0))
	}},
	191: {"MPI_Grequest_start", func(a *cCall) error {
		r4, err := a.grequestStart()
		if err != nil {
			return err
		}
		return a.setRequest(4, r4)
	}},
	192: {"MPI_Group_compare", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x1, err := a.group(1)
		if err != nil {
			return err
		}
		r2 := a.groupCompare(x0, x1)
		return a.setInt(2, r2)
	}},
	193: {"MPI_Group_difference", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x1, err := a.group(1)
		if err != nil {
			return err
		}
		r2 := a.groupDifference(x0, x1)
		return a.setGroup(2, r2)
	}},
	194: {"MPI_Group_excl", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x2, err := a.ints(2, a.int(1))
		if err != nil {
			return err
		}
		r3, err := a.groupExcl(x0, x2)
		if err != nil {
			return err
		}
		return a.setGroup(3, r3)
	}},
	195: {"MPI_Group_free", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.groupFree(x0)
	}},
	196: {"MPI_Group_from_session_pset", func(a *cCall) error {
		x0, err := a.session(0)
		if err != nil {
			return err
		}
		x1, err := a.string(1)
		if err != nil {
			return err
		}
		return a.groupFromSessionPset(x0, x1)
	}},
	197: {name: "MPI_Group_fromint"},
	198: {"MPI_Group_incl", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x2, err := a.ints(2, a.int(1))
		if err != nil {
			return err
		}
		r3, err := a.groupIncl(x0, x2)
		if err != nil {
			return err
		}
		return a.setGroup(3, r3)
	}},
	199: {"MPI_Group_intersection", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x1, err := a.group(1)
		if err != nil {
			return err
		}
		r2 := a.groupIntersection(x0, x1)
		return a.setGroup(2, r2)
	}},
	200: {"MPI_Group_range_excl", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		r3, err := a.groupRangeExcl(x0)
		if err != nil {
			return err
		}
		return a.setGroup(3, r3)
	}},
	201: {"MPI_Group_range_incl", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		r3, err := a.groupRangeIncl(x0)
		if err != nil {
			return err
		}
		return a.setGroup(3, r3)
	}},
	202: {"MPI_Group_rank", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		r1 := a.groupRank(x0)
		return a.setInt(1, r1)
	}},
	203: {"MPI_Group_size", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		r1 := a.groupSize(x0)
		return a.setInt(1, r1)
	}},
	204: {name: "MPI_Group_toint"},
	205: {"MPI_Group_translate_ranks", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x2, err := a.ints(2, a.int(1))
		if err != nil {
			return err
		}
		x3, err := a.group(3)
		if err != nil {
			return err
		}
		r4, err := a.groupTranslateRanks(x0, x2, x3)
		if err != nil {
			return err
		}
		return a.setInts(4, r4)
	}},
	206: {"MPI_Group_union", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x1, err := a.group(1)
		if err != nil {
			return err
		}
		r2 := a.groupUnion(x0, x1)
		return a.setGroup(2, r2)
	}},
	207: {"MPI_Iallgather", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.allgather(callForm{7, false}, x6)
	}},
	208: {"MPI_Iallgatherv", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.allgatherv(callForm{8, false}, x7)
	}},
	209: {"MPI_Iallreduce", func(a *cCall) error {
		x5, err := a.comm(5)
		if err != nil {
			return err
		}
		return a.allreduce(callForm{6, false}, x5)
	}},
	210: {"MPI_Ialltoall", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.alltoall(callForm{7, false}, x6)
	}},
	211: {"MPI_Ialltoallv", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.alltoallv(callForm{9, false}, x8)
	}},
	212: {"MPI_Ialltoallw", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.alltoallw(callForm{9, false}, x8)
	}},
	213: {"MPI_Ibarrier", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		return a.barrier(callForm{1, false}, x0)
	}},
	214: {"MPI_Ibcast", func(a *cCall) error {
		x4, err := a.comm(4)
		if err != nil {
			return err
		}
		return a.bcast(callForm{5, false}, x4)
	}},
	215: {"MPI_Ibsend", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		r6, err := a.ibsend(x0)
		if err != nil {
			return err
		}
		return a.setRequest(6, r6)
	}},
	216: {"MPI_Iexscan", func(a *cCall) error {
		x5, err := a.intra(5)
		if err != nil {
			return err
		}
		return a.exscan(callForm{6, false}, x5)
	}},
	217: {"MPI_Igather", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.gather(callForm{8, false}, x7)
	}},
	218: {"MPI_Igatherv", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.gatherv(callForm{9, false}, x8)
	}},
	219: {"MPI_Improbe", func(a *cCall) error {
		r3, err := a.improbe(a.status(5))
		if err != nil {
			return err
		}
		return a.setFlag(3, r3)
	}},
	220: {"MPI_Imrecv", func(a *cCall) error {
		x3, err := a.handleAt(3)
		if err != nil {
			return err
		}
		r4, err := a.imrecv(x3)
		if err != nil {
			return err
		}
		return a.setRequest(4, r4)
	}},
	221: {"MPI_Ineighbor_allgather", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.neighborAllgather(callForm{7, false}, x6)
	}},
	222: {"MPI_Ineighbor_allgatherv", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.neighborAllgatherv(callForm{8, false}, x7)
	}},
	223: {"MPI_Ineighbor_alltoall", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.neighborAlltoall(callForm{7, false}, x6)
	}},
	224: {"MPI_Ineighbor_alltoallv", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.neighborAlltoallv(callForm{9, false}, x8)
	}},
	225: {"MPI_Ineighbor_alltoallw", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.neighborAlltoallw(callForm{9, false}, x8)
	}},
	226: {"MPI_Info_create", func(a *cCall) error {
		r0 := a.infoCreate()
		return a.setInfo(0, r0)
	}},
	227: {"MPI_Info_create_env", func(a *cCall) error {
		r2 := a.infoCreateEnv()
		return a.setInfo(2, r2)
	}},
	228: {"MPI_Info_delete", func(a *cCall) error {
		x0, err := a.changeable(0)
		if err != nil {
			return err
		}
		x1, err := a.key(1)
		if err != nil {
			return err
		}
		return a.infoDelete(x0, x1)
	}},
	229: {"MPI_Info_dup", func(a *cCall) error {
		x0, err := a.info(0)
		if err != nil {
			return err
		}
		r1 := a.infoDup(x0)
		return a.setInfo(1, r1)
	}},
	230: {"MPI_Info_free", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.infoFree(x0)
	}},
	231: {name: "MPI_Info_fromint"},
	232: {"MPI_Info_get", func(a *cCall) error {
		x0, err := a.info(0)
		if err != nil {
			return err
		}
		x1, err := a.key(1)
		if err != nil {
			return err
		}
		r4, err := a.infoGet(x0, x1, a.int(2))
		if err != nil {
			return err
		}
		return a.setFlag(4, r4)
	}},
	233: {"MPI_Info_get_nkeys", func(a *cCall) error {
		x0, err := a.info(0)
		if err != nil {
			return err
		}
		r1 := a.infoGetNkeys(x0)
		return a.setInt(1, r1)
	}},
	234: {"MPI_Info_get_nthkey", func(a *cCall) error {
		x0, err := a.info(0)
		if err != nil {
			return err
		}
		return a.infoGetNthkey(x0, a.int(1))
	}},
	235: {"MPI_Info_get_string", func(a *cCall) error {
		x0, err := a.info(0)
		if err != nil {
			return err
		}
		x1, err := a.key(1)
		if err != nil {
			return err
		}
		r4, err := a.infoGetString(x0, x1)
		if err != nil {
			return err
		}
		return a.setFlag(4, r4)
	}},
	236: {"MPI_Info_get_valuelen", func(a *cCall) error {
		x0, err := a.info(0)
		if err != nil {
			return err
		}
		x1, err := a.key(1)
		if err != nil {
			return err
		}
		r3, err := a.infoGetValuelen(x0, x1)
		if err != nil {
			return err
		}
		return a.setFlag(3, r3)
	}},
	237: {"MPI_Info_set", func(a *cCall) error {
		x0, err := a.changeable(0)
		if err != nil {
			return err
		}
		x1, err := a.key(1)
		if err != nil {
			return err
		}
		return a.infoSet(x0, x1)
	}},
	238: {name: "MPI_Info_toint"},
	239: {"MPI_Init", (*cCall).init},
	240: {"MPI_Init_thread", func(a *cCall) error {
		r3, err := a.initThread()
		if err != nil {
			return err
		}
		return a.setInt(3, r3)
	}},
	241: {name: "MPI_Initialized"},
	242: {"MPI_Intercomm_create", func(a *cCall) error {
		x0, err := a.intra(0)
		if err != nil {
			return err
		}
		r5, err := a.intercommCreate(x0, a.int(1), a.handle(2), a.int(3), a.int(4))
		if err != nil {
			return err
		}
		return a.setComm(5, r5)
	}},
	243: {"MPI_Intercomm_create_from_groups", func(a *cCall) error {
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x2, err := a.group(2)
		if err != nil {
			return err
		}
		x4, err := a.string(4)
		if err != nil {
			return err
		}
		x5, err := a.hints(5)
		if err != nil {
			return err
		}
		r7, err := a.intercommCreateFromGroups(x0, a.int(1), x2, a.int(3), x4, x5)
		if err != nil {
			return err
		}
		return a.setComm(7, r7)
	}},
	244: {"MPI_Intercomm_merge", func(a *cCall) error {
		x0, err := a.inter(0)
		if err != nil {
			return err
		}
		r2, err := a.intercommMerge(x0, a.int(1) != 0)
		if err != nil {
			return err
		}
		return a.setComm(2, r2)
	}},
	245: {"MPI_Iprobe", func(a *cCall) error {
		r3, err := a.iprobe(a.status(4))
		if err != nil {
			return err
		}
		return a.setFlag(3, r3)
	}},
	246: {"MPI_Irecv", func(a *cCall) error {
		x0, err := a.message(0, true)
		if err != nil {
			return err
		}
		r6, err := a.irecv(x0)
		if err != nil {
			return err
		}
		return a.setRequest(6, r6)
	}},
	247: {"MPI_Ireduce", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.reduce(callForm{7, false}, x6)
	}},
	248: {"MPI_Ireduce_scatter", func(a *cCall) error {
		x5, err := a.comm(5)
		if err != nil {
			return err
		}
		return a.reduceScatter(callForm{6, false}, x5)
	}},
	249: {"MPI_Ireduce_scatter_block", func(a *cCall) error {
		x5, err := a.comm(5)
		if err != nil {
			return err
		}
		return a.reduceScatterBlock(callForm{6, false}, x5)
	}},
	250: {"MPI_Irsend", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		r6, err := a.irsend(x0)
		if err != nil {
			return err
		}
		return a.setRequest(6, r6)
	}},
	251: {"MPI_Is_thread_main", func(a *cCall) error {
		r0 := a.isThreadMain()
		return a.setFlag(0, r0)
	}},
	252: {"MPI_Iscan", func(a *cCall) error {
		x5, err := a.intra(5)
		if err != nil {
			return err
		}
		return a.scan(callForm{6, false}, x5)
	}},
	253: {"MPI_Iscatter", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.scatter(callForm{8, false}, x7)
	}},
	254: {"MPI_Iscatterv", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.scatterv(callForm{9, false}, x8)
	}},
	255: {"MPI_Isend", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		r6, err := a.isend(x0)
		if err != nil {
			return err
		}
		return a.setRequest(6, r6)
	}},
	256: {"MPI_Isendrecv", func(a *cCall) error {
		r11, err := a.isendrecv()
		if err != nil {
			return err
		}
		return a.setRequest(11, r11)
	}},
	257: {"MPI_Isendrecv_replace", func(a *cCall) error {
		r8, err := a.isendrecvReplace()
		if err != nil {
			return err
		}
		return a.setRequest(8, r8)
	}},
	258: {"MPI_Issend", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		r6, err := a.issend(x0)
		if err != nil {
			return err
		}
		return a.setRequest(6, r6)
	}},
	259: {"MPI_Keyval_create", (*cCall).keyvalCreate},
	260: {"MPI_Keyval_free", func(a *cCall) error {
		x0, err := a.intAt(0)
		if err != nil {
			return err
		}
		return a.keyvalFree(x0)
	}},
	261: {"MPI_Lookup_name", (*cCall).unsupported},
	262: {name: "MPI_Message_fromint"},
	263: {name: "MPI_Message_toint"},
	264: {"MPI_Mprobe", func(a *cCall) error {
		return a.mprobe(a.status(4))
	}},
	265: {"MPI_Mrecv", func(a *cCall) error {
		x3, err := a.handleAt(3)
		if err != nil {
			return err
		}
		return a.mrecv(x3, a.status(4))
	}},
	266: {"MPI_Neighbor_allgather", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.neighborAllgather(callForm{}, x6)
	}},
	267: {"MPI_Neighbor_allgather_init", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.neighborAllgather(callForm{8, true}, x6)
	}},
	268: {"MPI_Neighbor_allgatherv", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.neighborAllgatherv(callForm{}, x7)
	}},
	269: {"MPI_Neighbor_allgatherv_init", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.neighborAllgatherv(callForm{9, true}, x7)
	}},
	270: {"MPI_Neighbor_alltoall", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.neighborAlltoall(callForm{}, x6)
	}},
	271: {"MPI_Neighbor_alltoall_init", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.neighborAlltoall(callForm{8, true}, x6)
	}},
	272: {"MPI_Neighbor_alltoallv", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.neighborAlltoallv(callForm{}, x8)
	}},
	273: {"MPI_Neighbor_alltoallv_init", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.neighborAlltoallv(callForm{10, true}, x8)
	}},
	274: {"MPI_Neighbor_alltoallw", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.neighborAlltoallw(callForm{}, x8)
	}},
	275: {"MPI_Neighbor_alltoallw_init", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.neighborAlltoallw(callForm{10, true}, x8)
	}},
	276: {"MPI_Op_commutative", func(a *cCall) error {
		x0, err := a.op(0)
		if err != nil {
			return err
		}
		r1 := a.opCommutative(x0)
		return a.setFlag(1, r1)
	}},
	277: {"MPI_Op_create", (*cCall).opCreate},
	278: {"MPI_Op_free", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.opFree(x0)
	}},
	279: {name: "MPI_Op_fromint"},
	280: {name: "MPI_Op_toint"},
	281: {"MPI_Open_port", (*cCall).unsupported},
	282: {"MPI_Pack", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		x0, err := a.elements(0)
		if err != nil {
			return err
		}
		return a.pack(x0, a.int(4), x6)
	}},
	283: {"MPI_Pack_external", func(a *cCall) error {
		x1, err := a.elements(1)
		if err != nil {
			return err
		}
		return a.packExternal(x1, a.int(5))
	}},
	284: {"MPI_Pack_external_size", func(a *cCall) error {
		x1, err := a.count(1)
		if err != nil {
			return err
		}
		x2, err := a.committed(2)
		if err != nil {
			return err
		}
		r3, err := a.packExternalSize(x1, x2)
		if err != nil {
			return err
		}
		return a.setAint(3, r3)
	}},
	285: {"MPI_Pack_size", func(a *cCall) error {
		x2, err := a.comm(2)
		if err != nil {
			return err
		}
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		x1, err := a.committed(1)
		if err != nil {
			return err
		}
		r3 := a.packSize(x0, x1, x2)
		return a.setCount(3, r3)
	}},
	286: {"MPI_Parrived", func(a *cCall) error {
		x0, err := a.partitioned(0)
		if err != nil {
			return err
		}
		r2, err := a.parrived(x0, a.int(1))
		if err != nil {
			return err
		}
		return a.setFlag(2, r2)
	}},
	287: {name: "MPI_Pcontrol"},
	288: {"MPI_Pready", func(a *cCall) error {
		x1, err := a.partitioned(1)
		if err != nil {
			return err
		}
		return a.pready(a.int(0), x1)
	}},
	289: {"MPI_Pready_list", func(a *cCall) error {
		x1, err := a.ints(1, a.int(0))
		if err != nil {
			return err
		}
		x2, err := a.partitioned(2)
		if err != nil {
			return err
		}
		return a.preadyList(x1, x2)
	}},
	290: {"MPI_Pready_range", func(a *cCall) error {
		x2, err := a.partitioned(2)
		if err != nil {
			return err
		}
		return a.preadyRange(a.int(0), a.int(1), x2)
	}},
	291: {"MPI_Precv_init", func(a *cCall) error {
		r8, err := a.precvInit()
		if err != nil {
			return err
		}
		return a.setRequest(8, r8)
	}},
	292: {"MPI_Probe", func(a *cCall) error {
		return a.probe(a.status(3))
	}},
	293: {"MPI_Psend_init", func(a *cCall) error {
		r8, err := a.psendInit()
		if err != nil {
			return err
		}
		return a.setRequest(8, r8)
	}},
	294: {"MPI_Publish_name", (*cCall).unsupported},
	295: {"MPI_Put", func(a *cCall) error {
		x3, err := a.target(3, 7)
		if err != nil {
			return err
		}
		x0, err := a.elements(0)
		if err != nil {
			return err
		}
		return a.put(x0, x3)
	}},
	296: {"MPI_Query_thread", func(a *cCall) error {
		r0 := a.queryThread()
		return a.setInt(0, r0)
	}},
	297: {"MPI_Raccumulate", func(a *cCall) error {
		x3, err := a.target(3, 8)
		if err != nil {
			return err
		}
		x0, err := a.elements(0)
		if err != nil {
			return err
		}
		r9, err := a.raccumulate(x0, x3)
		if err != nil {
			return err
		}
		return a.setRequest(9, r9)
	}},
	298: {"MPI_Recv", func(a *cCall) error {
		x0, err := a.message(0, true)
		if err != nil {
			return err
		}
		return a.recv(x0, a.status(6))
	}},
	299: {"MPI_Recv_init", func(a *cCall) error {
		x0, err := a.message(0, true)
		if err != nil {
			return err
		}
		r6 := a.recvInit(x0)
		return a.setRequest(6, r6)
	}},
	300: {"MPI_Reduce", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.reduce(callForm{}, x6)
	}},
	301: {"MPI_Reduce_init", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		return a.reduce(callForm{8, true}, x6)
	}},
	302: {"MPI_Reduce_local", (*cCall).reduceLocal},
	303: {"MPI_Reduce_scatter", func(a *cCall) error {
		x5, err := a.comm(5)
		if err != nil {
			return err
		}
		return a.reduceScatter(callForm{}, x5)
	}},
	304: {"MPI_Reduce_scatter_block", func(a *cCall) error {
		x5, err := a.comm(5)
		if err != nil {
			return err
		}
		return a.reduceScatterBlock(callForm{}, x5)
	}},
	305: {"MPI_Reduce_scatter_block_init", func(a *cCall) error {
		x5, err := a.comm(5)
		if err != nil {
			return err
		}
		return a.reduceScatterBlock(callForm{7, true}, x5)
	}},
	306: {"MPI_Reduce_scatter_init", func(a *cCall) error {
		x5, err := a.comm(5)
		if err != nil {
			return err
		}
		return a.reduceScatter(callForm{7, true}, x5)
	}},
	307: {"MPI_Register_datarep", (*cCall).unsupported},
	308: {"MPI_Remove_error_class", func(a *cCall) error {
		return a.removeErrorClass(a.int(0))
	}},
	309: {"MPI_Remove_error_code", func(a *cCall) error {
		return a.removeErrorCode(a.int(0))
	}},
	310: {"MPI_Remove_error_string", func(a *cCall) error {
		return a.removeErrorString(a.int(0))
	}},
	311: {"MPI_Request_free", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.requestFree(x0)
	}},
	312: {name: "MPI_Request_fromint"},
	313: {"MPI_Request_get_status", func(a *cCall) error {
		return a.requestGetStatus(a.handle(0), a.status(2))
	}},
	314: {"MPI_Request_get_status_all", (*cCall).requestGetStatusAll},
	315: {"MPI_Request_get_status_any", (*cCall).requestGetStatusAny},
	316: {"MPI_Request_get_status_some", (*cCall).requestGetStatusSome},
	317: {name: "MPI_Request_toint"},
	318: {"MPI_Rget", func(a *cCall) error {
		x3, err := a.target(3, 7)
		if err != nil {
			return err
		}
		x0, err := a.elements(0)
		if err != nil {
			return err
		}
		r8 := a.rget(x0, x3)
		return a.setRequest(8, r8)
	}},
	319: {"MPI_Rget_accumulate", func(a *cCall) error {
		x6, err := a.target(6, 11)
		if err != nil {
			return err
		}
		r12, err := a.rgetAccumulate(x6)
		if err != nil {
			return err
		}
		return a.setRequest(12, r12)
	}},
	320: {"MPI_Rput", func(a *cCall) error {
		x3, err := a.target(3, 7)
		if err != nil {
			return err
		}
		x0, err := a.elements(0)
		if err != nil {
			return err
		}
		r8 := a.rput(x0, x3)
		return a.setRequest(8, r8)
	}},
	321: {"MPI_Rsend", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		return a.rsend(x0)
	}},
	322: {"MPI_Rsend_init", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		r6 := a.rsendInit(x0)
		return a.setRequest(6, r6)
	}},
	323: {"MPI_Scan", func(a *cCall) error {
		x5, err := a.intra(5)
		if err != nil {
			return err
		}
		return a.scan(callForm{}, x5)
	}},
	324: {"MPI_Scan_init", func(a *cCall) error {
		x5, err := a.intra(5)
		if err != nil {
			return err
		}
		return a.scan(callForm{7, true}, x5)
	}},
	325: {"MPI_Scatter", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.scatter(callForm{}, x7)
	}},
	326: {"MPI_Scatter_init", func(a *cCall) error {
		x7, err := a.comm(7)
		if err != nil {
			return err
		}
		return a.scatter(callForm{9, true}, x7)
	}},
	327: {"MPI_Scatterv", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.scatterv(callForm{}, x8)
	}},
	328: {"MPI_Scatterv_init", func(a *cCall) error {
		x8, err := a.comm(8)
		if err != nil {
			return err
		}
		return a.scatterv(callForm{10, true}, x8)
	}},
	329: {"MPI_Send", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		return a.send(x0)
	}},
	330: {"MPI_Send_init", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		r6 := a.sendInit(x0)
		return a.setRequest(6, r6)
	}},
	331: {"MPI_Sendrecv", func(a *cCall) error {
		return a.sendrecv(a.status(11))
	}},
	332: {"MPI_Sendrecv_replace", func(a *cCall) error {
		return a.sendrecvReplace(a.status(8))
	}},
	333: {"MPI_Session_attach_buffer", func(a *cCall) error {
		x0, err := objectOf(a.session(0))
		if err != nil {
			return err
		}
		return a.objectAttachBuffer(x0)
	}},
	334: {"MPI_Session_call_errhandler", func(a *cCall) error {
		x0, err := objectOf(a.session(0))
		if err != nil {
			return err
		}
		a.objectCallErrhandler(x0, a.int(1))
		return nil
	}},
	335: {"MPI_Session_create_errhandler", func(a *cCall) error {
		r1, err := a.objectCreateErrhandler(ofSession)
		if err != nil {
			return err
		}
		return a.setHandler(1, r1)
	}},
	336: {"MPI_Session_detach_buffer", func(a *cCall) error {
		x0, err := objectOf(a.session(0))
		if err != nil {
			return err
		}
		return a.objectDetachBuffer(x0)
	}},
	337: {"MPI_Session_finalize", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.sessionFinalize(x0)
	}},
	338: {"MPI_Session_flush_buffer", func(a *cCall) error {
		x0, err := objectOf(a.session(0))
		if err != nil {
			return err
		}
		return a.objectFlushBuffer(x0)
	}},
	339: {name: "MPI_Session_fromint"},
	340: {"MPI_Session_get_errhandler", func(a *cCall) error {
		x0, err := objectOf(a.session(0))
		if err != nil {
			return err
		}
		r1 := a.objectGetErrhandler(x0)
		return a.setHandler(1, r1)
	}},
	341: {"MPI_Session_get_info", func(a *cCall) error {
		x0, err := objectOf(a.session(0))
		if err != nil {
			return err
		}
		r1 := a.objectGetInfo(x0)
		return a.setInfo(1, r1)
	}},
	342: {"MPI_Session_get_nth_pset", func(a *cCall) error {
		x0, err := a.session(0)
		if err != nil {
			return err
		}
		return a.sessionGetNthPset(x0, a.handle(1), a.int(2))
	}},
	343: {"MPI_Session_get_num_psets", func(a *cCall) error {
		x0, err := a.session(0)
		if err != nil {
			return err
		}
		r2 := a.sessionGetNumPsets(x0)
		return a.setInt(2, r2)
	}},
	344: {"MPI_Session_get_pset_info", func(a *cCall) error {
		x0, err := a.session(0)
		if err != nil {
			return err
		}
		x1, err := a.string(1)
		if err != nil {
			return err
		}
		r2, err := a.sessionGetPsetInfo(x0, x1)
		if err != nil {
			return err
		}
		return a.setInfo(2, r2)
	}},
	345: {"MPI_Session_iflush_buffer", func(a *cCall) error {
		x0, err := objectOf(a.session(0))
		if err != nil {
			return err
		}
		r1 := a.objectIflushBuffer(x0)
		return a.setRequest(1, r1)
	}},
	346: {"MPI_Session_init", func(a *cCall) error {
		x0, err := a.hints(0)
		if err != nil {
			return err
		}
		return a.sessionInit(x0)
	}},
	347: {"MPI_Session_set_errhandler", func(a *cCall) error {
		x0, err := objectOf(a.session(0))
		if err != nil {
			return err
		}
		return a.objectSetErrhandler(x0)
	}},
	348: {name: "MPI_Session_toint"},
	349: {"MPI_Ssend", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		return a.ssend(x0)
	}},
	350: {"MPI_Ssend_init", func(a *cCall) error {
		x0, err := a.message(0, false)
		if err != nil {
			return err
		}
		r6 := a.ssendInit(x0)
		return a.setRequest(6, r6)
	}},
	351: {"MPI_Start", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.start(x0)
	}},
	352: {"MPI_Startall", (*cCall).startall},
	353: {name: "MPI_Status_get_error"},
	354: {name: "MPI_Status_get_source"},
	355: {name: "MPI_Status_get_tag"},
	356: {name: "MPI_Status_set_cancelled"},
	357: {"MPI_Status_set_elements", func(a *cCall) error {
		x1, err := a.dtype(1)
		if err != nil {
			return err
		}
		x2, err := a.count(2)
		if err != nil {
			return err
		}
		return a.statusSetElements(a.status(0), x1, x2)
	}},
	358: {"MPI_Status_set_elements_x", func(a *cCall) error {
		x1, err := a.dtype(1)
		if err != nil {
			return err
		}
		x2, err := a.count(2)
		if err != nil {
			return err
		}
		return a.statusSetElements(a.status(0), x1, x2)
	}},
	359: {name: "MPI_Status_set_error"},
	360: {name: "MPI_Status_set_source"},
	361: {name: "MPI_Status_set_tag"},
	362: {"MPI_Test", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.test(x0, a.status(2))
	}},
	363: {name: "MPI_Test_cancelled"},
	364: {"MPI_Testall", (*cCall).testall},
	365: {"MPI_Testany", (*cCall).testany},
	366: {"MPI_Testsome", (*cCall).testsome},
	367: {"MPI_Topo_test", func(a *cCall) error {
		x0, err := a.comm(0)
		if err != nil {
			return err
		}
		r1 := a.topoTest(x0)
		return a.setInt(1, r1)
	}},
	368: {"MPI_Type_commit", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.typeCommit(x0)
	}},
	369: {"MPI_Type_contiguous", func(a *cCall) error {
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		x1, err := a.dtype(1)
		if err != nil {
			return err
		}
		r2, err := a.typeContiguous(x0, x1)
		if err != nil {
			return err
		}
		return a.setType(2, r2)
	}},
	370: {"MPI_Type_create_darray", func(a *cCall) error {
		x3, err := a.counts(3, a.int(2))
		if err != nil {
			return err
		}
		x4, err := a.ints(4, a.int(2))
		if err != nil {
			return err
		}
		x5, err := a.ints(5, a.int(2))
		if err != nil {
			return err
		}
		x6, err := a.ints(6, a.int(2))
		if err != nil {
			return err
		}
		x8, err := a.dtype(8)
		if err != nil {
			return err
		}
		r9, err := a.typeCreateDarray(a.int(0), a.int(1), a.int(2), x3, x4, x5, x6, a.int(7), x8)
		if err != nil {
			return err
		}
		return a.setType(9, r9)
	}},
	371: {"MPI_Type_create_f90_complex", func(a *cCall) error {
		r2, err := a.typeCreateF90Complex(a.int(0), a.int(1))
		if err != nil {
			return err
		}
		return a.setType(2, r2)
	}},
	372: {"MPI_Type_create_f90_integer", func(a *cCall) error {
		r1, err := a.typeCreateF90Integer(a.int(0))
		if err != nil {
			return err
		}
		return a.setType(1, r1)
	}},
	373: {"MPI_Type_create_f90_real", func(a *cCall) error {
		r2, err := a.typeCreateF90Real(a.int(0), a.int(1))
		if err != nil {
			return err
		}
		return a.setType(2, r2)
	}},
	374: {"MPI_Type_create_hindexed", func(a *cCall) error {
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		x1, err := a.blockSizes(1, a.int(0))
		if err != nil {
			return err
		}
		x2, err := a.addresses(2, a.int(0))
		if err != nil {
			return err
		}
		x3, err := a.dtype(3)
		if err != nil {
			return err
		}
		r4, err := a.typeCreateHindexed(x0, x1, x2, x3)
		if err != nil {
			return err
		}
		return a.setType(4, r4)
	}},
	375: {"MPI_Type_create_hindexed_block", func(a *cCall) error {
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		x3, err := a.dtype(3)
		if err != nil {
			return err
		}
		r4, err := a.typeCreateHindexedBlock(x0, a.int(1), x3)
		if err != nil {
			return err
		}
		return a.setType(4, r4)
	}},
	376: {"MPI_Type_create_hvector", func(a *cCall) error {
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		x3, err := a.dtype(3)
		if err != nil {
			return err
		}
		r4, err := a.typeCreateHvector(x0, a.int(1), a.int(2), x3)
		if err != nil {
			return err
		}
		return a.setType(4, r4)
	}},
	377: {"MPI_Type_create_indexed_block", func(a *cCall) error {
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		x3, err := a.dtype(3)
		if err != nil {
			return err
		}
		r4, err := a.typeCreateIndexedBlock(x0, a.int(1), x3)
		if err != nil {
			return err
		}
		return a.setType(4, r4)
	}},
	378: {"MPI_Type_create_keyval", func(a *cCall) error {
		return a.objectCreateKeyval(ofType)
	}},
	379: {"MPI_Type_create_resized", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		r3, err := a.typeCreateResized(x0, a.int(1), a.int(2))
		if err != nil {
			return err
		}
		return a.setType(3, r3)
	}},
	380: {"MPI_Type_create_struct", func(a *cCall) error {
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		x1, err := a.blockSizes(1, a.int(0))
		if err != nil {
			return err
		}
		x2, err := a.addresses(2, a.int(0))
		if err != nil {
			return err
		}
		x3, err := a.dtypes(3, a.int(0))
		if err != nil {
			return err
		}
		r4, err := a.typeCreateStruct(x0, x1, x2, x3)
		if err != nil {
			return err
		}
		return a.setType(4, r4)
	}},
	381: {"MPI_Type_create_subarray", func(a *cCall) error {
		x1, err := a.counts(1, a.int(0))
		if err != nil {
			return err
		}
		x2, err := a.counts(2, a.int(0))
		if err != nil {
			return err
		}
		x3, err := a.counts(3, a.int(0))
		if err != nil {
			return err
		}
		x5, err := a.dtype(5)
		if err != nil {
			return err
		}
		r6, err := a.typeCreateSubarray(a.int(0), x1, x2, x3, a.int(4), x5)
		if err != nil {
			return err
		}
		return a.setType(6, r6)
	}},
	382: {"MPI_Type_delete_attr", func(a *cCall) error {
		x0, err := objectOf(a.dtype(0))
		if err != nil {
			return err
		}
		return a.objectDeleteAttr(x0, a.int(1))
	}},
	383: {"MPI_Type_dup", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		r1, err := a.typeDup(x0)
		if err != nil {
			return err
		}
		return a.setType(1, r1)
	}},
	384: {"MPI_Type_free", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.typeFree(x0)
	}},
	385: {"MPI_Type_free_keyval", func(a *cCall) error {
		x0, err := a.intAt(0)
		if err != nil {
			return err
		}
		return a.objectFreeKeyval(ofType, x0)
	}},
	386: {name: "MPI_Type_fromint"},
	387: {"MPI_Type_get_attr", func(a *cCall) error {
		x0, err := objectOf(a.dtype(0))
		if err != nil {
			return err
		}
		return a.objectGetAttr(x0, a.int(1))
	}},
	388: {"MPI_Type_get_contents", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		return a.typeGetContents(x0, a.int(1), a.int(2), a.int(3))
	}},
	389: {"MPI_Type_get_contents_c", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		return a.typeGetContentsC(x0, a.int(1), a.int(2), a.int(3), a.int(4))
	}},
	390: {"MPI_Type_get_envelope", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		r1, r2, r3, r4, err := a.typeGetEnvelope(x0)
		if err != nil {
			return err
		}
		if err := a.setInt(1, r1); err != nil {
			return err
		}
		if err := a.setInt(2, r2); err != nil {
			return err
		}
		if err := a.setInt(3, r3); err != nil {
			return err
		}
		return a.setInt(4, r4)
	}},
	391: {"MPI_Type_get_envelope_c", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		r1, r2, r3, r4, r5 := a.typeGetEnvelopeC(x0)
		if err := a.setAint(1, r1); err != nil {
			return err
		}
		if err := a.setAint(2, r2); err != nil {
			return err
		}
		if err := a.setAint(3, r3); err != nil {
			return err
		}
		if err := a.setAint(4, r4); err != nil {
			return err
		}
		return a.setInt(5, r5)
	}},
	392: {"MPI_Type_get_extent", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		r1, r2 := a.typeGetExtent(x0)
		if err := a.setAint(1, r1); err != nil {
			return err
		}
		return a.setAint(2, r2)
	}},
	393: {"MPI_Type_get_extent_x", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		r1, r2 := a.typeGetExtent(x0)
		if err := a.setAint(1, r1); err != nil {
			return err
		}
		return a.setAint(2, r2)
	}},
	394: {"MPI_Type_get_name", func(a *cCall) error {
		r1, err := a.typeGetName()
		if err != nil {
			return err
		}
		return a.setName(1, r1)
	}},
	395: {"MPI_Type_get_true_extent", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		r1, r2 := a.typeGetTrueExtent(x0)
		if err := a.setAint(1, r1); err != nil {
			return err
		}
		return a.setAint(2, r2)
	}},
	396: {"MPI_Type_get_true_extent_x", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		r1, r2 := a.typeGetTrueExtent(x0)
		if err := a.setAint(1, r1); err != nil {
			return err
		}
		return a.setAint(2, r2)
	}},
	397: {"MPI_Type_get_value_index", func(a *cCall) error {
		r2 := a.typeGetValueIndex(a.handle(0), a.handle(1))
		return a.setHandle(2, r2)
	}},
	398: {"MPI_Type_indexed", func(a *cCall) error {
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		x1, err := a.blockSizes(1, a.int(0))
		if err != nil {
			return err
		}
		x2, err := a.counts(2, a.int(0))
		if err != nil {
			return err
		}
		x3, err := a.dtype(3)
		if err != nil {
			return err
		}
		r4, err := a.typeIndexed(x0, x1, x2, x3)
		if err != nil {
			return err
		}
		return a.setType(4, r4)
	}},
	399: {"MPI_Type_match_size", func(a *cCall) error {
		r2, err := a.typeMatchSize(a.int(0), a.int(1))
		if err != nil {
			return err
		}
		return a.setHandle(2, r2)
	}},
	400: {"MPI_Type_set_attr", func(a *cCall) error {
		x0, err := objectOf(a.dtype(0))
		if err != nil {
			return err
		}
		return a.objectSetAttr(x0, a.int(1))
	}},
	401: {"MPI_Type_set_name", func(a *cCall) error {
		x0, err := objectOf(a.dtype(0))
		if err != nil {
			return err
		}
		x1, err := a.string(1)
		if err != nil {
			return err
		}
		a.objectSetName(x0, x1)
		return nil
	}},
	402: {"MPI_Type_size", func(a *cCall) error {
		x0, err := a.dtype(0)
		if err != nil {
			return err
		}
		r1 := a.typeSize(x0)
		return a.setCount(1, r1)
	}},
	403: {name: "MPI_Type_size_x"},
	404: {name: "MPI_Type_toint"},
	405: {"MPI_Type_vector", func(a *cCall) error {
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		x3, err := a.dtype(3)
		if err != nil {
			return err
		}
		r4, err := a.typeVector(x0, a.int(1), a.int(2), x3)
		if err != nil {
			return err
		}
		return a.setType(4, r4)
	}},
	406: {"MPI_Unpack", func(a *cCall) error {
		x6, err := a.comm(6)
		if err != nil {
			return err
		}
		x3, err := a.elements(3)
		if err != nil {
			return err
		}
		return a.unpack(a.int(1), x3, x6)
	}},
	407: {"MPI_Unpack_external", func(a *cCall) error {
		x4, err := a.elements(4)
		if err != nil {
			return err
		}
		return a.unpackExternal(a.int(2), x4)
	}},
	408: {"MPI_Unpublish_name", (*cCall).unsupported},
	409: {"MPI_Wait", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.wait(x0, a.status(1))
	}},
	410: {"MPI_Waitall", func(a *cCall) error {
		x0, err := a.count(0)
		if err != nil {
			return err
		}
		return a.waitall(x0)
	}},
	411: {"MPI_Waitany", (*cCall).waitany},
	412: {"MPI_Waitsome", (*cCall).waitsome},
	413: {"MPI_Win_allocate", func(a *cCall) error {
		x3, err := a.intra(3)
		if err != nil {
			return err
		}
		x2, err := a.hints(2)
		if err != nil {
			return err
		}
		return a.winAllocate(a.int(0), a.int(1), x2, x3)
	}},
	414: {"MPI_Win_allocate_shared", func(a *cCall) error {
		x3, err := a.intra(3)
		if err != nil {
			return err
		}
		x2, err := a.hints(2)
		if err != nil {
			return err
		}
		return a.winAllocateShared(a.int(0), a.int(1), x2, x3)
	}},
	415: {"MPI_Win_attach", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		return a.winAttach(x0, a.int(2))
	}},
	416: {"MPI_Win_call_errhandler", func(a *cCall) error {
		x0, err := objectOf(a.window(0))
		if err != nil {
			return err
		}
		a.objectCallErrhandler(x0, a.int(1))
		return nil
	}},
	417: {"MPI_Win_complete", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		return a.winComplete(x0)
	}},
	418: {"MPI_Win_create", func(a *cCall) error {
		x4, err := a.intra(4)
		if err != nil {
			return err
		}
		x3, err := a.hints(3)
		if err != nil {
			return err
		}
		return a.winCreate(a.int(1), a.int(2), x3, x4)
	}},
	419: {"MPI_Win_create_dynamic", func(a *cCall) error {
		x1, err := a.intra(1)
		if err != nil {
			return err
		}
		x0, err := a.hints(0)
		if err != nil {
			return err
		}
		return a.winCreateDynamic(x0, x1)
	}},
	420: {"MPI_Win_create_errhandler", func(a *cCall) error {
		r1, err := a.objectCreateErrhandler(ofWindow)
		if err != nil {
			return err
		}
		return a.setHandler(1, r1)
	}},
	421: {"MPI_Win_create_keyval", func(a *cCall) error {
		return a.objectCreateKeyval(ofWindow)
	}},
	422: {"MPI_Win_delete_attr", func(a *cCall) error {
		x0, err := objectOf(a.window(0))
		if err != nil {
			return err
		}
		return a.objectDeleteAttr(x0, a.int(1))
	}},
	423: {"MPI_Win_detach", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		return a.winDetach(x0)
	}},
	424: {"MPI_Win_fence", func(a *cCall) error {
		x1, err := a.window(1)
		if err != nil {
			return err
		}
		x0, err := a.asserts(0)
		if err != nil {
			return err
		}
		return a.winFence(x0, x1)
	}},
	425: {"MPI_Win_flush", func(a *cCall) error {
		x1, err := a.window(1)
		if err != nil {
			return err
		}
		return a.winFlush(a.int(0), x1)
	}},
	426: {"MPI_Win_flush_all", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		return a.winFlushAll(x0)
	}},
	427: {"MPI_Win_flush_local", func(a *cCall) error {
		x1, err := a.window(1)
		if err != nil {
			return err
		}
		return a.winFlushLocal(a.int(0), x1)
	}},
	428: {"MPI_Win_flush_local_all", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		return a.winFlushLocalAll(x0)
	}},
	429: {"MPI_Win_free", func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.winFree(x0)
	}},
	430: {"MPI_Win_free_keyval", func(a *cCall) error {
		x0, err := a.intAt(0)
		if err != nil {
			return err
		}
		return a.objectFreeKeyval(ofWindow, x0)
	}},
	431: {name: "MPI_Win_fromint"},
	432: {"MPI_Win_get_attr", func(a *cCall) error {
		x0, err := objectOf(a.window(0))
		if err != nil {
			return err
		}
		return a.objectGetAttr(x0, a.int(1))
	}},
	433: {"MPI_Win_get_errhandler", func(a *cCall) error {
		x0, err := objectOf(a.window(0))
		if err != nil {
			return err
		}
		r1 := a.objectGetErrhandler(x0)
		return a.setHandler(1, r1)
	}},
	434: {"MPI_Win_get_group", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		r1 := a.winGetGroup(x0)
		return a.setGroup(1, r1)
	}},
	435: {"MPI_Win_get_info", func(a *cCall) error {
		x0, err := objectOf(a.window(0))
		if err != nil {
			return err
		}
		r1 := a.objectGetInfo(x0)
		return a.setInfo(1, r1)
	}},
	436: {"MPI_Win_get_name", func(a *cCall) error {
		r1, err := a.winGetName()
		if err != nil {
			return err
		}
		return a.setName(1, r1)
	}},
	437: {"MPI_Win_lock", func(a *cCall) error {
		x3, err := a.window(3)
		if err != nil {
			return err
		}
		x2, err := a.asserts(2)
		if err != nil {
			return err
		}
		return a.winLock(a.int(0), a.int(1), x2, x3)
	}},
	438: {"MPI_Win_lock_all", func(a *cCall) error {
		x1, err := a.window(1)
		if err != nil {
			return err
		}
		x0, err := a.asserts(0)
		if err != nil {
			return err
		}
		return a.winLockAll(x0, x1)
	}},
	439: {"MPI_Win_post", func(a *cCall) error {
		x2, err := a.window(2)
		if err != nil {
			return err
		}
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x1, err := a.asserts(1)
		if err != nil {
			return err
		}
		return a.winPost(x0, x1, x2)
	}},
	440: {"MPI_Win_set_attr", func(a *cCall) error {
		x0, err := objectOf(a.window(0))
		if err != nil {
			return err
		}
		return a.objectSetAttr(x0, a.int(1))
	}},
	441: {"MPI_Win_set_errhandler", func(a *cCall) error {
		x0, err := objectOf(a.window(0))
		if err != nil {
			return err
		}
		return a.objectSetErrhandler(x0)
	}},
	442: {"MPI_Win_set_info", func(a *cCall) error {
		x0, err := objectOf(a.window(0))
		if err != nil {
			return err
		}
		x1, err := a.info(1)
		if err != nil {
			return err
		}
		a.objectSetInfo(x0, x1)
		return nil
	}},
	443: {"MPI_Win_set_name", func(a *cCall) error {
		x0, err := objectOf(a.window(0))
		if err != nil {
			return err
		}
		x1, err := a.string(1)
		if err != nil {
			return err
		}
		a.objectSetName(x0, x1)
		return nil
	}},
	444: {"MPI_Win_shared_query", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		r2, r3, r4, err := a.winSharedQuery(x0, a.int(1))
		if err != nil {
			return err
		}
		if err := a.setAint(2, r2); err != nil {
			return err
		}
		if err := a.setWide(3, r3); err != nil {
			return err
		}
		return a.setPtr(4, r4)
	}},
	445: {"MPI_Win_start", func(a *cCall) error {
		x2, err := a.window(2)
		if err != nil {
			return err
		}
		x0, err := a.group(0)
		if err != nil {
			return err
		}
		x1, err := a.asserts(1)
		if err != nil {
			return err
		}
		return a.winStart(x0, x1, x2)
	}},
	446: {"MPI_Win_sync", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		return a.winSync(x0)
	}},
	447: {"MPI_Win_test", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		r1, err := a.winTest(x0)
		if err != nil {
			return err
		}
		return a.setFlag(1, r1)
	}},
	448: {name: "MPI_Win_toint"},
	449: {"MPI_Win_unlock", func(a *cCall) error {
		x1, err := a.window(1)
		if err != nil {
			return err
		}
		return a.winUnlock(a.int(0), x1)
	}},
	450: {"MPI_Win_unlock_all", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		return a.winUnlockAll(x0)
	}},
	451: {"MPI_Win_wait", func(a *cCall) error {
		x0, err := a.window(0)
		if err != nil {
			return err
		}
		return a.winWait(x0)
	}},
	452: {name: "MPI_Wtick"},
	453: {name: "MPI_Wtime"},
	454: {"MPI_T_category_changed", withTools(func(a *cCall) error {
		r0 := a.tCategoryChanged()
		return a.setInt(0, r0)
	})},
	455: {"MPI_T_category_get_categories", withTools(func(a *cCall) error {
		r2, err := a.tCategoryGetCategories(a.int(0))
		if err != nil {
			return err
		}
		return a.setInts(2, r2)
	})},
	456: {"MPI_T_category_get_cvars", withTools(func(a *cCall) error {
		r2, err := a.tCategoryGetCvars(a.int(0), a.int(1))
		if err != nil {
			return err
		}
		return a.setInts(2, r2)
	})},
	457: {"MPI_T_category_get_events", withTools(func(a *cCall) error {
		r2, err := a.tCategoryGetEvents(a.int(0))
		if err != nil {
			return err
		}
		return a.setInts(2, r2)
	})},
	458: {"MPI_T_category_get_index", withTools(func(a *cCall) error {
		x0, err := a.string(0)
		if err != nil {
			return err
		}
		r1, err := a.tCategoryGetIndex(x0)
		if err != nil {
			return err
		}
		return a.setInt(1, r1)
	})},
	459: {"MPI_T_category_get_info", withTools(func(a *cCall) error {
		return a.tCategoryGetInfo(a.int(0))
	})},
	460: {"MPI_T_category_get_num", withTools(func(a *cCall) error {
		r0 := a.tCategoryGetNum()
		return a.setInt(0, r0)
	})},
	461: {"MPI_T_category_get_num_events", withTools(func(a *cCall) error {
		r1, err := a.tCategoryGetNumEvents(a.int(0))
		if err != nil {
			return err
		}
		return a.setInt(1, r1)
	})},
	462: {"MPI_T_category_get_pvars", withTools(func(a *cCall) error {
		r2, err := a.tCategoryGetPvars(a.int(0), a.int(1))
		if err != nil {
			return err
		}
		return a.setInts(2, r2)
	})},
	463: {"MPI_T_cvar_get_index", withTools(func(a *cCall) error {
		x0, err := a.string(0)
		if err != nil {
			return err
		}
		r1, err := a.tCvarGetIndex(x0)
		if err != nil {
			return err
		}
		return a.setInt(1, r1)
	})},
	464: {"MPI_T_cvar_get_info", withTools(func(a *cCall) error {
		return a.tCvarGetInfo(a.int(0))
	})},
	465: {"MPI_T_cvar_get_num", withTools(func(a *cCall) error {
		r0 := a.tCvarGetNum()
		return a.setInt(0, r0)
	})},
	466: {"MPI_T_cvar_handle_alloc", withTools(func(a *cCall) error {
		r2, r3, err := a.tCvarHandleAlloc(a.int(0))
		if err != nil {
			return err
		}
		if err := a.setHandle(2, r2); err != nil {
			return err
		}
		return a.setInt(3, r3)
	})},
	467: {"MPI_T_cvar_handle_free", withTools(func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.tCvarHandleFree(x0)
	})},
	468: {"MPI_T_cvar_read", withTools(func(a *cCall) error {
		x0, err := controlHandles.get(a.handle(0))
		if err != nil {
			return err
		}
		return a.tCvarRead(x0)
	})},
	469: {"MPI_T_cvar_write", withTools(func(a *cCall) error {
		x0, err := controlHandles.get(a.handle(0))
		if err != nil {
			return err
		}
		return a.tCvarWrite(x0)
	})},
	470: {"MPI_T_enum_get_info", withTools((*cCall).unsupported)},
	471: {"MPI_T_enum_get_item", withTools((*cCall).unsupported)},
	472: {"MPI_T_event_callback_get_info", withTools((*cCall).unsupported)},
	473: {"MPI_T_event_callback_set_info", withTools((*cCall).unsupported)},
	474: {"MPI_T_event_copy", withTools((*cCall).unsupported)},
	475: {"MPI_T_event_get_index", withTools((*cCall).unsupported)},
	476: {"MPI_T_event_get_info", withTools((*cCall).unsupported)},
	477: {"MPI_T_event_get_num", withTools(func(a *cCall) error {
		r0 := a.tEventGetNum()
		return a.setInt(0, r0)
	})},
	478: {"MPI_T_event_get_source", withTools((*cCall).unsupported)},
	479: {"MPI_T_event_get_timestamp", withTools((*cCall).unsupported)},
	480: {"MPI_T_event_handle_alloc", withTools((*cCall).unsupported)},
	481: {"MPI_T_event_handle_free", withTools((*cCall).unsupported)},
	482: {"MPI_T_event_handle_get_info", withTools((*cCall).unsupported)},
	483: {"MPI_T_event_handle_set_info", withTools((*cCall).unsupported)},
	484: {"MPI_T_event_read", withTools((*cCall).unsupported)},
	485: {"MPI_T_event_register_callback", withTools((*cCall).unsupported)},
	486: {"MPI_T_event_set_dropped_handler", withTools((*cCall).unsupported)},
	487: {"MPI_T_finalize", (*cCall).tFinalize},
	488: {"MPI_T_init_thread", (*cCall).tInitThread},
	489: {"MPI_T_pvar_get_index", withTools(func(a *cCall) error {
		x0, err := a.string(0)
		if err != nil {
			return err
		}
		r2, err := a.tPvarGetIndex(x0, a.int(1))
		if err != nil {
			return err
		}
		return a.setInt(2, r2)
	})},
	490: {"MPI_T_pvar_get_info", withTools(func(a *cCall) error {
		return a.tPvarGetInfo(a.int(0))
	})},
	491: {"MPI_T_pvar_get_num", withTools(func(a *cCall) error {
		r0 := a.tPvarGetNum()
		return a.setInt(0, r0)
	})},
	492: {"MPI_T_pvar_handle_alloc", withTools(func(a *cCall) error {
		x0, err := pvarSessions.get(a.handle(0))
		if err != nil {
			return err
		}
		r3, r4, err := a.tPvarHandleAlloc(x0, a.int(1))
		if err != nil {
			return err
		}
		if err := a.setHandle(3, r3); err != nil {
			return err
		}
		return a.setInt(4, r4)
	})},
	493: {"MPI_T_pvar_handle_free", withTools(func(a *cCall) error {
		x0, err := pvarSessions.get(a.handle(0))
		if err != nil {
			return err
		}
		x1, err := a.handleAt(1)
		if err != nil {
			return err
		}
		return a.tPvarHandleFree(x0, x1)
	})},
	494: {"MPI_T_pvar_read", withTools(func(a *cCall) error {
		x0, err := pvarSessions.get(a.handle(0))
		if err != nil {
			return err
		}
		return a.tPvarRead(x0, a.handle(1))
	})},
	495: {"MPI_T_pvar_readreset", withTools(func(a *cCall) error {
		x0, err := pvarSessions.get(a.handle(0))
		if err != nil {
			return err
		}
		return a.tPvarReadreset(x0, a.handle(1))
	})},
	496: {"MPI_T_pvar_reset", withTools(func(a *cCall) error {
		x0, err := pvarSessions.get(a.handle(0))
		if err != nil {
			return err
		}
		return a.tPvarReset(x0, a.handle(1))
	})},
	497: {"MPI_T_pvar_session_create", withTools(func(a *cCall) error {
		r0, err := a.tPvarSessionCreate()
		if err != nil {
			return err
		}
		return a.setHandle(0, r0)
	})},
	498: {"MPI_T_pvar_session_free", withTools(func(a *cCall) error {
		x0, err := a.handleAt(0)
		if err != nil {
			return err
		}
		return a.tPvarSessionFree(x0)
	})},
	499: {"MPI_T_pvar_start", withTools(func(a *cCall) error {
		x0, err := pvarSessions.get(a.handle(0))
		if err != nil {
			return err
		}
		return a.tPvarStart(x0, a.handle(1))
	})},
	500: {"MPI_T_pvar_stop", withTools(func(a *cCall) error {
		x0, err := pvarSessions.get(a.handle(0))
		if err != nil {
			return err
		}
		return a.tPvarStop(x0, a.handle(1))
	})},
	501: {"MPI_T_pvar_write", withTools(func(a *cCall) error {
		x0, err := pvarSessions.get(a.handle(0))
		if err != nil {
			return err
		}
		return a.tPvarWrite(x0, a.handle(1))
	})},
	502: {"MPI_T_source_get_info", withTools((*cCall).unsupported)},
	503: {"MPI_T_source_get_num", withTools(func(a *cCall) error {
		r0 := a.tSourceGetNum()
		return a.setInt(0, r0)
	})},
	504: {"MPI_T_source_get_timestamp", withTools((*cCall).unsupported)},
}
