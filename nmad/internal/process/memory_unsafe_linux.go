package process

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
)

// Memory is that of another process, which the kernel may let us read and write. One
// caller at a time: the kernel reads the two vectors from here, so it is part of a
// structure on the heap.
type Memory struct {
	PID    int  // 0: no such process
	Tells  bool // Go's scheduler is told of the calls, which then take longer: where they copy much at once
	mine   unix.Iovec
	theirs struct{ base, size uintptr } // the same, with an address that is none of ours
	aside  []byte                       // what is copied by way of here, asideSize and a page; nil until it is needed
}

// asideSize is how much is copied aside at once, in bytes: it stays in the nearer caches.
const asideSize = 32 << 10

// Read fetches len(to) bytes from the address from, and says how many came: fewer, if at
// all, with the reason why. It may sleep where a page has to be brought in.
func (p *Memory) Read(to []byte, from uint64) (done int, errno syscall.Errno) {
	if !asm.JustAhead(AddressOf(to), from) {
		return p.copy(unix.SYS_PROCESS_VM_READV, to, from)
	}
	for done < len(to) && errno == 0 {
		aside := p.asideAs(from+uint64(done), len(to)-done)
		var n int
		n, errno = p.copy(unix.SYS_PROCESS_VM_READV, aside, from+uint64(done))
		done += copy(to[done:], aside[:n])
	}
	return done, errno
}

// Write puts buf to the address to.
func (p *Memory) Write(buf []byte, to uint64) (done int, errno syscall.Errno) {
	if !asm.JustAhead(to, AddressOf(buf)) {
		return p.copy(unix.SYS_PROCESS_VM_WRITEV, buf, to)
	}
	for done < len(buf) && errno == 0 {
		aside := p.asideAs(to+uint64(done), len(buf)-done)
		copy(aside, buf[done:])
		var n int
		n, errno = p.copy(unix.SYS_PROCESS_VM_WRITEV, aside, to+uint64(done))
		done += n
	}
	return done, errno
}

// asideAs gives memory of up to n bytes that lies in its page as that address does.
func (p *Memory) asideAs(address uint64, n int) []byte {
	const page = 4096
	if p.aside == nil {
		p.aside = make([]byte, asideSize+page)
	}
	return p.aside[(address-AddressOf(p.aside))%page:][:min(n, asideSize)]
}

func (p *Memory) copy(call uintptr, buf []byte, address uint64) (done int, errno syscall.Errno) {
	defer func() { p.mine.Base = nil }()
	for done < len(buf) {
		b := buf[done:]
		p.mine.Base = unsafe.SliceData(b)
		p.mine.SetLen(len(b))
		p.theirs.base, p.theirs.size = uintptr(address)+uintptr(done), uintptr(len(b))
		var n uintptr
		if p.Tells {
			n, _, errno = syscall.Syscall6(call, uintptr(p.PID), uintptr(unsafe.Pointer(&p.mine)), 1, uintptr(unsafe.Pointer(&p.theirs)), 1, 0)
		} else {
			n, _, errno = syscall.RawSyscall6(call, uintptr(p.PID), uintptr(unsafe.Pointer(&p.mine)), 1, uintptr(unsafe.Pointer(&p.theirs)), 1, 0)
		}
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
