//go:build cgo

package foreign

/*
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

extern void pm2ForeignCall(uintptr_t job, int rank);

struct job {
	uintptr_t handle;
	int rank;
};

static void *enter(void *arg) {
	struct job *j = arg;
	pm2ForeignCall(j->handle, j->rank);
	pm2ForeignCall(j->handle, j->rank); // a second time, from the same C thread
	return NULL;
}

// callers has n C threads call the job twice each, and waits for them.
static int callers(uintptr_t handle, int n) {
	pthread_t *ts = calloc(n, sizeof *ts);
	struct job *js = calloc(n, sizeof *js);
	int made, err = ts && js ? 0 : -1;
	for (made = 0; !err && made < n; made++) {
		js[made].handle = handle;
		js[made].rank = made;
		if ((err = pthread_create(&ts[made], NULL, enter, &js[made])))
			break;
	}
	for (int i = 0; i < made; i++)
		pthread_join(ts[i], NULL);
	free(js);
	free(ts);
	return err;
}

// back calls the job from the calling thread.
static void back(uintptr_t handle) { pm2ForeignCall(handle, -1); }
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
)

//export pm2ForeignCall
func pm2ForeignCall(job C.uintptr_t, rank C.int) {
	cgo.Handle(job).Value().(func(int))(int(rank))
}

// fromC calls job twice from each of n C threads, with the number of the thread, and returns when all of these have
// ended.
func fromC(n int, job func(rank int)) error {
	h := cgo.NewHandle(job)
	defer h.Delete()
	if err := C.callers(C.uintptr_t(h), C.int(n)); err != 0 {
		return fmt.Errorf("pthread_create: error %d", err)
	}
	return nil
}

// throughC calls job from the calling goroutine or thread by way of C.
func throughC(job func(rank int)) {
	h := cgo.NewHandle(job)
	defer h.Delete()
	C.back(C.uintptr_t(h))
}
