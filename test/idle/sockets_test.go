package idle

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
	pio "github.com/pm2-go/pm2/pioman/io"
)

// pending is a receive: a thread or goroutine that reads a byte from a TCP connection.
type pending struct {
	peer *pio.Conn
	got  atomic.Bool
}

// pend opens n TCP connections over the loopback interface with a receive pending on each, threads and
// goroutines by turns. check sends to some of them and waits for the bytes; free ends all.
func pend(n int) (check func() error, free func(), err error) {
	r, err := pio.NewReactor(nil)
	if err != nil {
		return nil, nil, err
	}
	var goroutines sync.WaitGroup
	var threads []marcel.Thread
	end := func() {
		_ = r.Close() // ends the receives
		for _, t := range threads {
			_ = t.Join() // no Attr.Catch: always nil
		}
		marcel.Blocking(goroutines.Wait)
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	l, err := r.Listen("tcp", ":0")
	if err != nil {
		return nil, nil, err
	}
	all := make([]*pending, n)
	for i := range all {
		x := &pending{}
		if x.peer, err = r.Dial("tcp", l.Addr().String()); err != nil {
			return nil, nil, err
		}
		c, err := l.AcceptConn()
		if err != nil {
			return nil, nil, err
		}
		receive := func() {
			if n, _ := c.Read(make([]byte, 1)); n == 1 { // else it has ended
				x.got.Store(true)
			}
		}
		if i%2 == 0 {
			threads = append(threads, marcel.Spawn(receive))
		} else {
			goroutines.Go(receive)
		}
		all[i] = x
	}
	return func() error { return checkAll(all) }, end, nil
}

// checkAll sends a byte to some receives, which sleep, and waits until they have it.
func checkAll(all []*pending) error {
	const patience = 30 * time.Second
	for i := 0; i < len(all); i += len(all)/10 + 1 {
		x := all[i]
		if _, err := x.peer.Write([]byte{1}); err != nil {
			return fmt.Errorf("send to receive %d: %w", i, err)
		}
		for began := time.Now(); !x.got.Load(); marcel.Sleep(time.Millisecond) {
			if time.Since(began) > patience {
				return fmt.Errorf("receive %d of a process that was idle has nothing after %v", i, patience)
			}
		}
	}
	return nil
}
