//go:build cgo && linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// engine is what all calls stand on: this process's place in the job. MPI_Init and each session of MPI use it; the
// first one joins the job, and the last one leaves it.
var engine membership

type membership struct {
	world, self atomic.Pointer[cComm] // of MPI_Init; nil: it was not called, or MPI_Finalize was

	mu       sync.Mutex
	users    int
	session  *nmad.Session
	all      *mpi.Comm // of all processes, for sessions
	own      *mpi.Comm
	finished bool // the job was left: it cannot be joined again
	main     int  // the thread of MPI_Init
}

// Thread levels.
const threadMultiple = 4096

// attach notes, with the first call, what C knows.
func attach(s *frontState) {
	attached.Do(func() {
		_, _ = requests.add(&sent) // the first one, so there is room
		state.Store(s)
	})
}

var attached sync.Once

// join joins the job, if the process has not.
func (j *membership) join() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.all != nil {
		j.users++
		return nil
	}
	if j.finished {
		return wrong(errOther, "this process has left its job, which it cannot join again")
	}
	all, err := mpi.Init(context.Background())
	if err != nil {
		return fmt.Errorf("this process cannot join its job: %w", err)
	}
	j.session, j.all, j.own, j.users = mpi.SessionOf(all), all, all.Self(), 1
	atExit()
	return nil
}

// leave leaves the job, if no other needs it. A process that had sessions only stays in it to its end: it may open
// another one.
func (j *membership) leave() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.users--; j.users > 0 || atomic.LoadInt32(&state.Load().initialized) == 0 {
		return nil
	}
	return j.part()
}

// exit is called when the process exits by itself: what had sessions only leaves the job then.
func (j *membership) exit() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.users == 0 && j.all != nil {
		if err := j.part(); err != nil {
			fmt.Fprintln(os.Stderr, "mpi:", err)
		}
	}
}

// part leaves the job. Under mu.
func (j *membership) part() error {
	endTrace()
	err := j.all.Finalize()
	j.session, j.all, j.own, j.finished = nil, nil, nil, true
	return err
}

// flushTime is how long what the program's streams still have may take at the end of the job.
const flushTime = time.Second

// abort ends the job; it does not return.
func (j *membership) abort(code int, why string) {
	flushed := make(chan struct{})
	go func() {
		flush()
		close(flushed)
	}()
	select {
	case <-flushed:
	case <-time.After(flushTime): // another thread has a stream, and waits for input
	}
	endTrace()
	j.mu.Lock()
	all := j.all
	j.mu.Unlock()
	if code&0xff == 0 { // all that is told of it
		code = 1
	}
	if all != nil {
		all.Abort(code, why)
	}
	fmt.Fprintln(os.Stderr, "mpi:", why)
	os.Exit(code)
}

// begin is MPI_Init.
func (j *membership) begin() error {
	if j.world.Load() != nil || atomic.LoadInt32(&state.Load().initialized) != 0 {
		return wrong(errOther, "MPI_Init was called before")
	}
	if err := j.join(); err != nil {
		return err
	}
	trace(j.all.Rank(), j.all.Size())
	world, self := newComm(j.all, "MPI_COMM_WORLD"), newComm(j.own, "MPI_COMM_SELF")
	world.handle, self.handle = worldHandle, selfHandle
	j.self.Store(self)
	j.world.Store(world)
	j.main = thread()
	s := state.Load()
	s.world.tell(worldHandle, world.c.Rank(), world.c.Size())
	s.of(selfHandle).tell(selfHandle, 0, 1)
	atomic.StoreInt32(&s.initialized, 1)
	return nil
}

func (a *cCall) init() error { return engine.begin() }

func (a *cCall) initThread() (int, error) { return threadMultiple, engine.begin() }

func (a *cCall) queryThread() int { return threadMultiple }

func (a *cCall) isThreadMain() bool { return thread() == engine.main }

