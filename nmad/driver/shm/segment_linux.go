package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// mustSeals are without which no segment is mapped: its size can then not
// change any more, so that no access to the mapping can fail with a SIGBUS.
const mustSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW

// createSegment makes a sealed segment of that geometry. It has no name in any
// file system and vanishes with the last process that holds it.
func createSegment(g geometry) (fd int, err error) {
	fd, err = unix.MemfdCreate("pm2-shm", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("pm2-shm", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err == nil {
		if err = unix.Ftruncate(fd, int64(g.size())); err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, mustSeals|unix.F_SEAL_SEAL)
		}
		if err != nil {
			_ = unix.Close(fd)
		}
	}
	if err != nil {
		return -1, fmt.Errorf("cannot create a shared segment of %d bytes (%w); is the tcp driver an alternative?", g.size(), err)
	}
	return fd, nil
}

// checkSegment says whether a segment that a peer sent is what it must be.
func checkSegment(fd int, g geometry) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || uint64(st.Size) != g.size() {
		return fmt.Errorf("%w: a segment of %d bytes (mode %#o), should have %d", driver.ErrProtocol, st.Size, st.Mode, g.size())
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&mustSeals != mustSeals {
		return fmt.Errorf("%w: a segment with seals %#x, must have %#x", driver.ErrProtocol, seals, mustSeals)
	}
	// Pages of hugetlbfs can run out at the first touch, which is a SIGBUS again.
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil || fs.Type != unix.TMPFS_MAGIC {
		return fmt.Errorf("%w: a segment that is not plain memory (file system %#x)", driver.ErrProtocol, fs.Type)
	}
	return nil
}
