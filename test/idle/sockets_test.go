package idle

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// pending is a receive: a task that waits for a byte from a TCP connection.
type pending struct {
	task  pioman.Task
	watch pioman.Descriptor
	in    int // the socket it waits at
	out   int // the peer's
	got   atomic.Int64
}

// pend opens n TCP connections over the loopback interface with a receive pending on each. check
// sends to some of them and waits for the bytes; free ends all.
func pend(e *pioman.Engine, n int) (check func() error, free func(), err error) {
	all := make([]*pending, 0, n)
	end := func() {
		for _, r := range all {
			_ = r.task.Cancel()
			r.watch.Close()
			e.Done()
			unix.Close(r.in)
			unix.Close(r.out)
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(listener)
	if err := unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, nil, err
	}
	if err := unix.Listen(listener, 128); err != nil {
		return nil, nil, err
	}
	at, err := unix.Getsockname(listener)
	if err != nil {
		return nil, nil, err
	}
	for range n {
		r := &pending{}
		if r.out, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
			return nil, nil, err
		}
		if err = unix.Connect(r.out, at); err != nil { // completes without an accept: there is a backlog
			unix.Close(r.out)
			return nil, nil, err
		}
		if r.in, _, err = unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC); err != nil {
			unix.Close(r.out)
			return nil, nil, err
		}
		all = append(all, r)
		e.Need()
		r.task.Init("receive", r.poll, pioman.Repeat)
		if err = r.watch.Open(e, r.in); err != nil {
			return nil, nil, err
		}
		if err = r.task.On(&r.watch, pioman.Readable); err != nil {
			return nil, nil, err
		}
		if err = e.Submit(&r.task); err != nil {
			return nil, nil, err
		}
	}
	return func() error { return checkAll(all) }, end, nil
}

func (r *pending) poll(*pioman.Task) pioman.Status {
	var b [8]byte
	n, err := unix.Read(r.in, b[:])
	if n <= 0 {
		if err == unix.EAGAIN || err == unix.EINTR {
			return pioman.Again
		}
		return pioman.Done // lost: check says so
	}
	r.got.Add(int64(n))
	return pioman.Moved
}

// checkAll sends a byte to some receives, which sleep, and waits until they have it.
func checkAll(all []*pending) error {
	const patience = 30 * time.Second
	for i := 0; i < len(all); i += len(all)/10 + 1 {
		r := all[i]
		if _, err := unix.Write(r.out, []byte{1}); err != nil {
			return fmt.Errorf("send to receive %d: %w", i, err)
		}
		for began := time.Now(); r.got.Load() == 0; marcel.Sleep(time.Millisecond) {
			if time.Since(began) > patience {
				return fmt.Errorf("receive %d of a process that was idle has nothing after %v", i, patience)
			}
		}
	}
	return nil
}
