package manager

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// localSocket is a Unix socket by which the first rank of a host hands a line to the other ranks there. The kernel says
// whose process is at the other end: both sides talk to the same user only. A name that another user has taken, or a rank
// that is in another name space, costs a question to the manager, no more.
type localSocket struct{ l *net.UnixListener }

// localTimeout is how long one neighbour may take to ask for the text.
const localTimeout = 5 * time.Second

func openLocal(name string) (*localSocket, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return nil, err
	}
	return &localSocket{l}, nil
}

func (d *localSocket) close() { d.l.Close() }

// serve gives the text to count neighbours and closes the socket. It blocks until it has, or until none has come for
// localTimeout.
func (d *localSocket) serve(text string, count int) {
	defer d.close()
	for count > 0 {
		_ = d.l.SetDeadline(time.Now().Add(localTimeout))
		c, err := d.l.AcceptUnix()
		if err != nil {
			return // a rank that is missing asks the manager
		}
		if ours(c) == nil {
			_ = c.SetDeadline(time.Now().Add(localTimeout))
			_, _ = io.WriteString(c, text+"\n") // a rank that does not read it asks the manager
			count--
		}
		c.Close()
	}
}

// readLocal gets the line from the first rank of this host.
func readLocal(ctx context.Context, name string) (string, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", name)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := ours(c.(*net.UnixConn)); err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { c.Close() })()
	_ = c.SetDeadline(time.Now().Add(localTimeout))
	line, err := bufio.NewReaderSize(io.LimitReader(c, maxValue+1), maxValue+1).ReadSlice('\n')
	if err != nil {
		return "", err
	}
	return string(line[:len(line)-1]), nil
}

// ours fails unless the other end of c belongs to this user.
func ours(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	if failed == nil && int(peer.Uid) != os.Geteuid() {
		failed = errors.New("it belongs to another user")
	}
	return failed
}
