//go:build cgo && linux

package main

/*
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// Types of the program's functions, as mpi.h declares them but with numbers for handles.
typedef void reduction(void *, void *, int *, uintptr_t *);
typedef void wide_reduction(void *, void *, int64_t *, uintptr_t *);
typedef int copying(uintptr_t, int, void *, void *, void *, int *);
typedef int deleting(uintptr_t, int, void *, void *);
typedef void handling(uintptr_t *, int *, ...);
typedef int querying(void *, void *);
typedef int freeing(void *);
typedef int canceling(void *, int);

static void call_reduction(uintptr_t f, int wide, void *in, void *inout, int64_t n, uintptr_t type)
{
	if (wide) {
		((wide_reduction *)f)(in, inout, &n, &type);
	} else {
		int k = (int)n;
		((reduction *)f)(in, inout, &k, &type);
	}
}

static int call_copy(uintptr_t f, uintptr_t object, int key, uintptr_t extra, uintptr_t value, uintptr_t *out, int *flag)
{
	return ((copying *)f)(object, key, (void *)extra, (void *)value, out, flag);
}

static int call_delete(uintptr_t f, uintptr_t object, int key, uintptr_t value, uintptr_t extra)
{
	return ((deleting *)f)(object, key, (void *)value, (void *)extra);
}

static void call_handler(uintptr_t f, uintptr_t object, int code) { ((handling *)f)(&object, &code); }
static int call_query(uintptr_t f, uintptr_t extra, void *status) { return ((querying *)f)((void *)extra, status); }
static int call_free(uintptr_t f, uintptr_t extra) { return ((freeing *)f)((void *)extra); }
static int call_cancel(uintptr_t f, uintptr_t extra, int complete) { return ((canceling *)f)((void *)extra, complete); }

// Memory of Go's, and shared memory, lies at multiples of 8 and not of 16.
typedef long double long_double __attribute__((aligned(8)));
typedef long double _Complex long_complex __attribute__((aligned(8)));
struct long_double_int { long_double value; int index, gap[3]; };
struct float_float { float value, index; };
struct double_double { double value, index; };

#define EACH(type, change) { const type *a = in; type *b = inout; for (int64_t i = 0; i < n; i++) change; }
#define LOCATE(type, less) EACH(type, if (a[i].value less b[i].value || (a[i].value == b[i].value && a[i].index < b[i].index)) b[i] = a[i])

// reduce_in_c applies an operation to n elements that Go has no type for. op and type are the low bits of the handles.
static void reduce_in_c(int op, int type, const void *in, void *inout, int64_t n)
{
	switch (type << 8 | op) {
	case 0x22021: EACH(long_double, b[i] = a[i] + b[i]) break;
	case 0x22022: EACH(long_double, if (a[i] < b[i]) b[i] = a[i]) break;
	case 0x22023: EACH(long_double, if (a[i] > b[i]) b[i] = a[i]) break;
	case 0x22024: EACH(long_double, b[i] = a[i] * b[i]) break;
	case 0x22421: case 0x22521: EACH(long_complex, b[i] = a[i] + b[i]) break;
	case 0x22424: case 0x22524: EACH(long_complex, b[i] = a[i] * b[i]) break;
	case 0x22d38: LOCATE(struct long_double_int, <) break;
	case 0x22d39: LOCATE(struct long_double_int, >) break;
	case 0x23038: LOCATE(struct float_float, <) break;
	case 0x23039: LOCATE(struct float_float, >) break;
	case 0x23138: LOCATE(struct double_double, <) break;
	case 0x23139: LOCATE(struct double_double, >) break;
	}
}

extern void pm2_exit(void);

static pid_t joined; // the process that has joined the job: one that it forks inherits its functions for the exit

static void leave(void)
{
	if (getpid() == joined)
		pm2_exit();
}

static void at_exit(void)
{
	joined = getpid();
	atexit(leave);
}

// try_allocate returns NULL where C.malloc of Go would end the process.
static void *try_allocate(size_t n) { return malloc(n); }

static int thread(void) { return (int)syscall(SYS_gettid); }
*/
import "C"

