package pio

import (
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// descriptor is a non-blocking descriptor of the kernel's with its two sides.
type descriptor struct {
	r      *Reactor
	fd     int
	place  int32 // in the reactor's table; with serial: what the kernel's events carry
	serial int32
	refs   refs

	epoll  marcel.Mutex // serialises epoll_ctl
	events uint32       // what the kernel watches for; 0: nothing yet

	gone *marcel.Latch // opens once fd is closed
	last func() error  // what comes before close(2); may be nil

	_  [line]byte // one reads while the other writes
	rd side
	_  [line]byte
	wr side
}

// line is how far apart words lie that different cores write.
const line = 128

// open makes d usable; nonblock is what the kernel is told of all that share the open
// file. d owns fd from now on, also if it fails.
func (d *descriptor) open(r *Reactor, fd int, nonblock bool) error {
	if err := unix.SetNonblock(fd, nonblock); err != nil {
		unix.Close(fd)
		return os.NewSyscallError("fcntl", err)
	}
	d.r, d.fd = r, fd
	d.refs.open()
	d.gone = marcel.NewLatch(1)
	err := r.adopt(d)
	if err != nil {
		unix.Close(fd)
	}
	return err
}

// take and drop frame a use of d.fd. false: closed.
func (d *descriptor) take() bool { return d.refs.take() }

func (d *descriptor) drop() {
	if d.refs.drop() {
		d.destroy()
	}
}

// close ends all operations and returns once the descriptor is closed: its number
// may belong to another file then. net.ErrClosed if it was closed already.
func (d *descriptor) close() error {
	if !d.refs.close() {
		return net.ErrClosed
	}
	for _, s := range []*side{&d.rd, &d.wr} {
		s.wake(shut)
		s.setDeadline(time.Time{})
	}
	d.drop()
	d.gone.Wait()
	return nil
}

// destroy is for the user that drops the last share. It takes the descriptor out of the kernel's epoll set
// before it takes it out of the reactor's table, which Close waits for.
func (d *descriptor) destroy() {
	if d.events != 0 {
		// Also if a duplicate keeps the file open: the kernel watches files, not numbers.
		_ = unix.EpollCtl(d.r.epoll, unix.EPOLL_CTL_DEL, d.fd, nil)
	}
	d.r.forget(d)
	if d.last != nil {
		_ = d.last()
	}
	_ = unix.Close(d.fd)
	d.gone.CountDown()
}

// watch has the kernel announce one direction, edge triggered, from the first time on
// that a thread waits for it. What is there already is announced, too.
func (d *descriptor) watch(s *side, events uint32) error {
	if s.armed { // only the holder of s.mu sets it
		return nil
	}
	d.epoll.Lock()
	defer d.epoll.Unlock()
	op := unix.EPOLL_CTL_MOD
	if d.events == 0 {
		op = unix.EPOLL_CTL_ADD
	}
	ev := unix.EpollEvent{Events: d.events | events | unix.EPOLLRDHUP | unix.EPOLLET, Fd: d.place, Pad: d.serial}
	if err := unix.EpollCtl(d.r.epoll, op, d.fd, &ev); err != nil {
		return fmt.Errorf("wait for descriptor %d: %w", d.fd, os.NewSyscallError("epoll_ctl", err))
	}
	d.events = ev.Events
	s.armed = true
	return nil
}

// wait blocks the caller alone until something may have happened on a side, of which
// it holds mu. nil: try again.
func (d *descriptor) wait(s *side, events uint32) error {
	if err := d.watch(s, events); err != nil {
		return err
	}
	if !s.enlist() {
		return verdict(s.word.Load())
	}
	d.r.waiters.Add(1) // before Wait calls Need: a poller sees it
	err := s.done.Wait(d.r.engine, signalled)
	d.r.waiters.Add(-1)
	if err != nil {
		s.retract()
	}
	return err
}

// happened passes an event of the kernel on. true: a thread waited for it.
func (d *descriptor) happened(events uint32) (woke bool) {
	const both = unix.EPOLLERR | unix.EPOLLHUP
	if events&(unix.EPOLLIN|unix.EPOLLRDHUP|both) != 0 {
		woke = d.rd.wake(ready)
	}
	if events&(unix.EPOLLOUT|both) != 0 {
		woke = d.wr.wake(ready) || woke
	}
	return woke
}

// setDeadlines moves the deadlines of the sides given.
func (d *descriptor) setDeadlines(t time.Time, sides ...*side) error {
	if !d.take() {
		return net.ErrClosed
	}
	defer d.drop()
	for _, s := range sides {
		s.setDeadline(t)
	}
	return nil
}
