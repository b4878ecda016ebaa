package pio

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// A deadline ends the wait in progress, and the side is of use again once it is moved.
func TestDeadline(t *testing.T) {
	overKinds(t, func(t *testing.T, a, b net.Conn) {
		p := make([]byte, 1)
		if err := a.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Error(err)
			return
		}
		n, err := a.Read(p)
		var ne net.Error
		if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &ne) || !ne.Timeout() {
			t.Errorf("%d, %v", n, err)
			return
		}
		if _, err := b.Write([]byte{7}); err != nil {
			t.Error(err)
			return
		}
		if _, err := a.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read after the deadline, with data: %v", err)
			return
		}
		if err := a.SetReadDeadline(time.Time{}); err != nil {
			t.Error(err)
			return
		}
		if n, err := a.Read(p); n != 1 || err != nil || p[0] != 7 {
			t.Errorf("%d, %v", n, err)
			return
		}
		if err := a.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Error(err)
			return
		}
		sum := 0
		for err = nil; err == nil; sum += n {
			n, err = a.Write(make([]byte, 1<<20))
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after %d bytes: %v", sum, err)
			return
		}
	})
}

// Deadlines that are moved all the time, from elsewhere, while data flows: a read either
// gets its byte or times out, and no byte is lost or comes twice.
func TestDeadlineRaces(t *testing.T) {
	bytes := 2000
	if testing.Short() {
		bytes = 300
	}
	overKinds(t, func(t *testing.T, a, b net.Conn) {
		var over atomic.Bool
		var users group
		users.start(func() {
			for i := 0; !over.Load(); i++ {
				at := time.Time{}
				switch i % 4 {
				case 0:
					at = time.Now().Add(-time.Second)
				case 1:
					at = time.Now().Add(20 * time.Microsecond)
				case 2:
					at = time.Now().Add(time.Hour)
				}
				if err := a.SetReadDeadline(at); err != nil {
					t.Error(err)
				}
				marcel.Yield()
			}
		})
		users.start(func() {
			for i := range bytes {
				if _, err := b.Write([]byte{byte(i)}); err != nil {
					t.Error(err)
				}
				if i%16 == 0 {
					marcel.Yield()
				}
			}
		})
		p := make([]byte, 1)
		for i := 0; i < bytes; {
			switch n, err := a.Read(p); {
			case err == nil && n == 1 && p[0] == byte(i):
				i++
			case n == 0 && errors.Is(err, os.ErrDeadlineExceeded):
				marcel.Yield()
			default:
				t.Errorf("byte %d: got %d bytes, %d: %v", i, n, p[0], err)
				i = bytes
			}
		}
		over.Store(true)
		users.wait()
	})
}

// An Accept ends at its deadline, and at Close, which gives the address back.
func TestListenerEnds(t *testing.T) {
	modes(t, func(t *testing.T, g *rig, run func(func())) {
		path := socketPath(t)
		ends(t, "accept", func() {
			run(func() {
				l, err := g.Listen("unix", path)
				if err != nil {
					t.Error(err)
					return
				}
				if err := l.SetDeadline(time.Now().Add(5 * time.Millisecond)); err != nil {
					t.Error(err)
				}
				if _, err := l.Accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("accept: %v", err)
				}
				if err := l.SetDeadline(time.Time{}); err != nil {
					t.Error(err)
				}
				both(func() {
					var op *net.OpError
					if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) || !errors.As(err, &op) || op.Op != "accept" || op.Addr.String() != path {
						t.Errorf("accept: %#v", err)
					}
				}, func() {
					for range 20 {
						marcel.Yield()
					}
					if err := l.Close(); err != nil {
						t.Error(err)
					}
				})
				if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the socket's file is still there: %v", err)
				}
				again, err := g.Listen("unix", path)
				if err != nil {
					t.Error(err)
					return
				}
				_ = again.Close()
			})
		})
	})
}

// A unix socket without a name gets one of the kernel's, which is no file.
func TestUnnamedListener(t *testing.T) {
	g := newRig(t, 2, true)
	l, err := g.Listen("unix", "")
	check(t, err)
	name := l.Addr().String()
	if !strings.HasPrefix(name, "@") {
		t.Errorf("listens at %q", name)
	}
	c, err := g.Dial("unix", name)
	check(t, err)
	d, err := l.AcceptConn()
	check(t, err)
	check(t, second(c.Write([]byte("x"))))
	check(t, second(d.Read(make([]byte, 1))))
	check(t, errors.Join(c.Close(), d.Close(), l.Close()))
	if _, err := g.Dial("unix", name); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("dialed, closed: %v", err)
	}
}

