package shm

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/sealed"
)

// createSegment makes a sealed segment of that geometry. It has no name in any
// file system and vanishes with the last process that holds it.
func createSegment(g geometry) (fd int, err error) {
	fd, err = sealed.Create("pm2-shm", g.size(), unix.F_SEAL_SEAL)
	if err != nil {
		return -1, fmt.Errorf("cannot create a shared segment of %d bytes (%w); is the tcp driver an alternative?", g.size(), err)
	}
	return fd, nil
}

// checkSegment says whether a segment that a peer sent is what it must be.
func checkSegment(fd int, g geometry) error {
	size, err := sealed.Check(fd, "segment")
	if err != nil {
		return err
	}
	if size != g.size() {
		return fmt.Errorf("%w: a segment of %d bytes, should have %d", driver.ErrProtocol, size, g.size())
	}
	return nil
}
