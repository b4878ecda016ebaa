package pio

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// Regular files, directories and block devices. The kernel calls them always readable,
// and then has the reader wait for the disk: epoll is of no use. So a transfer is
//
//  1. tried where the kernel can tell that it would wait (RWF_NOWAIT): what is in the
//     page cache costs one system call, and no wait;
//  2. else made where waiting disturbs no other thread: within marcel.Blocking: a spare LWP serves the
//     other threads of the virtual processor.
//
// An io_uring was tried for 2, and is slower: docs/decisions/how-descriptors-wait.md.

// here is the offset that stands for the position of the open file.
const here = -1

// Directions, as indices.
const (
	reading = iota
	writing
)

var directionName = [2]string{"read", "write"}

// readHere fills the pieces one after the other, from the position of the file on, up to a short read.
func (f *File) readHere(bufs [][]byte) (done int, err error) {
	if !f.d.take() {
		return 0, net.ErrClosed
	}
	defer f.d.drop()
	f.seek.Lock()
	defer f.seek.Unlock()
	for _, p := range bufs {
		if len(p) == 0 {
			continue
		}
		n, err := f.move(reading, p, here)
		done += n
		switch {
		case done > 0 && n < len(p):
			return done, nil // an error comes again at the next read
		case err != nil:
			return done, err
		case n == 0:
			return 0, io.EOF
		}
	}
	return done, nil
}

// writeHere writes all pieces at the position of the file.
func (f *File) writeHere(bufs [][]byte) (done int, err error) {
	if !f.d.take() {
		return 0, net.ErrClosed
	}
	defer f.d.drop()
	f.seek.Lock()
	defer f.seek.Unlock()
	for _, p := range bufs {
		n, err := f.moveAll(writing, p, here)
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// ReadAt implements io.ReaderAt: all of p, from byte off on, or an error. For regular files.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return f.at(reading, p, off) }

// WriteAt implements io.WriterAt. For regular files.
func (f *File) WriteAt(p []byte, off int64) (int, error) { return f.at(writing, p, off) }

func (f *File) at(way int, p []byte, off int64) (n int, err error) {
	op := directionName[way]
	switch {
	case off < 0:
		return 0, f.fail(op, errNegative)
	case !f.disk:
		return 0, f.fail(op, os.NewSyscallError("p"+op, unix.ESPIPE))
	case !f.d.take():
		return 0, f.fail(op, net.ErrClosed)
	}
	defer f.d.drop()
	n, err = f.moveAll(way, p, off)
	if err != nil {
		err = f.fail(op, err)
	}
	return n, err
}

var errNegative = errors.New("negative offset")

// moveAll goes on until all of p is moved.
func (f *File) moveAll(way int, p []byte, off int64) (done int, err error) {
	for done < len(p) {
		from := off
		if off != here {
			from += int64(done)
		}
		n, err := f.move(way, p[done:], from)
		done += n
		switch {
		case err != nil:
			return done, err
		case n == 0 && way == reading:
			return done, io.EOF
		case n == 0:
			return done, io.ErrUnexpectedEOF
		}
	}
	return done, nil
}

// move makes one transfer, which may be a short one.
func (f *File) move(way int, p []byte, off int64) (int, error) {
	for !f.slow[way].Load() {
		n, errno := moveAtOnce(way, f.d.fd, p, off)
		switch errno {
		case 0:
			return n, nil
		case unix.EINTR:
			continue
		case unix.EOPNOTSUPP, unix.ENOSYS:
			f.slow[way].Store(true) // the file system cannot tell
			continue
		case unix.EAGAIN:
			return f.moveAside(way, p, off)
		default:
			return 0, os.NewSyscallError(directionName[way], errno)
		}
	}
	return f.moveAside(way, p, off)
}

// moveAside makes one transfer that may wait for the disk, within marcel.Blocking.
func (f *File) moveAside(way int, p []byte, off int64) (n int, err error) {
	var errno syscall.Errno
	marcel.Blocking(func() {
		for {
			n, errno = moveWaiting(way, f.d.fd, p, off)
			if errno != unix.EINTR {
				return
			}
		}
	})
	if errno != 0 {
		return 0, os.NewSyscallError(directionName[way], errno)
	}
	return n, nil
}

// Seek implements io.Seeker. It waits for a Read or Write in progress.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	if !f.d.take() {
		return 0, f.fail("seek", net.ErrClosed)
	}
	defer f.d.drop()
	if f.disk {
		f.seek.Lock()
		defer f.seek.Unlock()
	}
	n, err := unix.Seek(f.d.fd, offset, whence)
	return max(n, 0), f.fail("seek", err)
}

// Sync returns once what was written is on the disk.
func (f *File) Sync() error {
	return f.fail("sync", f.d.control(func(fd int) (err error) {
		marcel.Blocking(func() {
			for {
				if err = unix.Fsync(fd); err != unix.EINTR {
					return
				}
			}
		})
		return err
	}))
}
