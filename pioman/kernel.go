package pioman

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/shelf"
)

// sleepSet is an epoll set with the descriptors of all sources and an eventfd: one thread at a time sleeps on it, any
// thread wakes that one.
type sleepSet struct {
	epoll    int           // descriptors
	eventfd  int           // the eventfd, by which wakers end the sleep
	uses     shelf.Uses    // waits and wakes in progress: after close the last of them closes the descriptors
	signaled atomic.Uint32 // 1: the eventfd is readable, or about to be; wakers set it, the sleeper clears it
	ready    [8]unix.EpollEvent
}

// openKernel makes a sleepSet with the eventfd in it.
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
	k := &sleepSet{epoll: epoll, eventfd: event}
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

// remove stops watching a descriptor. It fails only for a closed one, which the kernel does not watch any more.
func (k *sleepSet) remove(fd int) { _ = unix.EpollCtl(k.epoll, unix.EPOLL_CTL_DEL, fd, nil) }

// close ends the owner's use. No other use begins any more.
func (k *sleepSet) close() {
	k.uses.Close()
	k.drop()
}

// drop ends a use. The last one closes the descriptors.
func (k *sleepSet) drop() {
	if k.uses.Drop() {
		unix.Close(k.epoll)
		unix.Close(k.eventfd)
	}
}

// keepPFor is how long, in ms, the sleeper keeps its Go P: if it is woken soon it goes on at once, without a search for
// another P. Then it gives the P away. Otherwise the monitor thread of the Go runtime would take the P after 10 ms, and
// then wake up every 20 us for a millisecond and more (sched.Block).
const keepPFor = 5

// wait blocks the OS thread until a watched descriptor is readable, a thread calls wake, or limit, rounded up to whole
// milliseconds, is over.
func (k *sleepSet) wait(limit time.Duration) sleepOutcome {
	if !k.uses.Take() {
		return sleepDisturbed // closed this moment
	}
	defer k.drop()
	ms := -1
	if limit < time.Hour {
		ms = int((limit + time.Millisecond - 1) / time.Millisecond)
	}
	first, rest := keepPFor, ms
	if ms >= 0 {
		first = min(ms, keepPFor)
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
		if k.ready[i].Fd == int32(k.eventfd) {
			k.quieten()
		}
	}
	if n == 0 {
		return sleepUndisturbed
	}
	return sleepDisturbed
}

// pause blocks the OS thread until a thread calls wake, or d is over. It does not look at the watched descriptors.
func (k *sleepSet) pause(d time.Duration) sleepOutcome {
	if !k.uses.Take() {
		return sleepDisturbed
	}
	defer k.drop()
	t := unix.NsecToTimespec(int64(d))
	n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(k.eventfd), Events: unix.POLLIN}}, &t, nil)
	if n > 0 {
		k.quieten()
	}
	if n > 0 || err != nil { // interrupted: the caller looks once in vain
		return sleepDisturbed
	}
	return sleepUndisturbed
}

// quieten empties the eventfd, which was seen readable, and then clears signaled. A waker in between finds signaled
// set and does nothing, which is right: its wake was for the sleep that has just ended. In the other order that waker
// would set signaled, quieten would empty the eventfd, and no later wake would write. quieten is not called because
// signaled is set: a waker that has set it and not written yet would write afterwards, and with signaled clear each
// sleep would end at once.
func (k *sleepSet) quieten() {
	var b [8]byte
	_, _ = unix.Read(k.eventfd, b[:])
	k.signaled.Store(0)
}

// wake makes the wait in progress, or the next one, return. It makes a system call only if no other waker has since the
// last sleep.
func (k *sleepSet) wake() {
	if k.signaled.Load() != 0 || !k.signaled.CompareAndSwap(0, 1) || !k.uses.Take() {
		return
	}
	defer k.drop()
	some := [8]byte{1} // not zero in either byte order
	_, _ = unix.Write(k.eventfd, some[:])
}
