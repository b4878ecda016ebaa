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

// cCall is a call of a function of MPI, as front/call.h has it; it lies in the caller's stack. Each of its methods
// that has a name of table.txt is the function; the others read arguments, and write results.
type cCall struct {
	function int32
	wide     int32 // 1: counts and displacements have 64 bits
	object   handle
	handler  uintptr
	word     [16]uintptr
}

// pointer is an address of the program's memory; nil: there is none.
type pointer = unsafe.Pointer

// cached is a communicator whose rank and size C answers itself.
type cached struct {
	handle     uintptr
	rank, size int32
	ways       uintptr // the address of those of lane.Way, by rank; 0: there are none
}

// frontState is what C's side knows of the state of MPI: struct pm2_shared of front/call.h.
type frontState struct {
	initialized, finalized int32
	lane                   uint64 // bytes of a lane.Lane, as C knows it
	world                  cached
	comms                  [1024]cached
	slips                  [mostSlips]uintptr // of lane.Slip, by the places of their handles; 0: there is none
}

// ptr is an argument that is an address.
func (a *cCall) ptr(i int) pointer { return *(*pointer)(pointer(&a.word[i])) }

// int is an argument that is a number.
func (a *cCall) int(i int) int { return int(a.word[i]) }

// out is an argument that is the address of a result.
func (a *cCall) out(i int) (pointer, error) {
	if a.word[i] == 0 {
		return nil, wrong(errArg, "argument %d, where a result goes, is no address", i+1)
	}
	return a.ptr(i), nil
}

// set writes a result.
func set[T any](a *cCall, i int, v T) error {
	p, err := a.out(i)
	if err == nil {
		*(*T)(p) = v
	}
	return err
}

// setInt writes an int.
func (a *cCall) setInt(i, v int) error { return set(a, i, int32(v)) }

// setAint writes a number of 64 bits.
func (a *cCall) setAint(i, v int) error { return set(a, i, int64(v)) }

// setHandle writes a handle.
func (a *cCall) setHandle(i int, h handle) error { return set(a, i, h) }

// setPtr writes an address.
func (a *cCall) setPtr(i int, v uintptr) error { return set(a, i, v) }

// setFlag writes v as an int that is 1 or 0.
func (a *cCall) setFlag(i int, v bool) error {
	if v {
		return a.setInt(i, 1)
	}
	return a.setInt(i, 0)
}

// setCount writes a count; one that does not fit is undefined.
func (a *cCall) setCount(i, v int) error {
	if a.wide != 0 {
		return a.setAint(i, v)
	}
	if v > math.MaxInt32 || v < math.MinInt32 {
		v = undefined
	}
	return a.setInt(i, v)
}

// setWide writes an int, or a number of 64 bits in the wide form.
func (a *cCall) setWide(i, v int) error {
	if a.wide != 0 {
		return a.setAint(i, v)
	}
	return a.setInt(i, v)
}

// handle is an argument that is a handle.
func (a *cCall) handle(i int) handle { return handle(a.word[i]) }

// handleAt is the handle at the address in an argument.
func (a *cCall) handleAt(i int) (*handle, error) {
	p, err := a.out(i)
	return (*handle)(p), err
}

// intAt is the int at the address in an argument.
func (a *cCall) intAt(i int) (*int32, error) {
	p, err := a.out(i)
	return (*int32)(p), err
}

// list is n elements at an argument, in the program's memory.
func list[T any](a *cCall, i, n int) ([]T, error) {
	switch {
	case n < 0:
		return nil, wrong(errArg, "argument %d has %d elements", i+1, n)
	case n == 0:
		return nil, nil
	case a.word[i] == 0:
		return nil, wrong(errArg, "argument %d, of %d elements, is no address", i+1, n)
	}
	return unsafe.Slice((*T)(a.ptr(i)), n), nil
}

// handles are those at an argument, in the program's memory.
func (a *cCall) handles(i, n int) ([]handle, error) { return list[handle](a, i, n) }

// numbers are those at an argument.
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

// ints are ints at an argument.
func (a *cCall) ints(i, n int) ([]int, error) { return numbers[int32](a, i, n) }

// addresses are numbers of 64 bits at an argument.
func (a *cCall) addresses(i, n int) ([]int, error) { return numbers[int64](a, i, n) }

// counts are ints, or numbers of 64 bits in the wide form, at an argument.
func (a *cCall) counts(i, n int) ([]int, error) {
	if a.wide != 0 {
		return a.addresses(i, n)
	}
	return a.ints(i, n)
}

