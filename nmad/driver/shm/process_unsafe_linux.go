package shm

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// process is another process whose memory the kernel lets us read and write. One
// caller at a time: the kernel reads the two vectors from here, so it is part of a
// structure on the heap.
type process struct {
	pid    int // 0: no such process
	mine   unix.Iovec
	theirs struct{ base, size uintptr } // the same, with an address that is none of ours
}

// read fetches len(to) bytes from the address from, and says how many came: fewer, if at
// all, with the reason why. Both may sleep where a page has to be brought in, so unlike
// what package raw has they let the scheduler know.
func (p *process) read(to []byte, from uint64) (int, syscall.Errno) {
	return p.copy(unix.SYS_PROCESS_VM_READV, to, from)
}

// write puts buf to the address to.
func (p *process) write(buf []byte, to uint64) (int, syscall.Errno) {
	return p.copy(unix.SYS_PROCESS_VM_WRITEV, buf, to)
}

func (p *process) copy(call uintptr, buf []byte, address uint64) (done int, errno syscall.Errno) {
	defer func() { p.mine.Base = nil }()
	for done < len(buf) {
		b := buf[done:]
		p.mine.Base = unsafe.SliceData(b)
		p.mine.SetLen(len(b))
		p.theirs.base, p.theirs.size = uintptr(address)+uintptr(done), uintptr(len(b))
		n, _, errno := unix.Syscall6(call, uintptr(p.pid), uintptr(unsafe.Pointer(&p.mine)), 1, uintptr(unsafe.Pointer(&p.theirs)), 1, 0)
		if errno != 0 {
			return done, errno
		}
		if n == 0 || n > uintptr(len(b)) {
			return done, unix.EFAULT
		}
		done += int(n) // a part: the next call says what is wrong with the rest
	}
	return done, 0
}
