package self

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver/internal/raw"
)

// bell is an eventfd, which others ring while its owner may close it.
type bell struct {
	mu   sync.Mutex // held for one system call
	fd   int        // does not change
	over bool       // it is closed
	call raw.Bell
}

func (b *bell) open() (err error) {
	if b.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("self: cannot create an eventfd: %w", err)
	}
	return nil
}

// none has b be no bell: nothing rings.
func (b *bell) none() { b.fd, b.over = -1, true }

// do calls f with the descriptor, unless it is closed.
func (b *bell) do(f func(fd int)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		f(b.fd)
	}
}

func (b *bell) ring()  { b.do(func(fd int) { _ = b.call.Ring(fd) }) }
func (b *bell) quiet() { b.do(b.call.Quiet) }
func (b *bell) close() { b.do(func(fd int) { _ = unix.Close(fd); b.over = true }) }
