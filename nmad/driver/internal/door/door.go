package door

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/hello"
	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// most is how many strangers may be inside at once; more wait in the kernel's
// queue. A job larger than that still starts, in turns.
const most = 512

// Receive finds out who is at the other end of conn and makes a link of it. It
// owns conn, which ends after hello.Patience. A nil link and nil error: nothing to hand on.
type Receive func(conn net.Conn) (rank int, l driver.Link, err error)

// Door is a listener with somebody behind it. Safe for concurrent use.
type Door struct {
	name    string // of the driver
	ln      net.Listener
	receive Receive
	ready   chan arrival
	done    chan struct{}
	room    chan struct{}
	wg      sync.WaitGroup

	mu      sync.Mutex // below: everything after it
	closed  bool
	inside  map[net.Conn]struct{}
	refused int
	last    error
}

type arrival struct {
	rank int
	link driver.Link
}

// New makes a door; it owns ln from here on. Listen starts it.
func New(name string, ln net.Listener, receive Receive) *Door {
	return &Door{
		name: name, ln: ln, receive: receive,
		ready: make(chan arrival), done: make(chan struct{}), room: make(chan struct{}, most),
		inside: map[net.Conn]struct{}{},
	}
}

// Listen starts to listen. Called once, when what receive uses is complete.
func (d *Door) Listen() {
	d.wg.Add(1)
	go d.listen()
}

func (d *Door) listen() {
	defer d.wg.Done()
	for {
		conn, err := d.ln.Accept()
		if err != nil {
			select {
			case <-d.done:
				return
			case <-time.After(10 * time.Millisecond):
				// Out of descriptors, most likely: keep trying, slowly, and say so.
				d.remember(err)
				continue
			}
		}
		select {
		case d.room <- struct{}{}:
		case <-d.done:
			_ = conn.Close()
			return
		}
		if !d.enter(conn) {
			_ = conn.Close()
			return
		}
		go d.attend(conn)
	}
}

// enter registers conn so that Close can end what goes on with it.
func (d *Door) enter(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.inside[conn] = struct{}{}
	d.wg.Add(1)
	return true
}

func (d *Door) attend(conn net.Conn) {
	defer d.wg.Done()
	defer func() { <-d.room }()
	late := limit.Bound(conn, hello.Patience)
	from := conn.RemoteAddr().String()
	rank, l, err := d.receive(conn)
	late.Stop()
	d.mu.Lock()
	delete(d.inside, conn)
	d.mu.Unlock()
	if err != nil {
		if from != "" && from != "@" {
			err = fmt.Errorf("%s: %w", from, err)
		}
		d.remember(err)
		return
	}
	if l == nil {
		return
	}
	select {
	case d.ready <- arrival{rank, l}:
	case <-d.done:
		_ = l.Close()
	}
}

func (d *Door) remember(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused++
	d.last = err
}

// Done is closed by Close.
func (d *Door) Done() <-chan struct{} { return d.done }

// Accept waits for the next link. Connections of strangers, or of processes
// that do not belong to the job, do not end it; but if ctx ends first the
// error says how many there were, and wraps the last of their reasons.
func (d *Door) Accept(ctx context.Context) (int, driver.Link, error) {
	select {
	case <-d.done:
		return -1, nil, fmt.Errorf("%s: accept: %w", d.name, driver.ErrClosed)
	default:
	}
	select {
	case a := <-d.ready:
		return a.rank, a.link, nil
	case <-d.done:
		return -1, nil, fmt.Errorf("%s: accept: %w", d.name, driver.ErrClosed)
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refused == 0 {
		return -1, nil, fmt.Errorf("%s: accept: nobody came: %w", d.name, context.Cause(ctx))
	}
	return -1, nil, fmt.Errorf("%s: accept: %w; turned away before: %d, the last: %w", d.name, context.Cause(ctx), d.refused, d.last)
}

// Close stops listening, ends the exchanges under way and waits for their
// goroutines. Links that nobody accepted are closed. Calling it again does nothing.
func (d *Door) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	close(d.done)
	for conn := range d.inside {
		// Not Close: the exchange owns it, and may just be taking its descriptor over.
		_ = conn.SetDeadline(limit.Past)
	}
	d.mu.Unlock()
	err := d.ln.Close()
	d.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// Connect dials, and sees to it that the connection obeys ctx and is given up
// after hello.Patience. stop must be called once the exchange is over.
func Connect(ctx context.Context, network, addr string) (conn net.Conn, stop func(), err error) {
	d := net.Dialer{Timeout: hello.Patience}
	conn, err = d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, nil, err
	}
	late := limit.Bound(conn, hello.Patience)
	obey := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(limit.Past) })
	return conn, func() { late.Stop(); obey() }, nil
}
