package process

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
)

// Memory is the memory of another process, as far as the kernel lets this process read and write it. One caller at a
// time: the kernel reads the two vectors from the Memory, so a Memory must lie on the heap.
type Memory struct {
	PID    int                          // the other process; 0 if there is none
	Tells  bool                         // tell Go's scheduler about the calls: they take longer, but long copies then hold up no other goroutine
	mine   unix.Iovec                   // the vector of this process
	theirs struct{ base, size uintptr } // the vector of the other process: an unix.Iovec whose address the collector must not see
	bounce []byte                       // bounceSize bytes and a page; nil until a copy needs it
}

// bounceSize is how many bytes one call copies by way of the bounce buffer. That many stay in the nearer caches.
const bounceSize = 32 << 10

// Read copies len(to) bytes from the address from of the other process. It returns how many bytes it has copied; if
// they are fewer, errno says why. It may block while the kernel reads a page from disk.
//
// If source and destination lie to each other as asm.JustAhead says, Read copies by way of a bounce buffer, which is
// faster.
func (p *Memory) Read(to []byte, from uint64) (done int, errno syscall.Errno) {
	if !asm.JustAhead(AddressOf(to), from) {
		return p.copy(unix.SYS_PROCESS_VM_READV, to, from)
	}
	for done < len(to) && errno == 0 {
		bounce := p.bounceFor(from+uint64(done), len(to)-done)
		var n int
		n, errno = p.copy(unix.SYS_PROCESS_VM_READV, bounce, from+uint64(done))
		done += copy(to[done:], bounce[:n])
	}
	return done, errno
}

// Write copies buf to the address to of the other process; see Read.
func (p *Memory) Write(buf []byte, to uint64) (done int, errno syscall.Errno) {
	if !asm.JustAhead(to, AddressOf(buf)) {
		return p.copy(unix.SYS_PROCESS_VM_WRITEV, buf, to)
	}
	for done < len(buf) && errno == 0 {
		bounce := p.bounceFor(to+uint64(done), len(buf)-done)
		copy(bounce, buf[done:])
		var n int
		n, errno = p.copy(unix.SYS_PROCESS_VM_WRITEV, bounce, to+uint64(done))
		done += n
	}
	return done, errno
}

// bounceFor returns up to n bytes of the bounce buffer, which begin at the same offset in a page as address does.
func (p *Memory) bounceFor(address uint64, n int) []byte {
	const page = 4096
	if p.bounce == nil {
		p.bounce = make([]byte, bounceSize+page)
	}
	return p.bounce[(address-AddressOf(p.bounce))%page:][:min(n, bounceSize)]
}

// copy repeats the system call until all of buf is copied, or the call fails.
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
		done += int(n) // if that is only a part, the next call fails with the reason
	}
	return done, 0
}
