package acceptor

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
type Receive func(conn net.Conn, v *Incoming) (rank int, l driver.Link, err error)

// Acceptor is a listener with a goroutine behind it. Safe for concurrent use.
//
// A connection takes a slot until its process has proved that it belongs to the job, or the connection
// has ended. While all slots are taken, the next connection gets the slot of one that is unproven: from the
// address that has the most slots, of the connection that has had its slot for the longest time, if that is longer than
// leastTime. So silent connections do not keep the processes of the job out, and many of these at once only wait
// for one another.
type Acceptor struct {
	name    string // of the driver
	ln      net.Listener
	receive Receive
	ready   chan arrival
	done    chan struct{}
	freed   chan struct{} // a slot is free; room for one
	slots   int
	wg      sync.WaitGroup

	mu       sync.Mutex // below: everything after it
	closed   bool
	inside   map[*Incoming]struct{}
	unproven list.List      // of *Incoming: those that have a slot, in the order of their arrival
	from     map[string]int // how many of these there are, by address
	refused  int
	last     error
}

type arrival struct {
	rank int
	link driver.Link
}

// Incoming is a connection that was accepted.
type Incoming struct {
	acceptor *Acceptor
	conn     net.Conn
	from     string // its address, without a port
	came     time.Time
	late     *limit.Limit

	slot *list.Element // nil: it has none any more; guarded by Acceptor.mu
}

const (
	// helloTimeout is how long a connection may take to bring the hello: a process of the job sends it
	// as soon as it is connected.
	helloTimeout = 3 * time.Second
	// leastTime is how long a connection has its slot at least: long enough for an exchange while
	// many others are under way.
	leastTime = 250 * time.Millisecond
)

// New makes an acceptor; it owns ln from here on. Listen starts it.
func New(name string, ln net.Listener, receive Receive) *Acceptor {
	return &Acceptor{
		name: name, ln: ln, receive: receive, slots: maxSlots(),
		ready: make(chan arrival), done: make(chan struct{}), freed: make(chan struct{}, 1),
		inside: map[*Incoming]struct{}{}, from: map[string]int{},
	}
}

// Listen starts to listen. Called once, when what receive uses is complete.
func (d *Acceptor) Listen() {
	d.wg.Add(1)
	go d.listen()
}

func (d *Acceptor) listen() {
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
		v := d.admit(conn)
		if v == nil {
			_ = conn.Close()
			return
		}
		go d.serve(v)
	}
}

// admit gives conn a slot, for which it may have to wait, and registers it, so that Close can end
// its exchange. Nil: the acceptor is closed.
func (d *Acceptor) admit(conn net.Conn) *Incoming {
	v := &Incoming{acceptor: d, conn: conn, from: host(conn.RemoteAddr()), came: time.Now()}
	for {
		d.mu.Lock()
		if d.closed {
			d.mu.Unlock()
			return nil
		}
		if d.unproven.Len() < d.slots && takeSlot(d, max(maxSlots(), d.slots)) {
			break
		}
		crowded := d
		if d.unproven.Len() < d.slots {
			crowded = mostCrowded(d)
		}
		d.mu.Unlock()
		if crowded.evict(leastTime) {
			continue
		}
		select {
		case <-d.freed:
		case <-time.After(leastTime / 10):
		case <-d.done:
			return nil
		}
	}
	defer d.mu.Unlock()
	v.slot = d.unproven.PushBack(v)
	d.from[v.from]++
	d.inside[v] = struct{}{}
	d.wg.Add(1)
	return v
}

// evict ends the exchange of an unproven connection that has had its slot for that long, if there is one.
func (d *Acceptor) evict(after time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	most := 0
	for _, n := range d.from {
		most = max(most, n)
	}
	for e := d.unproven.Front(); e != nil; e = e.Next() {
		v := e.Value.(*Incoming)
		if time.Since(v.came) < after {
			return false
		}
		if d.from[v.from] == most {
			d.freeSlot(v)
			_ = v.conn.SetDeadline(limit.Past)
			return true
		}
	}
	return false
}

// freeSlot frees the slot of v, if it has one. Under mu.
func (d *Acceptor) freeSlot(v *Incoming) {
	if v.slot == nil {
		return
	}
	d.unproven.Remove(v.slot)
	v.slot = nil
	giveSlot(d)
	if d.from[v.from]--; d.from[v.from] == 0 {
		delete(d.from, v.from)
	}
	select {
	case d.freed <- struct{}{}:
	default:
	}
}

// Heard says that the hello has come: from now on the exchange may take hello.Patience.
func (v *Incoming) Heard() {
	v.late.Stop()
	v.late = limit.Bound(v.conn, hello.Patience)
}

// Proved says that the process has proved that it belongs to the job: it needs no slot any more.
func (v *Incoming) Proved() {
	v.acceptor.mu.Lock()
	defer v.acceptor.mu.Unlock()
	v.acceptor.freeSlot(v)
}

func (d *Acceptor) serve(v *Incoming) {
	defer d.wg.Done()
	v.late = limit.Bound(v.conn, helloTimeout)
	from := v.conn.RemoteAddr().String()
	rank, l, err := d.receive(v.conn, v)
	v.late.Stop()
	d.mu.Lock()
	d.freeSlot(v)
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

func (d *Acceptor) remember(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused++
	d.last = err
}

// Done is closed by Close.
func (d *Acceptor) Done() <-chan struct{} { return d.done }

// Accept waits for the next link. Connections of processes that do not belong to the job
// do not end it; but if ctx ends first, the
// error says how many there were, and wraps the reason why the last one was refused.
func (d *Acceptor) Accept(ctx context.Context) (int, driver.Link, error) {
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
		return -1, nil, fmt.Errorf("%s: accept: no process came: %w", d.name, context.Cause(ctx))
	}
	return -1, nil, fmt.Errorf("%s: accept: %w; turned away before: %d, the last: %w", d.name, context.Cause(ctx), d.refused, d.last)
}

// Close stops listening, ends the exchanges under way and waits for their
// goroutines. Links that were not accepted are closed. Calling it again does nothing.
func (d *Acceptor) Close() error {
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