import "unsafe"

// callReduction calls the program's reduction function of o on n elements. Compilers of C expect elements of some
// types at multiples of 16 bytes, so elements at other addresses are copied to such first. With extent 0 the
// elements stay where they are: they do not lie within n times the extent.
func callReduction(o *cOp, in, inout pointer, n, extent int, t handle) {
	if extent%16 == 0 && extent > 0 && (uintptrOf(in)|uintptrOf(inout))%16 != 0 {
		size := n * extent
		p := pointerAt(allocate(2 * size))
		a, b := memory(p, size), memory(unsafe.Add(p, size), size)
		copy(a, memory(in, size))
		copy(b, memory(inout, size))
		callReduction(o, p, unsafe.Add(p, size), n, extent, t)
		copy(memory(inout, size), b)
		release(uintptrOf(p))
		return
	}
	wide := C.int(0)
	if o.wide {
		wide = 1
	}
	C.call_reduction(C.uintptr_t(o.function), wide, in, inout, C.int64_t(n), C.uintptr_t(t))
}

// reduceInC applies a predefined operation to numbers that Go lacks, such as long double. op and t are low bits of
// handles.
func reduceInC(op, t int, in, inout pointer, n int) {
	C.reduce_in_c(C.int(op), C.int(t), in, inout, C.int64_t(n))
}

// callCopy calls the program's function f that copies an attribute. ok reports whether the copy is to be kept.
func callCopy(f uintptr, object handle, key int, extra, value uintptr) (copied uintptr, ok bool, code int) {
	var out C.uintptr_t
	var flag C.int
	code = int(C.call_copy(C.uintptr_t(f), C.uintptr_t(object), C.int(key), C.uintptr_t(extra), C.uintptr_t(value), &out, &flag))
	return uintptr(out), flag != 0, code
}

// callDelete calls the program's function f that deletes an attribute, and returns its code.
func callDelete(f uintptr, object handle, key int, value, extra uintptr) int {
	return int(C.call_delete(C.uintptr_t(f), C.uintptr_t(object), C.int(key), C.uintptr_t(value), C.uintptr_t(extra)))
}

// callHandler calls the program's error handler f.
func callHandler(f uintptr, object handle, code int) {
	C.call_handler(C.uintptr_t(f), C.uintptr_t(object), C.int(code))
}

// callQuery, callFree and callCancel call the program's functions of a generalized request and return their codes.
func callQuery(f, extra uintptr, s *cStatus) int {
	return int(C.call_query(C.uintptr_t(f), C.uintptr_t(extra), unsafe.Pointer(s)))
}

func callFree(f, extra uintptr) int { return int(C.call_free(C.uintptr_t(f), C.uintptr_t(extra))) }

func callCancel(f, extra uintptr, done bool) int {
	complete := C.int(0)
	if done {
		complete = 1
	}
	return int(C.call_cancel(C.uintptr_t(f), C.uintptr_t(extra), complete))
}

// atExit has the process call pm2_exit when it exits, but not the processes that it forks.
func atExit() { C.at_exit() }

// flush writes out the buffers of the program's C streams. It waits for a stream that another thread holds.
func flush() { C.fflush(nil) }

// threadID returns the kernel's number of the calling thread.
func threadID() int { return int(C.thread()) }

// allocateInts returns n zeroed ints in C's memory. They are never freed.
func allocateInts(n int) []int32 { return unsafe.Slice((*int32)(C.calloc(C.size_t(n), 4)), n) }

// addressOfInt returns the address of x as a number.
func addressOfInt(x *int32) uintptr { return uintptr(unsafe.Pointer(x)) }

// tryAllocate returns n bytes of C's memory; 0 if there are not as many.
func tryAllocate(n int) uintptr { return uintptr(C.try_allocate(C.size_t(max(n, 1)))) }

// allocate returns n bytes of C's memory. It ends the process if there are not as many.
func allocate(n int) uintptr { return uintptr(C.malloc(C.size_t(max(n, 1)))) }

// release frees what allocate or tryAllocate returned.
func release(p uintptr) { C.free(pointerAt(p)) }
