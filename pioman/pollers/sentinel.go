package pollers

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/sched/topo"
)

// sentinel is the thread under SCHED_IDLE beside a poller: it fills a socket, in one
// long system call, whenever its CPU has nothing better to run. doc.go says why.
type sentinel struct {
	fds  [2]int // 0: the sentinel fills, 1: the poller empties
	tid  atomic.Int32
	fail atomic.Pointer[error] // why it has ended by itself; the sentinel writes, its poller reads
	use  atomic.Int32          // how many may still touch fds: poller and sentinel; the last one closes them
	over atomic.Bool           // end was called
	in   [8 << 10]byte         // what the poller reads into; of no interest
}

const (
	sentinelChunk = 64 << 10 // one vector element; all are the same
	sentinelCalls = 1024     // elements of one call: 64 MiB, some 15,000 turns
)

// engage starts the sentinel of x, and returns once that sits in its system call under SCHED_IDLE.
func (x *poller) engage() error {
	g := &sentinel{}
	if err := unix.Shutdown(-1, unix.SHUT_RDWR); err != unix.EBADF { // end could not end it
		return os.NewSyscallError("shutdown", err)
	}
	var err error
	if g.fds, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	// As little room as the kernel allows: about 4 KiB.
	_ = unix.SetsockoptInt(g.fds[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 1)
	g.use.Store(2)
	x.pool.ended.Add(1)
	go x.watch(g)
	g.await() // there is something: it is in its call
	err = kernel.SetPolicy(int(g.tid.Load()), unix.SCHED_IDLE, 0, 0)
	if failed := g.fail.Load(); failed != nil {
		err = *failed
	}
	if err != nil {
		g.end()
		g.leave()
		return err
	}
	x.guard.Store(g)
	if x.pool.stopping.Load() { // Stop may have looked before
		x.endSentinel()
	}
	return nil
}

// watch is the sentinel's thread.
func (x *poller) watch(g *sentinel) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		started := make(chan struct{})
		go func() { close(started); x.watch(g) }()
		<-started
		runtime.UnlockOSThread()
		return
	}
	defer x.pool.ended.Done()    // the thread ends, being locked
	_ = topo.CPUs(x.cpu).Bind(0) // the poller has complained
	g.tid.Store(int32(unix.Gettid()))
	chunks := make([][]byte, sentinelCalls)
	for i, chunk := 0, make([]byte, sentinelChunk); i < len(chunks); i++ {
		chunks[i] = chunk
	}
	for {
		_, err := unix.SendmsgBuffers(g.fds[0], chunks, nil, nil, unix.MSG_NOSIGNAL)
		switch err {
		case nil, unix.EINTR:
			continue
		case unix.ENOBUFS, unix.ENOMEM:
			kernel.Yield()
			continue
		case unix.EPIPE: // shut down
		default:
			err = os.NewSyscallError("sendmsg", err)
			g.fail.Store(&err)
			_ = unix.Shutdown(g.fds[0], unix.SHUT_RDWR) // ends await
		}
		break
	}
	g.leave()
}

// leave says that the caller, the poller or the sentinel, touches g no more.
func (g *sentinel) leave() {
	if g.use.Add(-1) == 0 {
		unix.Close(g.fds[0])
		unix.Close(g.fds[1])
	}
}

// await returns once the sentinel has run since the last call, or has ended.
func (g *sentinel) await() {
	for {
		if _, err := unix.Read(g.fds[1], g.in[:]); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// end makes the sentinel leave its system call, and await return, now and ever after. Where the kernel
// allows it the thread gets its ordinary priority back first, else it ends
// when the CPU has a moment for it.
func (g *sentinel) end() {
	if g.over.Swap(true) {
		return // the descriptors may be closed by now
	}
	_ = kernel.SetPolicy(int(g.tid.Load()), unix.SCHED_NORMAL, kernel.Nice(), 0)
	_ = unix.Shutdown(g.fds[0], unix.SHUT_RDWR)
}

// endSentinel ends the sentinel of x, if it has one.
func (x *poller) endSentinel() {
	if g := x.guard.Load(); g != nil {
		g.end()
	}
}
