//go:build cgo && linux

package main

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/lane"
	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

// cCall is a call of a function of MPI: struct pm2_call of front/call.h, in the stack of the calling thread. Its
// methods are of two kinds. One has the name of a function in table.txt and is that function (MPI_Comm_split:
// commSplit). The others read arguments and write results; "argument i" is word[i], the first one being 0.
type cCall struct {
	function int32       // index in entries; below 0: see service
	wide     int32       // 1: the form whose name ends in _c: counts and displacements have 64 bits
	object   handle      // the communicator, window or session whose error handler hears of an error; 0: none
	handler  uintptr     // the program's error handler, which C is to call with object; 0: none
	word     [16]uintptr // the arguments
}

// pointer is an address in the program's memory; nil is C's NULL.
type pointer = unsafe.Pointer

// cachedComm is a communicator whose rank and size C answers itself: struct pm2_comm of front/call.h. C reads it
// without a lock and looks at handle before and after. Go writes it under cacheLock, with handle 0 meanwhile.
type cachedComm struct {
	handle     uintptr // of the communicator; 0: none
	rank, size int32
	ways       uintptr // address of the ways (lane.Way) by rank; 0: C moves no messages
}

// frontState is what Go tells C: struct pm2_shared of front/call.h. It lies in C's memory.
type frontState struct {
	initialized, finalized int32             // 1 after MPI_Init, after MPI_Finalize; atomic
	lane                   uint64            // bytes of a lane.Lane, as C knows it
	world                  cachedComm        // MPI_COMM_WORLD
	comms                  [1024]cachedComm  // others, by cacheOf
	slips                  [maxSlips]uintptr // addresses of lane.Slip, by the places of their handles; 0: none
}

// ptr returns argument i as an address.
func (a *cCall) ptr(i int) pointer { return *(*pointer)(pointer(&a.word[i])) }

// int returns argument i as a number.
func (a *cCall) int(i int) int { return int(a.word[i]) }

// out returns the address in argument i, where a result goes. It refuses NULL.
func (a *cCall) out(i int) (pointer, error) {
	if a.word[i] == 0 {
		return nil, errorf(errArg, "argument %d, where a result goes, is no address", i+1)
	}
	return a.ptr(i), nil
}

// setResult writes v to the address in argument i.
func setResult[T any](a *cCall, i int, v T) error {
	p, err := a.out(i)
	if err == nil {
		*(*T)(p) = v
	}
	return err
}

// setInt writes v as a C int to the address in argument i.
func (a *cCall) setInt(i, v int) error { return setResult(a, i, int32(v)) }

// setAint writes v as a number of 64 bits (MPI_Aint, MPI_Count, MPI_Offset) to the address in argument i.
func (a *cCall) setAint(i, v int) error { return setResult(a, i, int64(v)) }

// setHandle writes h to the address in argument i.
func (a *cCall) setHandle(i int, h handle) error { return setResult(a, i, h) }

// setPtr writes the address v to the address in argument i.
func (a *cCall) setPtr(i int, v uintptr) error { return setResult(a, i, v) }

// setFlag writes v as a C int, 1 or 0, to the address in argument i.
func (a *cCall) setFlag(i int, v bool) error {
	if v {
		return a.setInt(i, 1)
	}
	return a.setInt(i, 0)
}

// setCount writes the count v: as a C int, or as an MPI_Count in the wide form. A count that does not fit an int
// becomes MPI_UNDEFINED.
func (a *cCall) setCount(i, v int) error {
	if a.wide != 0 {
		return a.setAint(i, v)
	}
	if v > math.MaxInt32 || v < math.MinInt32 {
		v = mpiUndefined
	}
	return a.setInt(i, v)
}

// setWide writes v as a C int, or as a number of 64 bits in the wide form.
func (a *cCall) setWide(i, v int) error {
	if a.wide != 0 {
		return a.setAint(i, v)
	}
	return a.setInt(i, v)
}

// handle returns argument i as a handle.
func (a *cCall) handle(i int) handle { return handle(a.word[i]) }

// handleAt returns the handle to which argument i points, for functions that change it.
func (a *cCall) handleAt(i int) (*handle, error) {
	p, err := a.out(i)
	return (*handle)(p), err
}

// intAt returns the int to which argument i points, for functions that change it.
func (a *cCall) intAt(i int) (*int32, error) {
	p, err := a.out(i)
	return (*int32)(p), err
}

// list returns the array of n elements to which argument i points. The result is the program's memory.
func list[T any](a *cCall, i, n int) ([]T, error) {
	switch {
	case n < 0:
		return nil, errorf(errArg, "argument %d has %d elements", i+1, n)
	case n == 0:
		return nil, nil
	case a.word[i] == 0:
		return nil, errorf(errArg, "argument %d, of %d elements, is no address", i+1, n)
	}
	return unsafe.Slice((*T)(a.ptr(i)), n), nil
}

// handles returns the array of n handles to which argument i points. The result is the program's memory.
func (a *cCall) handles(i, n int) ([]handle, error) { return list[handle](a, i, n) }

// numbers returns a copy of the array of n numbers, of type T in C, to which argument i points.
func numbers[T int32 | int64](a *cCall, i, n int) ([]int, error) {
	in, err := list[T](a, i, n)
	if err != nil {
		return nil, err
	}
	all := make([]int, n)
	for j, x := range in {
		all[j] = int(x)
	}
	return all, nil
}

// ints returns a copy of the array of n C ints to which argument i points.
func (a *cCall) ints(i, n int) ([]int, error) { return numbers[int32](a, i, n) }

