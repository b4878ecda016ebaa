//go:build pmix && linux && cgo

package manager

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include <string.h>
// #include "pmix_dl.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/driver"
)

// libraries are the file names by which load looks for libpmix.
var libraries = []string{"libpmix.so.2", "libpmix.so"}

// pmix is a Manager that speaks to a PMIx server through libpmix, which it loads at run time. The library has one state
// for the process, and its calls block. So each call runs in a goroutine of its own; if ctx ends first, the caller goes
// on and that goroutine stays behind in the library.
type pmix struct {
	self  C.pm_proc
	space string
	rank  int
	size  int
	nodes []int
	gone  chan struct{}
}

const pmixName = "PMIx (libpmix)"

func openPMIx(ctx context.Context) (Manager, error) {
	p := &pmix{gone: make(chan struct{})}
	err := p.call(ctx, "connect", func() error {
		if err := load(); err != nil {
			return err
		}
		if err := status(C.pm_init(&p.self)); err != nil {
			return err
		}
		p.space, p.rank = C.GoString(&p.self.space[0]), int(p.self.rank)
		size, err := p.number(wildcard, "pmix.job.size")
		if err != nil {
			return fmt.Errorf("ask for the size of the job: %w", err)
		}
		if size < 1 || size > driver.MaxSize || p.rank >= size {
			return fmt.Errorf("rank %d of %d", p.rank, size)
		}
		p.size = size
		nodes := make([]int, size)
		for rank := range nodes {
			if nodes[rank], err = p.number(uint32(rank), "pmix.nodeid"); err != nil || nodes[rank] >= driver.MaxSize {
				nodes = nil // the server does not tell where the ranks are
				break
			}
		}
		p.nodes = nodes
		go p.watch(os.Getppid())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// load loads libpmix.
func load() error {
	var all []error
	for _, name := range libraries {
		text := C.CString(name)
		why := C.pm_load(text)
		C.free(unsafe.Pointer(text))
		if why == nil {
			return nil
		}
		all = append(all, errors.New(C.GoString(why)))
	}
	return fmt.Errorf("load libpmix (Debian: libpmix2): %w", all[0])
}

// wildcard is PMIX_RANK_WILDCARD: in place of a rank it stands for the whole job.
const wildcard = 1<<32 - 2

// watch closes gone when the server has ended. The server is the parent of this process, or of the script that has
// started it, so the end of the server gives this process another parent.
func (px *pmix) watch(parent int) {
	for range time.Tick(time.Second) {
		if os.Getppid() != parent {
			close(px.gone)
			return
		}
	}
}

// status returns the error that a PMIx status code stands for; nil for success.
func status(code C.int) error {
	if code != 0 {
		return fmt.Errorf("it says %s", C.GoString(C.pm_error(code)))
	}
	return nil
}

// call runs f in a goroutine, because f may block, and waits for its end or that of ctx.
func (px *pmix) call(ctx context.Context, doing string, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = fmt.Errorf("no answer: %w", context.Cause(ctx))
	}
	if err != nil {
		return &Error{pmixName, doing, err}
	}
	return nil
}

// number returns the value of a key of a rank, or of the job (wildcard), which is a number.
func (px *pmix) number(of uint32, key string) (int, error) {
	proc := px.self
	proc.rank = C.uint32_t(of)
	name := C.CString(key)
	defer C.free(unsafe.Pointer(name))
	var n C.uint32_t
	err := status(C.pm_get_number(&proc, name, &n))
	return int(n), err
}

func (px *pmix) Name() string          { return pmixName }
func (px *pmix) Rank() int             { return px.rank }
func (px *pmix) Size() int             { return px.size }
func (px *pmix) Space() string         { return px.space }
func (px *pmix) Nodes() []int          { return px.nodes }
func (px *pmix) Gone() <-chan struct{} { return px.gone }

func (px *pmix) Put(ctx context.Context, key, value string) error {
	return px.call(ctx, "put "+key, func() error {
		k, v := C.CString(key), C.CString(value)
		defer C.free(unsafe.Pointer(k))
		defer C.free(unsafe.Pointer(v))
		return status(C.pm_put(k, v))
	})
}

func (px *pmix) Fence(ctx context.Context) error {
	return px.call(ctx, "fence", func() error { return status(C.pm_fence()) })
}

func (px *pmix) Get(ctx context.Context, from int, key string) (value string, err error) {
	err = px.call(ctx, "get "+key, func() error {
		proc := px.self
		proc.rank = C.uint32_t(from)
		name := C.CString(key)
		defer C.free(unsafe.Pointer(name))
		var text *C.char
		if err := status(C.pm_get_text(&proc, name, &text)); err != nil {
			return err
		}
		defer C.free(unsafe.Pointer(text))
		if n := C.strnlen(text, maxValueBytes+1); n > maxValueBytes {
			return fmt.Errorf("a value of more than %d bytes", maxValueBytes)
		}
		value = C.GoString(text)
		return nil
	})
	return value, err
}

func (px *pmix) Abort(code int, why string) error {
	text := C.CString(why)
	defer C.free(unsafe.Pointer(text))
	ctx, stop := context.WithTimeout(context.Background(), time.Second) // as a rule the server ends this process first
	defer stop()
	return px.call(ctx, "abort", func() error { return status(C.pm_abort(C.int(code), text)) })
}

func (px *pmix) Finalize(ctx context.Context) error {
	return px.call(ctx, "finalize", func() error { return status(C.pm_finalize()) })
}
