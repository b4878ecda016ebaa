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

// job is this process's membership in its job.
var job membership

// membership counts what needs the job: MPI_Init and each session of MPI. The first of these joins the job, the
// last one leaves it.
type membership struct {
	world, self atomic.Pointer[cComm] // of MPI_Init; nil before it and after MPI_Finalize

	mu         sync.Mutex
	users      int           // MPI_Init and sessions that have not ended; under mu
	session    *nmad.Session // nil: the job was not joined, or was left; under mu
	allComm    *mpi.Comm     // of all processes; nil likewise; under mu
	selfComm   *mpi.Comm     // of this process; under mu
	finished   bool          // the job was left: it cannot be joined again; under mu
	mainThread int           // that has called MPI_Init; the kernel's number
}

// attach remembers the memory that C shares with Go. Each call before MPI_Init calls it; only the first has an
// effect.
func attach(s *frontState) {
	attached.Do(func() {
		_, _ = requests.add(&sent) // the table is empty, so it cannot fail
		state.Store(s)
	})
}

var attached sync.Once

// join joins the job, unless this process has joined it. Each call needs a leave.
func (j *membership) join() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.allComm != nil {
		j.users++
		return nil
	}
	if j.finished {
		return errorf(errOther, "this process has left its job, which it cannot join again")
	}
	all, err := mpi.Init(context.Background())
	if err != nil {
		return fmt.Errorf("this process cannot join its job: %w", err)
	}
	j.session, j.allComm, j.selfComm, j.users = mpi.SessionOf(all), all, all.Self(), 1
	atExit()
	return nil
}

// leave undoes a join. The last one leaves the job if MPI_Init was called. A process that only had sessions stays
// in the job until it exits, because it may open another session.
func (j *membership) leave() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.users--; j.users > 0 || atomic.LoadInt32(&state.Load().initialized) == 0 {
		return nil
	}
	return j.leaveJob()
}

// exit leaves the job of a process that only had sessions. It is called when the process exits.
func (j *membership) exit() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.users == 0 && j.allComm != nil {
		if err := j.leaveJob(); err != nil {
			fmt.Fprintln(os.Stderr, "mpi:", err)
		}
	}
}

// leaveJob leaves the job. The caller holds mu.
func (j *membership) leaveJob() error {
	endTrace()
	err := j.allComm.Finalize()
	j.session, j.allComm, j.selfComm, j.finished = nil, nil, nil, true
	return err
}

// flushTime is how long the end of the job waits until the program's C streams are written.
const flushTime = time.Second

// abort ends the job with code as status. It does not return.
func (j *membership) abort(code int, why string) {
	flushed := make(chan struct{})
	go func() {
		flush()
		close(flushed)
	}()
	select {
	case <-flushed:
	case <-time.After(flushTime): // another thread holds a stream and waits for input
	}
	endTrace()
	j.mu.Lock()
	all := j.allComm
	j.mu.Unlock()
	if code&0xff == 0 { // a process that ends well has these 8 bits as status
		code = 1
	}
	if all != nil {
		all.Abort(code, why)
	}
	fmt.Fprintln(os.Stderr, "mpi:", why)
	os.Exit(code)
}

// initialize is MPI_Init.
func (j *membership) initialize() error {
	if j.world.Load() != nil || atomic.LoadInt32(&state.Load().initialized) != 0 {
		return errorf(errOther, "MPI_Init was called before")
	}
	if err := j.join(); err != nil {
		return err
	}
	startTrace(j.allComm.Rank(), j.allComm.Size())
	world, self := newComm(j.allComm, "MPI_COMM_WORLD"), newComm(j.selfComm, "MPI_COMM_SELF")
	world.handle, self.handle = commWorldHandle, commSelfHandle
	j.self.Store(self)
	j.world.Store(world)
	j.mainThread = threadID()
	s := state.Load()
	s.world.publish(commWorldHandle, world.local.Rank(), world.local.Size())
	s.cacheOf(commSelfHandle).publish(commSelfHandle, 0, 1)
	atomic.StoreInt32(&s.initialized, 1)
	return nil
}

func (a *cCall) init() error { return job.initialize() }

func (a *cCall) initThread() (int, error) { return mpiThreadMultiple, job.initialize() }

func (a *cCall) queryThread() int { return mpiThreadMultiple }

func (a *cCall) isThreadMain() bool { return threadID() == job.mainThread }