func (a *cCall) finalize() error {
	world, self := engine.world.Load(), engine.self.Load()
	if world == nil {
		return wrong(errOther, "MPI_Finalize without MPI_Init, or once more")
	}
	// What libraries have left at MPI_COMM_SELF ends first, as the standard asks.
	err := errors.Join(self.endAttributes(), world.endAttributes())
	if err != nil {
		return err
	}
	// All are to have come this far: what one has sent is taken by another that is about to wait for it.
	if err := world.c.Barrier(); err != nil {
		return err
	}
	s := state.Load()
	s.world.forget(worldHandle)
	s.of(selfHandle).forget(selfHandle)
	engine.world.Store(nil)
	engine.self.Store(nil)
	err = engine.leave()
	atomic.StoreInt32(&s.finalized, 1)
	return err
}

func (a *cCall) abort() error {
	name := "an unknown communicator"
	if c, err := a.comm(0); err == nil {
		name = c.text()
	}
	engine.abort(a.int(1), fmt.Sprintf("MPI_Abort(%d) on %s", a.int(1), name))
	return nil
}

func (a *cCall) getProcessorName() error {
	name, err := os.Hostname()
	if err != nil {
		return wrong(errOther, "the host has no name: %v", err)
	}
	return a.setText(0, 1, name, 256)
}

func (a *cCall) getLibraryVersion() error {
	return a.setText(0, 1, "pm2 "+nmad.Version+", MPI 5.0 by its standard binary interface 1.0, "+runtime.Version(), 8192)
}

func (a *cCall) getHwResourceInfo() *cInfo { return newInfo() } // none is known

func (a *cCall) abiGetInfo() *cInfo {
	return newInfo("mpi_aint_size", "8", "mpi_count_size", "8", "mpi_offset_size", "8")
}

// fortran is what a library of Fortran has said of itself, for those of other compilers.
var fortran struct {
	sync.Mutex
	info    *cInfo
	size    int
	yes, no []byte
}

func (a *cCall) abiSetFortranInfo(i *cInfo) error {
	fortran.Lock()
	defer fortran.Unlock()
	if fortran.info != nil {
		return wrong(errAbi, "it was set before")
	}
	fortran.info = i.Dup()
	return nil
}

func (a *cCall) abiGetFortranInfo() *cInfo {
	fortran.Lock()
	defer fortran.Unlock()
	if fortran.info == nil {
		return nil
	}
	return fortran.info.Dup()
}

// logical are the two arguments of a logical of Fortran.
func (a *cCall) logical() (yes, no []byte, err error) {
	n := a.int(0)
	if n != 1 && n != 2 && n != 4 && n != 8 && n != 16 {
		return nil, nil, wrong(errArg, "a logical of %d bytes", n)
	}
	if a.word[1] == 0 || a.word[2] == 0 {
		return nil, nil, wrong(errArg, "there is no value")
	}
	return memory(a.ptr(1), n), memory(a.ptr(2), n), nil
}

func (a *cCall) abiSetFortranBooleans() error {
	yes, no, err := a.logical()
	if err != nil {
		return err
	}
	fortran.Lock()
	defer fortran.Unlock()
	if fortran.size != 0 {
		return wrong(errAbi, "they were set before")
	}
	fortran.size, fortran.yes, fortran.no = len(yes), append([]byte(nil), yes...), append([]byte(nil), no...)
	return nil
}

func (a *cCall) abiGetFortranBooleans(size int) (bool, error) {
	fortran.Lock()
	defer fortran.Unlock()
	if fortran.size != size {
		return false, nil
	}
	yes, no, err := a.logical()
	if err == nil {
		copy(yes, fortran.yes)
		copy(no, fortran.no)
	}
	return true, err
}

// environment is what is known of how the process was started, as MPI_INFO_ENV has it.
func environment() *cInfo {
	i := newInfo("command", os.Args[0], "argv", strings.Join(os.Args[1:], " "), "arch", runtime.GOARCH, "thread_level", "MPI_THREAD_MULTIPLE")
	if name, err := os.Hostname(); err == nil {
		i.Set("host", name)
	}
	for _, name := range []string{nmad.EnvSize, "PMI_SIZE"} { // before MPI_Init, too
		if size := os.Getenv(name); size != "" {
			i.Set("maxprocs", size)
			break
		}
	}
	if dir, err := os.Getwd(); err == nil {
		i.Set("wdir", dir)
	}
	return i
}
