package door

import (
	"container/list"
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

// Receive finds out which process is at the other end of conn and makes a link of it. It
// owns conn, which ends after hello.Patience. It tells v how far the exchange is. A nil link
// and nil error: nothing to hand on.
type Receive func(conn net.Conn, v *Visitor) (rank int, l driver.Link, err error)

// Door is a listener with a goroutine behind it. Safe for concurrent use.
//
// A connection takes a seat until its process has proved that it belongs to the job, or has
// gone. While all seats are taken the door gives the seat of a stranger to the next
// connection: of those from the address that has the most, the one that has sat there the
// longest, if that is longer than settled. So silent strangers do not keep the processes of
// the job out, and many of these at once only take turns.
type Door struct {
	name    string // of the driver
	ln      net.Listener
	receive Receive
	ready   chan arrival
	done    chan struct{}
	left    chan struct{} // a seat is free; room for one
	seats   int
	wg      sync.WaitGroup

	mu        sync.Mutex // below: everything after it
	closed    bool
	inside    map[*Visitor]struct{}
	strangers list.List      // of *Visitor: those that have a seat, in the order of their arrival
	from      map[string]int // how many of these there are, by address
	refused   int
	last      error
}

type arrival struct {
	rank int
	link driver.Link
}

// Visitor is a connection that was accepted.
type Visitor struct {
	door *Door
	conn net.Conn
	from string // its address, without a port
	came time.Time
	late *limit.Limit

	seat *list.Element // nil: it has none any more; guarded by Door.mu
}

const (
	// patience is how long a stranger has to say its first words: a process of the job sends them
	// as soon as it is connected.
	patience = 3 * time.Second
	// settled is how long a stranger has its seat at least: long enough for an exchange while
	// many others are under way.
	settled = 250 * time.Millisecond
)

// New makes a door; it owns ln from here on. Listen starts it.
func New(name string, ln net.Listener, receive Receive) *Door {
	return &Door{
		name: name, ln: ln, receive: receive, seats: seats(),
		ready: make(chan arrival), done: make(chan struct{}), left: make(chan struct{}, 1),
		inside: map[*Visitor]struct{}{}, from: map[string]int{},
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
				d.evict(0)
				continue
			}
		}
		v := d.enter(conn)
		if v == nil {
			_ = conn.Close()
			return
		}
		go d.attend(v)
	}
}

// enter gives conn a seat, for which it may have to wait, and registers it, so that Close can end
// what goes on with it. Nil: the door is closed.
func (d *Door) enter(conn net.Conn) *Visitor {
	v := &Visitor{door: d, conn: conn, from: host(conn.RemoteAddr()), came: time.Now()}
	for {
		d.mu.Lock()
		if d.closed {
			d.mu.Unlock()
			return nil
		}
		if d.strangers.Len() < d.seats && sit(d, max(seats(), d.seats)) {
			break
		}
		crowded := d
		if d.strangers.Len() < d.seats {
			crowded = fullest(d)
		}
		d.mu.Unlock()
		if crowded.evict(settled) {
			continue
		}
		select {
		case <-d.left:
		case <-time.After(settled / 10):
		case <-d.done:
			return nil
		}
	}
	defer d.mu.Unlock()
	v.seat = d.strangers.PushBack(v)
	d.from[v.from]++
	d.inside[v] = struct{}{}
	d.wg.Add(1)
	return v
}

// evict ends the exchange with a stranger that has had its seat for that long, if there is one.
func (d *Door) evict(after time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	most := 0
	for _, n := range d.from {
		most = max(most, n)
	}
	for e := d.strangers.Front(); e != nil; e = e.Next() {
		v := e.Value.(*Visitor)
		if time.Since(v.came) < after {
			return false
		}
		if d.from[v.from] == most {
			d.stand(v)
			_ = v.conn.SetDeadline(limit.Past)
			return true
		}
	}
	return false
}

// stand takes the seat of v, if it has one. Under mu.
func (d *Door) stand(v *Visitor) {
	if v.seat == nil {
		return
	}
	d.strangers.Remove(v.seat)
	v.seat = nil
	rise(d)
	if d.from[v.from]--; d.from[v.from] == 0 {
		delete(d.from, v.from)
	}
	select {
	case d.left <- struct{}{}:
	default:
	}
}

// Heard says that the process has spoken: from now on it has hello.Patience.
func (v *Visitor) Heard() {
	v.late.Stop()
	v.late = limit.Bound(v.conn, hello.Patience)
}

// Proved says that the process has proved that it belongs to the job: it takes no seat any more.
func (v *Visitor) Proved() {
	v.door.mu.Lock()
	defer v.door.mu.Unlock()
	v.door.stand(v)
}

func (d *Door) attend(v *Visitor) {
	defer d.wg.Done()
	v.late = limit.Bound(v.conn, patience)
	from := v.conn.RemoteAddr().String()
	rank, l, err := d.receive(v.conn, v)
	v.late.Stop()
	d.mu.Lock()
	d.stand(v)
	delete(d.inside, v)
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

// host is an address without its port.
func host(a net.Addr) string {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.IP.String()
	}
	return a.Network()
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
// goroutines. Links that were not accepted are closed. Calling it again does nothing.
func (d *Door) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	close(d.done)
	for v := range d.inside {
		// Not Close: the exchange owns it, and may just be taking its descriptor over.
		_ = v.conn.SetDeadline(limit.Past)
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