// addresses returns a copy of the array of n numbers of 64 bits to which argument i points.
func (a *cCall) addresses(i, n int) ([]int, error) { return numbers[int64](a, i, n) }

// counts returns a copy of the array of n counts to which argument i points: C ints, or MPI_Counts in the wide
// form.
func (a *cCall) counts(i, n int) ([]int, error) {
	if a.wide != 0 {
		return a.addresses(i, n)
	}
	return a.ints(i, n)
}

// setNumbers writes v, as numbers of type T, to the array to which argument i points.
func setNumbers[T int32 | int64](a *cCall, i int, v []int) error {
	to, err := list[T](a, i, len(v))
	for j := range to {
		to[j] = T(v[j])
	}
	return err
}

// setInts writes v as C ints to the array to which argument i points.
func (a *cCall) setInts(i int, v []int) error { return setNumbers[int32](a, i, v) }

// setAddresses writes v as numbers of 64 bits to the array to which argument i points.
func (a *cCall) setAddresses(i int, v []int) error { return setNumbers[int64](a, i, v) }

// string returns a copy of the C string to which argument i points.
func (a *cCall) string(i int) (string, error) {
	if a.word[i] == 0 {
		return "", errorf(errArg, "argument %d is no string", i+1)
	}
	return stringAt(a.ptr(i)), nil
}

// stringAt returns a copy of the C string at p.
func stringAt(p pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// setString writes s, cut to fit, and a zero byte to the array of size bytes to which argument i points.
func (a *cCall) setString(i int, s string, size int) error {
	p, err := a.out(i)
	if err != nil || size < 1 {
		return err
	}
	to := unsafe.Slice((*byte)(p), size)
	to[copy(to[:size-1], s)] = 0
	return nil
}

// setText is setString that also writes the number of bytes without the zero, as a C int, to argument length.
func (a *cCall) setText(i, length int, s string, size int) error {
	s = s[:min(len(s), size-1)]
	if err := a.setString(i, s, size); err != nil {
		return err
	}
	return a.setInt(length, len(s))
}

// address is that of the program's memory as datatypes have it.
func address(p pointer) datatype.Address { return datatype.Address(p) }

// pointerAt returns the address n as a pointer.
func pointerAt(n uintptr) pointer { return *(*pointer)(pointer(&n)) }

// memory returns the n bytes of the program's memory at p.
func memory(p pointer, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(p), n)
}

// addressOf returns the address of b's memory; 0 if b is empty.
func addressOf(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	return uintptr(pointer(unsafe.SliceData(b)))
}

// uintptrOf returns the address p as a number.
func uintptrOf(p pointer) uintptr { return uintptr(p) }

// cStatus is MPI_Status.
type cStatus struct {
	source, tag, errorCode int32    // MPI_SOURCE, MPI_TAG and MPI_ERROR
	bytes                  [2]int32 // of the message: one number of 64 bits, at an address that is a multiple of 4
	canceled               int32    // 1: the request was canceled
	_                      [2]int32
}

// status returns the status to which argument i points; nil for MPI_STATUS_IGNORE.
func (a *cCall) status(i int) *cStatus { return (*cStatus)(a.ptr(i)) }

// statuses returns the array of n statuses to which argument i points; nil for MPI_STATUSES_IGNORE.
func (a *cCall) statuses(i, n int) []cStatus {
	if a.word[i] == 0 || n <= 0 {
		return nil
	}
	return unsafe.Slice((*cStatus)(a.ptr(i)), n)
}

// setBytes stores the size of a message, in bytes.
func (st *cStatus) setBytes(n int) { *(*[2]int32)(pointer(&st.bytes)) = *(*[2]int32)(pointer(&n)) }

// size returns the size of the message, in bytes.
func (st *cStatus) size() (n int) {
	*(*[2]int32)(pointer(&n)) = st.bytes
	return n
}

// state is what Go tells C. attach sets it in the first call; before it is nil.
var state atomic.Pointer[frontState]

// cacheLock guards, on Go's side, the cachedComms, the ways of communicators, and the distribution of slips.
var cacheLock sync.Mutex

// publish lets C answer for the rank and size of communicator h from here on.
func (cd *cachedComm) publish(h handle, rank, size int) {
	cacheLock.Lock()
	defer cacheLock.Unlock()
	atomic.StoreUintptr(&cd.handle, 0)
	atomic.StoreInt32(&cd.rank, int32(rank))
	atomic.StoreInt32(&cd.size, int32(size))
	atomic.StoreUintptr(&cd.ways, 0)
	atomic.StoreUintptr(&cd.handle, uintptr(h))
}

// setWays gives C the ways of communicator h, by rank, if this entry is still that communicator's.
func (cd *cachedComm) setWays(h handle, ways []lane.Way) {
	if atomic.LoadUintptr(&cd.handle) == uintptr(h) {
		atomic.StoreUintptr(&cd.ways, uintptr(pointer(unsafe.SliceData(ways))))
	}
}

// forget makes C ask Go about communicator h again.
func (cd *cachedComm) forget(h handle) { atomic.CompareAndSwapUintptr(&cd.handle, uintptr(h), 0) }

// cacheOf returns the entry in which C looks up the communicator h. Several communicators share it; the last one
// has it.
func (s *frontState) cacheOf(h handle) *cachedComm {
	return &s.comms[uintptr(h)&uintptr(len(s.comms)-1)]
}

// newStatus returns an empty status in C's memory. The caller releases it.
func newStatus() *cStatus {
	x := (*cStatus)(pointerAt(allocate(int(unsafe.Sizeof(cStatus{})))))
	*x = cStatus{}
	return x
}
