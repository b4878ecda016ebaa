//go:build cgo && fromc

package fromc

/*
#include <pthread.h>
#include <stdint.h>

extern void pm2DemoCalled(uintptr_t handle);

static void *begin(void *handle) {
	pm2DemoCalled((uintptr_t)handle);
	return 0;
}

// A thread that calls handle's function; its end is awaited. Returns errno's value.
static int thread(uintptr_t handle) {
	pthread_t t;
	int e = pthread_create(&t, 0, begin, (void *)handle);
	return e ? e : pthread_join(t, 0);
}

static void call(uintptr_t handle) { pm2DemoCalled(handle); }
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
	"syscall"
)

// Available reports whether this program can call from C.
const Available = true

// Thread calls f on a thread that C has made, and waits until that has ended.
func Thread(f func()) error {
	h := cgo.NewHandle(f)
	defer h.Delete()
	if e := C.thread(C.uintptr_t(h)); e != 0 {
		return fmt.Errorf("start a thread of C's: %w", syscall.Errno(e))
	}
	return nil
}

// Caller is a function that C calls.
type Caller struct{ handle cgo.Handle }

// New makes a Caller of f.
func New(f func()) *Caller { return &Caller{cgo.NewHandle(f)} }

// Call enters C, which calls the function, on the calling OS thread. It allocates nothing.
func (c *Caller) Call() { C.call(C.uintptr_t(c.handle)) }

// Close ends the Caller.
func (c *Caller) Close() { c.handle.Delete() }