func (a *cCall) finalize() error {
	world, self := job.world.Load(), job.self.Load()
	if world == nil {
		return errorf(errOther, "MPI_Finalize without MPI_Init, or once more")
	}
	// The attributes of MPI_COMM_SELF are deleted first, as the standard demands.
	err := errors.Join(self.endAttributes(), world.endAttributes())
	if err != nil {
		return err
	}
	// All processes wait for each other, because one may still wait for what another has sent.
	if err := world.local.Barrier(); err != nil {
		return err
	}
	s := state.Load()
	s.world.forget(commWorldHandle)
	s.cacheOf(commSelfHandle).forget(commSelfHandle)
	job.world.Store(nil)
	job.self.Store(nil)
	err = job.leave()
	atomic.StoreInt32(&s.finalized, 1)
	return err
}

func (a *cCall) abort() error {
	name := "an unknown communicator"
	if c, err := a.comm(0); err == nil {
		name = c.describe()
	}
	job.abort(a.int(1), fmt.Sprintf("MPI_Abort(%d) on %s", a.int(1), name))
	return nil
}

func (a *cCall) getProcessorName() error {
	name, err := os.Hostname()
	if err != nil {
		return errorf(errOther, "the host has no name: %v", err)
	}
	return a.setText(0, 1, name, mpiMaxProcessorName)
}

func (a *cCall) getLibraryVersion() error {
	return a.setText(0, 1, "pm2 "+nmad.Version+", MPI 5.0 by its standard binary interface 1.0, "+runtime.Version(), mpiMaxLibraryVersionString)
}

func (a *cCall) getHwResourceInfo() *cInfo { return newInfo() } // this library knows no hardware resources

func (a *cCall) abiGetInfo() *cInfo {
	return newInfo("mpi_aint_size", "8", "mpi_count_size", "8", "mpi_offset_size", "8")
}

// fortran is what the Fortran library of a compiler has told of itself, for the libraries of other compilers.
var fortran struct {
	sync.Mutex
	info                  *cInfo // of MPI_Abi_set_fortran_info; nil: it was not called
	size                  int    // bytes of a LOGICAL; 0: not set
	trueValue, falseValue []byte // the bytes of .TRUE. and .FALSE.
}

func (a *cCall) abiSetFortranInfo(i *cInfo) error {
	fortran.Lock()
	defer fortran.Unlock()
	if fortran.info != nil {
		return errorf(errAbi, "it was set before")
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

// fortranLogicals returns the memory of .TRUE. and .FALSE., at arguments 1 and 2. Argument 0 is the size of
// either, in bytes.
func (a *cCall) fortranLogicals() (yes, no []byte, err error) {
	n := a.int(0)
	if n != 1 && n != 2 && n != 4 && n != 8 && n != 16 {
		return nil, nil, errorf(errArg, "a logical of %d bytes", n)
	}
	if a.word[1] == 0 || a.word[2] == 0 {
		return nil, nil, errorf(errArg, "there is no value")
	}
	return memory(a.ptr(1), n), memory(a.ptr(2), n), nil
}

func (a *cCall) abiSetFortranBooleans() error {
	yes, no, err := a.fortranLogicals()
	if err != nil {
		return err
	}
	fortran.Lock()
	defer fortran.Unlock()
	if fortran.size != 0 {
		return errorf(errAbi, "they were set before")
	}
	fortran.size, fortran.trueValue, fortran.falseValue = len(yes), append([]byte(nil), yes...), append([]byte(nil), no...)
	return nil
}

func (a *cCall) abiGetFortranBooleans(size int) (bool, error) {
	fortran.Lock()
	defer fortran.Unlock()
	if fortran.size != size {
		return false, nil
	}
	yes, no, err := a.fortranLogicals()
	if err == nil {
		copy(yes, fortran.trueValue)
		copy(no, fortran.falseValue)
	}
	return true, err
}

// environment returns MPI_INFO_ENV: how this process was started.
func environment() *cInfo {
	i := newInfo("command", os.Args[0], "argv", strings.Join(os.Args[1:], " "), "arch", runtime.GOARCH, "thread_level", "MPI_THREAD_MULTIPLE")
	if name, err := os.Hostname(); err == nil {
		i.Set("host", name)
	}
	for _, name := range []string{nmad.EnvSize, "PMI_SIZE"} { // not the communicator: MPI_INFO_ENV is there before MPI_Init
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
