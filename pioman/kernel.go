package pioman

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/shelf"
)

// sleepSet is a set of descriptors with an eventfd in it: what one thread at a time sleeps on.
type sleepSet struct {
	epoll     int
	event     int
	uses      shelf.Uses    // by waits and wakes in progress: the last one after close closes the descriptors
	signalled atomic.Uint32 // 1: the eventfd is readable, or about to be; wakers set it, the sleeper clears it
	ready     [8]unix.EpollEvent
}

func openKernel() (*sleepSet, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	k := &sleepSet{epoll: epoll, event: event}
	k.uses.Open()
	if err := k.add(event); err != nil {
		k.close()
		return nil, fmt.Errorf("epoll_ctl: %w", err)
	}
	return k, nil
}

// add watches a descriptor, level triggered.
func (k *sleepSet) add(fd int) error {
	return unix.EpollCtl(k.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// remove stops watching one. The kernel refuses only a closed descriptor, which it does not watch any more.
func (k *sleepSet) remove(fd int) { _ = unix.EpollCtl(k.epoll, unix.EPOLL_CTL_DEL, fd, nil) }

// close ends the owner's use.
func (k *sleepSet) close() {
	k.uses.Close()
	k.drop()
}

// drop ends a use.
func (k *sleepSet) drop() {
	if k.uses.Drop() {
		unix.Close(k.epoll)
		unix.Close(k.event)
	}
}

// keepsP is for how long, in ms, the sleeper keeps its P: if it is woken soon it goes on at once,
// without looking for one where Ps are short. If it sleeps for longer it gives the P away; else the
// monitor thread of the Go runtime takes it, after 10 ms, and then looks around every 20 us for
// the next millisecond and more (sched.Block).
const keepsP = 5

// wait blocks until a watched descriptor is readable, a wake, or the end of limit,
// counted in whole milliseconds upwards.
func (k *sleepSet) wait(limit time.Duration) slept {
	if !k.uses.Take() {
		return disturbed // closed this moment
	}
	defer k.drop()
	ms := -1
	if limit < time.Hour {
		ms = int((limit + time.Millisecond - 1) / time.Millisecond)
	}
	first, rest := keepsP, ms
	if ms >= 0 {
		first = min(ms, keepsP)
		rest = ms - first
	}
	n, err := unix.EpollWait(k.epoll, k.ready[:], first)
	if err == unix.EINTR {
		n = 0
	}
	if n == 0 && rest != 0 {
		n, err = k.sleep(rest)
	}
	for err == unix.EINTR {
		n, err = k.sleep(ms)
	}
	for i := range max(n, 0) {
		if k.ready[i].Fd == int32(k.event) {
			k.quieten()
		}
	}
	if n == 0 {
		return undisturbed
	}
	return disturbed
}

// pause blocks until a wake or the end of d, whatever the watched descriptors say.
func (k *sleepSet) pause(d time.Duration) slept {
	if !k.uses.Take() {
		return disturbed
	}
	defer k.drop()
	t := unix.NsecToTimespec(int64(d))
	n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(k.event), Events: unix.POLLIN}}, &t, nil)
	if n > 0 {
		k.quieten()
	}
	if n > 0 || err != nil { // interrupted: look, what does it matter
		return disturbed
	}
	return undisturbed
}

// quieten empties the eventfd, which was seen readable. It empties first and marks
// second: a wake in between finds the mark and does nothing, which is right, for it
// meant the sleep that just ended. The other way round it would leave the mark on
// an empty eventfd, and no wake would work again. It is not done on the mark
// alone: a waker that has set the mark but not written yet would write later,
// unmarked, and every sleep would end at once.
func (k *sleepSet) quieten() {
	var b [8]byte
	_, _ = unix.Read(k.event, b[:])
	k.signalled.Store(0)
}

// wake makes the wait in progress, or the next one, return. A system call only if
// no other waker has done so yet.
func (k *sleepSet) wake() {
	if k.signalled.Load() != 0 || !k.signalled.CompareAndSwap(0, 1) || !k.uses.Take() {
		return
	}
	defer k.drop()
	some := [8]byte{1} // not zero in either byte order
	_, _ = unix.Write(k.event, some[:])
}
