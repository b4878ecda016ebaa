//go:build linux && amd64 && !race

package syscalls

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/pioman"
	pio "github.com/pm2-go/pm2/pioman/io"
)

// programs are what this test binary is besides, by its first argument.
var programs map[string]func(args []string) error

func TestMain(m *testing.M) {
	programs = map[string]func([]string) error{"filter": filter, "job": job, "rank": rank, "threads": threads}
	if len(os.Args) < 2 || programs[os.Args[1]] == nil {
		os.Exit(m.Run())
	}
	err := programs[os.Args[1]](os.Args[2:])
	switch {
	case errors.Is(err, errNoFilter):
		os.Exit(statusNoFilter)
	case err != nil:
		fmt.Fprintln(os.Stderr, os.Args[1]+":", err)
		os.Exit(1)
	}
}

// statusNoFilter is the status of a process that may not filter its calls.
const statusNoFilter = 77

// job launches two ranks; its arguments are the networks and what rank has.
func job(args []string) error {
	j, err := launch.Start(launch.Spec{
		N: 2, Driver: args[0], Link: nmad.LinkLazy, Args: append([]string{"rank"}, args[1:]...), Guard: true, Signals: true, Grace: 100 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	return j.Wait()
}

// rank exchanges messages of all kinds with the other rank. With an argument rank 1 has that many descriptors for its
// links. Then it says which networks they are.
func rank(args []string) error {
	stop, err := pioman.Enable()
	if err != nil {
		return err
	}
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := nmad.Join(ctx)
	if err != nil {
		return err
	}
	g := s.Gate(1 - s.Rank())
	if s.Rank() == 1 { // which dials: rank 0 only receives
		if len(args) > 0 {
			if err := leave(args[0]); err != nil {
				return err
			}
		}
		if err := g.Send(3, nil); err != nil {
			return err
		}
	} else if _, err := g.Recv(3, nil); err != nil {
		return err
	}
	for _, size := range []int{1, 8 << 10, 256 << 10, 1 << 20} {
		out, in := make([]byte, size), make([]byte, size)
		out[size-1] = 7
		send, receive := g.Isend(1, out), g.Irecv(1, in)
		if err := errors.Join(send.Wait(), receive.Wait()); err != nil {
			return err
		}
		if in[size-1] != 7 {
			return fmt.Errorf("%d bytes came wrong", size)
		}
	}
	if err := lend(g); err != nil {
		return err
	}
	networks := ""
	for _, r := range g.Info().Rails {
		networks += " " + r.Network
	}
	err = s.Close()
	if err == nil {
		fmt.Println(fine + networks)
	}
	return err
}

// fine begins the line of a program that has done all of it.
const fine = "fine"

// lend sends a message in memory that the peer can read.
func lend(g *nmad.Gate) error {
	b, err := g.Alloc(64 << 10)
	if err != nil {
		return err
	}
	defer b.Release()
	b.Bytes()[0] = 7
	var receive nmad.Request
	if err := g.Post(&receive, &nmad.Operation{Kind: nmad.KindRecv, Match: nmad.Tag(2), Buf: make([]byte, 64<<10), Loan: true}); err != nil {
		return err
	}
	send := g.Start(&nmad.Operation{Match: nmad.Tag(2), Buffer: b})
	if err := receive.Wait(); err != nil {
		return err
	}
	l := receive.Loan()
	if l.Bytes()[0] != 7 {
		return errors.New("what was lent came wrong")
	}
	return errors.Join(l.Release(), send.Wait())
}

// leave leaves this process room for so many more descriptors.
func leave(room string) error {
	more, err := strconv.Atoi(room)
	if err != nil {
		return err
	}
	isOpen := func(fd int) bool {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		return err == nil
	}
	const most = 1000
	last := most
	for !isOpen(last) {
		last--
	}
	for fd := range last { // no holes
		if !isOpen(fd) {
			if _, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, fd); err != nil {
				return err
			}
		}
	}
	limit := uint64(last + 1 + more)
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit})
}

// threads has threads and sockets do what they do.
func threads([]string) error {
	stop, err := pioman.Enable()
	if err != nil {
		return err
	}
	defer stop()
	marcel.Run(func() { err = sockets() })
	if err == nil {
		fmt.Println(fine)
	}
	return err
}

func sockets() error {
	l, err := pio.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	served := marcel.Spawn(func() {
		if e := serve(l); e != nil && !errors.Is(e, net.ErrClosed) {
			fmt.Fprintln(os.Stderr, "serve:", e)
			os.Exit(1)
		}
	})
	c, err := pio.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	b := make([]byte, 8)
	for range 20 {
		if _, err = c.Write(b); err == nil {
			_, err = c.Read(b)
		}
		if err != nil {
			return err
		}
	}
	if _, err = c.Writev([][]byte{b[:4], b[4:]}); err == nil {
		_, err = c.Readv([][]byte{b[:4], b[4:]})
	}
	if err = errors.Join(err, c.CloseWrite()); err != nil {
		return err
	}
	_ = served.Join()
	p, q, err := pio.SocketPair()
	if err != nil {
		return err
	}
	_, _ = p.Close(), q.Close()
	r, w, err := pio.Pipe()
	if err != nil {
		return err
	}
	_, _ = r.Close(), w.Close()
	marcel.Sleep(time.Millisecond)
	marcel.Blocking(func() { time.Sleep(time.Millisecond) })
	return nil
}

// serve echoes one connection.
func serve(l *pio.Listener) error {
	c, err := l.AcceptConn()
	if err != nil {
		return err
	}
	defer c.Close()
	for b := make([]byte, 8); ; {
		n, err := c.Read(b)
		if n == 0 {
			return nil
		}
		if err == nil {
			_, err = c.Write(b[:n])
		}
		if err != nil {
			return err
		}
	}
}