// setNumbers writes numbers.
func setNumbers[T int32 | int64](a *cCall, i int, v []int) error {
	to, err := list[T](a, i, len(v))
	for j := range to {
		to[j] = T(v[j])
	}
	return err
}

// setInts writes ints.
func (a *cCall) setInts(i int, v []int) error { return setNumbers[int32](a, i, v) }

// setAddresses writes numbers of 64 bits.
func (a *cCall) setAddresses(i int, v []int) error { return setNumbers[int64](a, i, v) }

// string is an argument that is a string of C.
func (a *cCall) string(i int) (string, error) {
	if a.word[i] == 0 {
		return "", wrong(errArg, "argument %d is no string", i+1)
	}
	return stringAt(a.ptr(i)), nil
}

func stringAt(p pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// setString writes a string, and as many bytes of it as there are places for, with the zero at its end.
func (a *cCall) setString(i int, s string, places int) error {
	p, err := a.out(i)
	if err != nil || places < 1 {
		return err
	}
	to := unsafe.Slice((*byte)(p), places)
	to[copy(to[:places-1], s)] = 0
	return nil
}

// setText is setString whose length goes to another argument.
func (a *cCall) setText(i, length int, s string, places int) error {
	s = s[:min(len(s), places-1)]
	if err := a.setString(i, s, places); err != nil {
		return err
	}
	return a.setInt(length, len(s))
}

// address is that of the program's memory as datatypes have it.
func address(p pointer) datatype.Address { return datatype.Address(p) }

// at is the memory at a number.
func at(n uintptr) pointer { return *(*pointer)(pointer(&n)) }

// memory is n bytes of the program.
func memory(p pointer, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(p), n)
}

// place is the address of memory, as a number; 0: there is none.
func place(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	return uintptr(pointer(unsafe.SliceData(b)))
}

// number is an address as a number.
func number(p pointer) uintptr { return uintptr(p) }

// cStatus is MPI_Status.
type cStatus struct {
	source, tag, failed int32
	bytes               [2]int32
	cancelled           int32
	_                   [2]int32
}

// status returns the status whose address is argument i; nil: the program ignores it.
func (a *cCall) status(i int) *cStatus { return (*cStatus)(a.ptr(i)) }

// statuses returns the n statuses at argument i; nil: the program ignores them.
func (a *cCall) statuses(i, n int) []cStatus {
	if a.word[i] == 0 || n <= 0 {
		return nil
	}
	return unsafe.Slice((*cStatus)(a.ptr(i)), n)
}

func (st *cStatus) setBytes(n int) { *(*[2]int32)(pointer(&st.bytes)) = *(*[2]int32)(pointer(&n)) }

func (st *cStatus) size() (n int) {
	*(*[2]int32)(pointer(&n)) = st.bytes
	return n
}

// state is what C's side knows; nil until the first call.
var state atomic.Pointer[frontState]

// telling is the lock of what C is told of communicators.
var telling sync.Mutex

// tell has C answer for the rank and size of a communicator, in place of Go.
func (cd *cached) tell(h handle, rank, size int) {
	telling.Lock()
	defer telling.Unlock()
	atomic.StoreUintptr(&cd.handle, 0)
	atomic.StoreInt32(&cd.rank, int32(rank))
	atomic.StoreInt32(&cd.size, int32(size))
	atomic.StoreUintptr(&cd.ways, 0)
	atomic.StoreUintptr(&cd.handle, uintptr(h))
}

// lead has C know the ways of a communicator, if it knows that.
func (cd *cached) lead(h handle, ways []lane.Way) {
	if atomic.LoadUintptr(&cd.handle) == uintptr(h) {
		atomic.StoreUintptr(&cd.ways, uintptr(pointer(unsafe.SliceData(ways))))
	}
}

// forget has C ask Go about a communicator again.
func (cd *cached) forget(h handle) { atomic.CompareAndSwapUintptr(&cd.handle, uintptr(h), 0) }

// of returns the place where C looks for what it knows of the communicator with handle h.
func (s *frontState) of(h handle) *cached { return &s.comms[uintptr(h)&uintptr(len(s.comms)-1)] }

// scratch is a status of C's memory, to be given back by release.
func scratch() *cStatus {
	x := (*cStatus)(at(allocate(int(unsafe.Sizeof(cStatus{})))))
	*x = cStatus{}
	return x
}
