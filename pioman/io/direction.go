package pio

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// direction is one direction of a descriptor: reading (and accepting), or writing (and connecting). Its operations take
// turns under mu; among them at most one waits, for any bit of news.
//
//	user                              poller, timer, Close
//	1 clear ready                     a the edge, the end of the time, the close
//	2 the system call: EAGAIN         b set ready, expired or shut: Signal wakes the user
//	3 wait for any bit
//
// If an edge comes before 2 the call sees its bytes; an edge that comes later sets ready after 1, so that 3
// returns. An edge that the poller reports late makes the user call once too often, never once too few.
type direction struct {
	mu    marcel.Mutex      // held during an operation
	news  pioman.Completion // of the bits below
	limit deadline
	vec   *[maxIovecs]unix.Iovec // for Readv and Writev; the first call makes it; under mu
	event uint32                 // EPOLLIN or EPOLLOUT
	armed bool                   // the epoll set has this direction; the holder of mu and of descriptor.epollLock writes it, a holder of either reads it
}

// Bits of direction.news.
const (
	ready   uint32 = 1 << iota // the kernel has reported an event since begin
	expired                    // the deadline has passed
	shut                       // the descriptor is being closed; never cleared
)

// begin is called before each system call of an operation. The error says that the deadline has passed, or that the
// descriptor is being closed.
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
