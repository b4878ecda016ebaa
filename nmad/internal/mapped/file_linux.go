package mapped

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// must are the seals without which no memory of a peer is mapped: its size can then not
// change any more.
const must = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW

// Create makes size bytes, zero all of them, of which the kernel provides a page when it is touched. Further
// seals may be set by more. It has no name in any file system, name is for people, and vanishes with the
// last process that holds it.
func Create(name string, size uint64, more int) (fd int, err error) {
	// Beyond this limit the kernel sends a signal besides, which may end the process.
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
		err = seal(fd, must|more)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// seal sets further seals.
func seal(fd, seals int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	return os.NewSyscallError("fcntl", err)
}

// Check says how large the memory is that a peer has given, and the kernel's number of it; what is not what Create makes
// is an ErrProtocol. Any other error is that the kernel does not tell. what names it in the error.
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
	if err != nil || seals&must != must {
		return size, file, fmt.Errorf("%w: a %s with seals %#x, must have %#x", driver.ErrProtocol, what, seals, must)
	}
	// Pages of hugetlbfs can run out at the first touch, which is a SIGBUS again.
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return size, file, os.NewSyscallError("fstatfs", err)
	}
	if fs.Type != unix.TMPFS_MAGIC {
		return size, file, fmt.Errorf("%w: a %s that is not plain memory (file system %#x)", driver.ErrProtocol, what, fs.Type)
	}
	return size, file, nil
}
