package pio

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// direction is one direction of a descriptor: reading (and accepting), or writing (and
// connecting). Its operations take turns under mu; among them at most one waits, for any bit of news.
//
//	user                              poller, timer, Close
//	1 clear ready                     a the edge, the end of the time, the close
//	2 the system call: EAGAIN         b set ready, expired or shut: Signal wakes the user
//	3 wait for any bit
//
// An edge that comes before 2 is found by it; one that comes later sets ready after 1, so that 3
// returns. An edge of which the poller learns late makes one call too many, never one too few.
type direction struct {
	mu    marcel.Mutex // its holder may use vec, and wait
	news  pioman.Completion
	limit deadline
	vec   *[maxIovecs]unix.Iovec // for Readv and Writev; the first call makes it
	event uint32                 // what epoll calls it
	armed bool                   // the kernel has been told to announce this direction; under descriptor.epoll
}

// Bits of direction.news.
const (
	ready   uint32 = 1 << iota // something may have happened since begin
	expired                    // the deadline has passed
	shut                       // the descriptor is being closed; for ever
)

// begin is called before a system call. An error says why it is too late for one.
func (dir *direction) begin() error {
	dir.news.Clear(ready)
	switch {
	case dir.news.Test(shut):
		return net.ErrClosed
	case dir.news.Test(expired):
		return os.ErrDeadlineExceeded
	}
	return nil
}
