package raw

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Send writes p to a socket: as much as there is room for, without waiting and without a SIGPIPE. EINTR does not come
// up: a call that never sleeps is not interrupted. p must be on the heap and not empty.
func Send(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))),
		uintptr(len(p)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// Recv reads what has arrived on a socket, at most len(p) bytes, without waiting. 0 and no error is the end of the
// stream. p must be on the heap and not empty.
func Recv(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))),
		uintptr(len(p)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// Pair is what SendPair needs in memory, as part of a structure on the heap. One caller at a time.
type Pair struct {
	msg   unix.Msghdr
	parts [2]unix.Iovec
}

// SendPair is Send of a and, right behind it, b: the kernel gathers them.
func (p *Pair) SendPair(fd int, a, b []byte) (int, syscall.Errno) {
	p.parts[0].Base, p.parts[1].Base = unsafe.SliceData(a), unsafe.SliceData(b)
	p.parts[0].SetLen(len(a))
	p.parts[1].SetLen(len(b))
	p.msg.Iov = &p.parts[0]
	p.msg.SetIovlen(len(p.parts))
	n, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&p.msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	p.parts[0].Base, p.parts[1].Base = nil, nil // they are their owners' again
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// Bell is what Ring, Quiet and HungUp need in memory: the kernel writes here, so it is part of a structure on the heap.
// One caller at a time.
type Bell struct {
	count [8]byte
	poll  unix.PollFd
	zero  unix.Timespec
}

// Ring adds one to an eventfd. The counter is never full, since one ring in it is enough and its owner empties it;
// should a hostile peer fill it, the ring is not needed either.
func (b *Bell) Ring(eventfd int) syscall.Errno {
	binary.NativeEndian.PutUint64(b.count[:], 1)
	_, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(eventfd), uintptr(unsafe.Pointer(&b.count)), 8)
	if errno == unix.EAGAIN {
		return 0
	}
	return errno
}

// Quiet empties an eventfd.
func (b *Bell) Quiet(eventfd int) {
	// EAGAIN: it was empty. Nothing else can go wrong with a valid descriptor.
	_, _, _ = unix.RawSyscall(unix.SYS_READ, uintptr(eventfd), uintptr(unsafe.Pointer(&b.count)), 8)
}

// HungUp reports whether the other end of a socket is closed, whatever bytes may be left to read.
func (b *Bell) HungUp(fd int) bool {
	b.poll = unix.PollFd{Fd: int32(fd), Events: unix.POLLRDHUP}
	b.zero = unix.Timespec{}
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&b.poll)), 1, uintptr(unsafe.Pointer(&b.zero)), 0, 0, 0)
	return errno == 0 && n == 1 && b.poll.Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}

// LowWater sets how many bytes must have arrived at a socket for it to count as readable. Whatever
// lies in it already is looked at anew.
func LowWater(fd int, bytes *int32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, uintptr(unsafe.Pointer(bytes)), unsafe.Sizeof(*bytes), 0)
}
