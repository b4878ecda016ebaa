package pio

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// File is anything else that has a descriptor: a pipe, a terminal, a device, or a
// regular file. Its methods are those of os.File, for threads and plain goroutines;
// a caller that has to wait blocks no thread but itself. Errors are *fs.PathError, io.EOF
// excepted; both net.ErrClosed and os.ErrClosed are found in that of a closed file.
//
// What epoll can watch (pipes, terminals) is non-blocking and has deadlines. A regular
// file has none; disk.go says how it is read and written. Its Read and Write
// use the position of the open file, which duplicates share; they take turns.
//
// A File that is dropped without Close stays open.
type File struct {
	d    descriptor
	name string
	disk bool // epoll cannot watch it

	seek marcel.Mutex   // disk: held while a call reads or writes at the position of the file
	slow [2]atomic.Bool // disk: reading, writing cannot be tried without waiting
}

var (
	_ io.ReadWriteSeeker = (*File)(nil)
	_ io.ReaderAt        = (*File)(nil)
	_ io.WriterAt        = (*File)(nil)
	_ syscall.Conn       = (*File)(nil)
)

// Open opens a file for reading.
func Open(name string) (*File, error) { return OpenFile(name, os.O_RDONLY, 0) }

// Create makes or empties a file, for reading and writing; mode 0666 before the umask.
func Create(name string) (*File, error) {
	return OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile opens a file, flag and perm as for os.OpenFile. A FIFO opens at once: for
// reading, which finds the end of the file while there is no writer; for writing it
// fails with ENXIO while there is no reader.
func OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	return usual().OpenFile(name, flag, perm)
}

// OpenFile is as the function.
func (r *Reactor) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	mode := uint32(perm.Perm())
	for _, m := range []struct {
		go_  fs.FileMode
		unix uint32
	}{{fs.ModeSetuid, unix.S_ISUID}, {fs.ModeSetgid, unix.S_ISGID}, {fs.ModeSticky, unix.S_ISVTX}} {
		if perm&m.go_ != 0 {
			mode |= m.unix
		}
	}
	fd, err := -1, error(nil)
	marcel.Blocking(func() { // a disk may have to be asked
		for {
			fd, err = unix.Open(name, flag|unix.O_CLOEXEC|unix.O_NONBLOCK, mode)
			if err != unix.EINTR {
				return
			}
		}
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return r.NewFile(fd, name)
}

// NewFile makes a File of a descriptor, which belongs to it from now on, also if it
// fails. The open file becomes non-blocking, for all that share it, unless it is a regular
// file. name is for errors.
func NewFile(fd int, name string) (*File, error) { return usual().NewFile(fd, name) }

// NewFile is as the function.
func (r *Reactor) NewFile(fd int, name string) (*File, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f := &File{name: name}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFDIR, unix.S_IFBLK:
		f.disk = true
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil && flags&unix.O_DIRECT != 0 {
		f.slow[reading].Store(true) // RWF_NOWAIT would wait for the device all the same
		f.slow[writing].Store(true)
	}
	if err := f.d.open(r, fd, !f.disk); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

// Pipe returns the two ends of a pipe.
func Pipe() (r, w *File, err error) { return usual().Pipe() }

// Pipe returns the two ends of a pipe.
func (r *Reactor) Pipe() (rd, wr *File, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	rd, err = r.NewFile(p[0], "|0")
	if err != nil {
		unix.Close(p[1])
		return nil, nil, err
	}
	wr, err = r.NewFile(p[1], "|1")
	if err != nil {
		_ = rd.Close()
		return nil, nil, err
	}
	return rd, wr, nil
}

// closedFile is the error of a closed file: that of package net and that of package os.
type closedFile struct{}

func (closedFile) Error() string { return os.ErrClosed.Error() }

func (closedFile) Is(target error) bool { return target == os.ErrClosed || target == net.ErrClosed }

// fail says what was done to which file.
func (f *File) fail(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if err == net.ErrClosed {
		err = closedFile{}
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err // as os.File's errors look
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// Name returns what the file was opened by.
func (f *File) Name() string { return f.name }

// Read implements io.Reader: at most len(p) bytes, io.EOF at the end.
func (f *File) Read(p []byte) (int, error) {
	var n int
	var err error
	if f.disk {
		n, err = f.readHere([][]byte{p})
	} else {
		n, err = f.d.read(p)
	}
	if err != nil {
		err = f.fail("read", err)
	}
	return n, err
}

// Write implements io.Writer: all of p, or an error and how much was written.
func (f *File) Write(p []byte) (int, error) {
	var n int
	var err error
	if f.disk {
		n, err = f.writeHere([][]byte{p})
	} else {
		n, err = f.d.write(p)
	}
	if err != nil {
		err = f.fail("write", err)
	}
	return n, err
}

// Readv reads into the pieces of bufs in their order: see Conn.Readv. On a regular file
// each piece is a system call of its own.
func (f *File) Readv(bufs [][]byte) (int, error) {
	read := f.d.readv
	if f.disk {
		read = f.readHere
	}
	n, err := read(bufs)
	return n, f.fail("readv", err)
}

// Writev writes all pieces of bufs in their order: see Conn.Writev. On a regular file
// each piece is a system call of its own; other writers of this File do not come
// in between.
func (f *File) Writev(bufs [][]byte) (int, error) {
	write := f.d.writev
	if f.disk {
		write = f.writeHere
	}
	n, err := write(bufs)
	return n, f.fail("writev", err)
}

// Close ends the reads and writes in progress (those of a regular file it waits for) and
// closes the file. Close again returns an error that is os.ErrClosed.
func (f *File) Close() error { return f.fail("close", f.d.close()) }

// SetDeadline sets both deadlines: see Conn.SetDeadline. os.ErrNoDeadline on a
// regular file.
func (f *File) SetDeadline(t time.Time) error { return f.setDeadlines(t, &f.d.rd, &f.d.wr) }

// SetReadDeadline is SetDeadline for reading.
func (f *File) SetReadDeadline(t time.Time) error { return f.setDeadlines(t, &f.d.rd) }

// SetWriteDeadline is SetDeadline for writing.
func (f *File) SetWriteDeadline(t time.Time) error { return f.setDeadlines(t, &f.d.wr) }

func (f *File) setDeadlines(t time.Time, sides ...*side) error {
	if f.disk {
		return f.fail("set deadline", os.ErrNoDeadline)
	}
	return f.fail("set deadline", f.d.setDeadlines(t, sides...))
}

// SyscallConn implements syscall.Conn.
func (f *File) SyscallConn() (syscall.RawConn, error) {
	if f.d.refs.closed() {
		return nil, f.fail("SyscallConn", net.ErrClosed)
	}
	return raw{&f.d, f.fail}, nil
}
