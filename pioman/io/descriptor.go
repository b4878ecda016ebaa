package pio

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// descriptor is a non-blocking file descriptor with its two directions: Conn and Listener embed it. Any number of
// threads and goroutines may use it.
type descriptor struct {
	reactor *Reactor
	fd      int
	uses    shelf.Uses // operations in progress, and the owner: the last one after Close closes fd

	// For net.OpError: the two ends of a connection, or the address of a listener (addr). They do not change once the
	// descriptor is open.
	network      string
	source, addr net.Addr

	epollLock marcel.Mutex // serializes epoll_ctl
	watched   bool         // fd is in the reactor's epoll set; under epollLock

	gone        *marcel.Latch // opens once fd is closed
	beforeClose func()        // called before close(2); may be nil

	_  [line]byte // one thread reads while another one writes
	rd direction
	_  [line]byte
	wr direction
}

// line is the distance, in bytes, between words that different cores write.
const line = 128

// open makes d usable with fd, which is non-blocking. It takes fd over, and closes it if it fails.
func (d *descriptor) open(r *Reactor, fd int, network string) error {
	d.reactor, d.fd, d.network = r, fd, network
	d.rd.event, d.wr.event = unix.EPOLLIN, unix.EPOLLOUT
	d.uses.Open()
	d.gone = marcel.NewLatch(1)
	err := r.adopt(d)
	if err != nil {
		unix.Close(fd)
	}
	return err
}

// fail wraps the error of an operation as a *net.OpError.
func (d *descriptor) fail(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: d.network, Source: d.source, Addr: d.addr, Err: err}
}

// do makes the system call f in one direction, once the operations before it have ended. If f returns EINTR it calls f
// again, if EAGAIN after a wait. Errors, without a net.OpError: net.ErrClosed,
// os.ErrDeadlineExceeded, those of the system call and of the engine. It allocates nothing.
func (d *descriptor) do(dir *direction, call string, f func(fd int) syscall.Errno) error {
	if !d.uses.Take() {
		return net.ErrClosed
	}
	defer d.drop()
	dir.mu.Lock()
	defer dir.mu.Unlock()
	for {
		if err := dir.begin(); err != nil {
			return err
		}
		switch errno := f(d.fd); errno {
		case 0:
			return nil
		case unix.EINTR:
		case unix.EAGAIN:
			if err := d.wait(dir); err != nil {
				return err
			}
		default:
			return os.NewSyscallError(call, errno)
		}
	}
}

// wait blocks the calling thread until something may have happened in a direction, whose mu the caller holds. It is a
// cancellation point: callers release their locks by defer.
func (d *descriptor) wait(dir *direction) error {
	if err := d.watch(dir); err != nil {
		return err
	}
	d.reactor.waiters.Add(1) // before the wait calls Engine.AddPending: a poller that comes for the request sees it
	defer d.reactor.waiters.Add(-1)
	err := dir.news.WaitOrCancel(d.reactor.engine, ready|expired|shut)
	if err != nil && errors.Is(err, pioman.ErrCanceled) {
		marcel.TestCancel()
	}
	return err
}

// watch puts a direction into the epoll set, edge triggered, when a thread waits for it for the first time. If the
// direction is ready already the kernel reports an event, too.
func (d *descriptor) watch(dir *direction) error {
	if dir.armed { // only the holder of dir.mu sets it
		return nil
	}
	d.epollLock.Lock()
	defer d.epollLock.Unlock()
	ev := unix.EpollEvent{Events: dir.event | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(d.fd)}
	op := unix.EPOLL_CTL_ADD
	if d.watched { // the other direction is in the set
		op = unix.EPOLL_CTL_MOD
		ev.Events |= d.rd.event | d.wr.event
	}
	if err := unix.EpollCtl(d.reactor.epoll, op, d.fd, &ev); err != nil {
		return fmt.Errorf("wait for descriptor %d: %w", d.fd, os.NewSyscallError("epoll_ctl", err))
	}
	d.watched, dir.armed = true, true
	return nil
}

// happened passes an event of the kernel to the directions, and reports whether one of them was not ready before.
func (d *descriptor) happened(events uint32) (news bool) {
	const end = unix.EPOLLERR | unix.EPOLLHUP // of both directions
	if events&(unix.EPOLLIN|unix.EPOLLRDHUP|end) != 0 && !d.rd.news.Test(ready) {
		d.rd.news.Signal(ready)
		news = true
	}
	if events&(unix.EPOLLOUT|end) != 0 && !d.wr.news.Test(ready) {
		d.wr.news.Signal(ready)
		news = true
	}
	return news
}

// drop ends a use of the descriptor. The last one takes it out of the kernel's epoll set, and then out of the reactor's
// table, for which Reactor.Close waits.
func (d *descriptor) drop() {
	if !d.uses.Drop() {
		return
	}
	if d.watched {
		// close(2) does not do that if a duplicate keeps the file open: the kernel watches files, not numbers.
		_ = unix.EpollCtl(d.reactor.epoll, unix.EPOLL_CTL_DEL, d.fd, nil)
	}
	d.reactor.forget(d)
	if d.beforeClose != nil {
		d.beforeClose()
	}
	_ = unix.Close(d.fd)
	d.gone.CountDown()
}

// Close ends the operations in progress with net.ErrClosed, waits for them to leave, and closes the descriptor. Close
// again returns net.ErrClosed.
func (d *descriptor) Close() error {
	if !d.uses.Close() {
		return d.fail("close", net.ErrClosed)
	}
	for _, dir := range [...]*direction{&d.rd, &d.wr} {
		dir.news.Signal(shut)
		dir.setDeadline(time.Time{})
	}
	d.drop()
	d.gone.Wait()
	return nil
}

// control calls f with the descriptor, which stays open meanwhile.
func (d *descriptor) control(op string, f func(fd int) error) error {
	if !d.uses.Take() {
		return d.fail(op, net.ErrClosed)
	}
	defer d.drop()
	return d.fail(op, f(d.fd))
}

// SyscallConn implements syscall.Conn, for options that have no method here.
func (d *descriptor) SyscallConn() (syscall.RawConn, error) { return raw{d}, nil }

// raw is a descriptor as a syscall.RawConn.
type raw struct{ descriptor *descriptor }

// Control implements syscall.RawConn. f must not close the descriptor.
func (x raw) Control(f func(fd uintptr)) error {
	return x.descriptor.control("raw-control", func(fd int) error { f(uintptr(fd)); return nil })
}

// Read implements syscall.RawConn: it waits as Conn.Read does each time f returns false.
func (x raw) Read(f func(fd uintptr) (done bool)) error {
	return x.descriptor.fail("raw-read", x.descriptor.do(&x.descriptor.rd, "raw-read", until(f)))
}

// Write implements syscall.RawConn.
func (x raw) Write(f func(fd uintptr) (done bool)) error {
	return x.descriptor.fail("raw-write", x.descriptor.do(&x.descriptor.wr, "raw-write", until(f)))
}

// until turns f into a function for do.
func until(f func(fd uintptr) (done bool)) func(fd int) syscall.Errno {
	return func(fd int) syscall.Errno {
		if f(uintptr(fd)) {
			return 0
		}
		return unix.EAGAIN
	}
}