// bound is an address where no process listens, and none can.
func bound(t *testing.T) (address string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	check(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	check(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	sa, err := unix.Getsockname(fd)
	check(t, err)
	return netAddr("tcp", sa).String()
}

// full is a listening socket from which nothing is accepted, with no room for more: one that dials it
// waits for ever.
func full(t *testing.T) (address string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	check(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	check(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	check(t, unix.Listen(fd, 0))
	sa, err := unix.Getsockname(fd)
	check(t, err)
	for range 2 { // one in the queue is one more than none
		c, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		check(t, err)
		t.Cleanup(func() { unix.Close(c) })
		if err := unix.Connect(c, sa); err != nil && err != unix.EINPROGRESS {
			t.Fatal(err)
		}
	}
	return netAddr("tcp", sa).String()
}

func TestDial(t *testing.T) {
	address, deaf := full(t), bound(t)
	modes(t, func(t *testing.T, g *rig, run func(func())) {
		ends(t, "dial", func() {
			run(func() {
				var op *net.OpError
				late, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
				defer cancel()
				if _, err := g.DialContext(late, "tcp", address); !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &op) || op.Op != "dial" {
					t.Errorf("past the deadline: %v", err)
				}
				ctx, stop := context.WithCancelCause(context.Background())
				enough := errors.New("enough")
				both(func() {
					if _, err := g.DialContext(ctx, "tcp", address); !errors.Is(err, enough) {
						t.Errorf("canceled: %v", err)
					}
				}, func() {
					for range 20 {
						marcel.Yield()
					}
					stop(enough)
				})
				if _, err := g.DialContext(ctx, "tcp", address); !errors.Is(err, context.Canceled) && !errors.Is(err, enough) {
					t.Errorf("canceled before: %v", err)
				}
				l, err := g.Listen("tcp", ":0")
				if err != nil {
					t.Error(err)
					return
				}
				if a := l.Addr().(*net.TCPAddr); !a.IP.IsLoopback() || a.Port == 0 {
					t.Errorf("listens at %v, not on loopback", a)
				}
				c, err := g.Dial("tcp", "localhost:"+strings.Split(l.Addr().String(), ":")[1])
				if err != nil {
					t.Error(err)
				} else {
					if c.RemoteAddr().String() != l.Addr().String() || c.LocalAddr().Network() != "tcp" {
						t.Errorf("from %v to %v", c.LocalAddr(), c.RemoteAddr())
					}
					_ = c.Close()
				}
				_ = l.Close()
				if _, err := g.Dial("tcp", deaf); !errors.Is(err, unix.ECONNREFUSED) || !errors.As(err, &op) || op.Addr == nil {
					t.Errorf("no listener there: %v", err)
				}
				if _, err := g.Dial("unix", "/nowhere/at all"); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("no such socket: %v", err)
				}
				for _, wrong := range [][2]string{{"udp", ":1"}, {"tcp", "no port"}, {"tcp4", "[::1]:1"}, {"tcp", "127.0.0.1:99999"}} {
					if l, err := g.Listen(wrong[0], wrong[1]); err == nil {
						t.Errorf("listens at %v", l.Addr())
						_ = l.Close()
					}
				}
			})
		})
	})
}

// The wrapped and the original are both of use, and closing one leaves the other.
func TestWrap(t *testing.T) {
	g := newRig(t, 2, true)
	nl, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer nl.Close()
	l, err := g.WrapListener(nl.(*net.TCPListener))
	check(t, err)
	defer l.Close()
	nc, err := net.Dial("tcp", nl.Addr().String())
	check(t, err)
	c, err := g.WrapConn(nc.(*net.TCPConn))
	check(t, err)
	defer c.Close()
	if c.LocalAddr().String() != nc.LocalAddr().String() || c.RemoteAddr().String() != nc.RemoteAddr().String() {
		t.Errorf("%v to %v, the original %v to %v", c.LocalAddr(), c.RemoteAddr(), nc.LocalAddr(), nc.RemoteAddr())
	}
	check(t, nc.Close())
	g.run(func() {
		d, err := l.AcceptConn()
		if err != nil {
			t.Error(err)
			return
		}
		defer d.Close()
		p := make([]byte, 8)
		both(func() {
			if n, err := d.Read(p); string(p[:n]) != "wrapped" || err != nil {
				t.Errorf("%q: %v", p[:n], err)
			}
		}, func() {
			if _, err := c.Write([]byte("wrapped")); err != nil {
				t.Error(err)
			}
		})
	})
	r, w, err := os.Pipe()
	check(t, err)
	defer w.Close()
	f, err := g.WrapConn(r)
	check(t, err)
	defer f.Close()
	check(t, r.Close())
	go func() { _, _ = w.Write([]byte("through")) }()
	p := make([]byte, 8)
	if n, err := f.Read(p); string(p[:n]) != "through" || err != nil {
		t.Errorf("%q: %v", p[:n], err)
	}
	onDisk, err := os.Create(filepath.Join(t.TempDir(), "file"))
	check(t, err)
	defer onDisk.Close()
	for what, err := range map[string]error{
		"a pipe as a listener":       second(g.WrapListener(w)),
		"a listener as a connection": second(g.WrapConn(nl.(syscall.Conn))),
		"a connection as a listener": second(g.WrapListener(c)),
		"a closed file":              second(g.WrapConn(r)),
		"a file on a disk":           second(g.WrapConn(onDisk)),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// RawConn's Read waits as a Read does.
func TestRawConn(t *testing.T) {
	modes(t, func(t *testing.T, g *rig, run func(func())) {
		ends(t, "raw", func() {
			run(func() {
				x, y, err := g.SocketPair()
				if err != nil {
					t.Error(err)
					return
				}
				rc, err := x.SyscallConn()
				if err != nil {
					t.Error(err)
					return
				}
				both(func() {
					calls, n := 0, 0
					p := make([]byte, 8)
					err := rc.Read(func(fd uintptr) bool {
						calls++
						n, err = unix.Read(int(fd), p)
						return err != unix.EAGAIN
					})
					if n != 3 || err != nil || calls == 0 {
						t.Errorf("%d bytes in %d calls: %v", n, calls, err)
					}
				}, func() {
					for range 20 {
						marcel.Yield()
					}
					if _, err := y.Write([]byte("abc")); err != nil {
						t.Error(err)
					}
				})
				_ = x.Close()
				_ = y.Close()
				if err := rc.Control(func(uintptr) {}); !errors.Is(err, net.ErrClosed) {
					t.Errorf("control of a closed one: %v", err)
				}
			})
		})
	})
}
