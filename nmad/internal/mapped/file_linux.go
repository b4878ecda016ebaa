package mapped

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// sizeSeals are the seals that all shared memory has: its size cannot change any more.
const sizeSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW

// Create makes a memfd of size bytes, all of them zero, with sealed size, and returns its descriptor, which the caller
// closes. more has further seals (F_SEAL_*). name is for people: the memory has no name in any file system. Create
// fails with the kernel's error.
func Create(name string, size uint64, more int) (fd int, err error) {
	// Beyond this limit the kernel also sends a signal (SIGXFSZ), which may end the process.
	var most unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &most) == nil && size > most.Cur {
		return -1, fmt.Errorf("the limit of a file's size, RLIMIT_FSIZE (ulimit -f), is %d bytes: %w", most.Cur, unix.EFBIG)
	}
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return -1, os.NewSyscallError("memfd_create", err)
	}
	if err = os.NewSyscallError("ftruncate", unix.Ftruncate(fd, int64(size))); err == nil {
		err = seal(fd, sizeSeals|more)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// seal adds seals to a memfd.
func seal(fd, seals int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	return os.NewSyscallError("fcntl", err)
}

// Check returns the size of the memory that a peer has given, in bytes, and the number of its file. It fails with
// driver.ErrProtocol if the descriptor is none that Create could have made, and with the kernel's error if the kernel
// does not tell. what names the memory in the error.
func Check(fd int, what string) (size, file uint64, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, 0, os.NewSyscallError("fstat", err)
	}
	size, file = uint64(st.Size), st.Ino
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size < 0 {
		return size, file, fmt.Errorf("%w: a %s of %d bytes that is no memory (mode %#o)", driver.ErrProtocol, what, st.Size, st.Mode)
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&sizeSeals != sizeSeals {
		return size, file, fmt.Errorf("%w: a %s with seals %#x, must have %#x", driver.ErrProtocol, what, seals, sizeSeals)
	}
	// The pages of hugetlbfs can run out at the first access, which is a SIGBUS as well.
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return size, file, os.NewSyscallError("fstatfs", err)
	}
	if fs.Type != unix.TMPFS_MAGIC {
		return size, file, fmt.Errorf("%w: a %s that is not plain memory (file system %#x)", driver.ErrProtocol, what, fs.Type)
	}
	return size, file, nil
}
