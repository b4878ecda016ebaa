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

// descriptor is a non-blocking descriptor of the kernel's with its two directions: what Conn and Listener have in common.
type descriptor struct {
	r    *Reactor
	fd   int
	uses shelf.Uses

	// What a net.OpError says: the two ends of a connection, the address of a listener. They stay once the descriptor is open.
	network      string
	source, addr net.Addr

	epoll   marcel.Mutex // serialises epoll_ctl
	watched bool         // the kernel's set has it; under epoll

	gone *marcel.Latch // opens once fd is closed
	last func()        // called before close(2); may be nil

	_  [line]byte // one thread reads while another one writes
	rd direction
	_  [line]byte
	wr direction
}

// line is how far apart words lie that different cores write.
const line = 128

// open makes d usable. d owns fd, which does not block, from now on, also if it fails.
func (d *descriptor) open(r *Reactor, fd int, network string) error {
	d.r, d.fd, d.network = r, fd, network
	d.rd.event, d.wr.event = unix.EPOLLIN, unix.EPOLLOUT
	d.uses.Open()
	d.gone = marcel.NewLatch(1)
	err := r.adopt(d)
	if err != nil {
		unix.Close(fd)
	}
	return err
}

// fail says what was done, and between which addresses.
func (d *descriptor) fail(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: d.network, Source: d.source, Addr: d.addr, Err: err}
}

// do makes a system call in one direction, once the operations before it have ended: again if it was interrupted (EINTR),
// again after a wait if the descriptor is not ready (EAGAIN). Errors are bare: net.ErrClosed,
// os.ErrDeadlineExceeded, the call's, the engine's. It allocates nothing.
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

// wait blocks the caller alone until something may have happened in a direction, of which
// it holds mu. It is a cancellation point: callers defer what is to be put in order.
func (d *descriptor) wait(dir *direction) error {
	if err := d.watch(dir); err != nil {
		return err
	}
	d.r.waiters.Add(1) // before Wait calls Need: a poller sees it
	defer d.r.waiters.Add(-1)
	err := dir.news.WaitOrCancel(d.r.engine, ready|expired|shut)
	if err != nil && errors.Is(err, pioman.ErrCanceled) {
		marcel.TestCancel()
	}
	return err
}

// watch has the kernel announce one direction, edge triggered, from the first time on
// that a thread waits for it. What is there already is announced, too.
func (d *descriptor) watch(dir *direction) error {
	if dir.armed { // only the holder of dir.mu sets it
		return nil
	}
	d.epoll.Lock()
	defer d.epoll.Unlock()
	ev := unix.EpollEvent{Events: dir.event | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(d.fd)}
	op := unix.EPOLL_CTL_ADD
	if d.watched { // for the other direction
		op = unix.EPOLL_CTL_MOD
		ev.Events |= d.rd.event | d.wr.event
	}
	if err := unix.EpollCtl(d.r.epoll, op, d.fd, &ev); err != nil {
		return fmt.Errorf("wait for descriptor %d: %w", d.fd, os.NewSyscallError("epoll_ctl", err))
	}
	d.watched, dir.armed = true, true
	return nil
}

// happened passes an event of the kernel on. true: it is news to a direction.
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

// drop ends a use of the descriptor. The user that drops the last share takes it out of the kernel's epoll set
// before it takes it out of the reactor's table, which Reactor.Close waits for.
func (d *descriptor) drop() {
	if !d.uses.Drop() {
		return
	}
	if d.watched {
		// Also if a duplicate keeps the file open: the kernel watches files, not numbers.
		_ = unix.EpollCtl(d.r.epoll, unix.EPOLL_CTL_DEL, d.fd, nil)
	}
	d.r.forget(d)
	if d.last != nil {
		d.last()
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

// control runs f, which gets the descriptor and keeps it open.
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
type raw struct{ d *descriptor }

// Control implements syscall.RawConn. f must not close what it is given.
func (x raw) Control(f func(fd uintptr)) error {
	return x.d.control("raw-control", func(fd int) error { f(uintptr(fd)); return nil })
}

// Read implements syscall.RawConn: it waits as a Read does whenever f says false.
func (x raw) Read(f func(fd uintptr) (done bool)) error {
	return x.d.fail("raw-read", x.d.do(&x.d.rd, "raw-read", until(f)))
}

// Write implements syscall.RawConn.
func (x raw) Write(f func(fd uintptr) (done bool)) error {
	return x.d.fail("raw-write", x.d.do(&x.d.wr, "raw-write", until(f)))
}

func until(f func(fd uintptr) (done bool)) func(fd int) syscall.Errno {
	return func(fd int) syscall.Errno {
		if f(uintptr(fd)) {
			return 0
		}
		return unix.EAGAIN
	}
}
