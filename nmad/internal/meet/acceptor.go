package meet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// Acceptor accepts connections, and has Serve find out which process each comes from. Set Serve and Patience, then
// call Listen once. Safe for concurrent use.
//
// A connection has a slot until its process has proved that it belongs to the job, or the connection has ended. While
// all slots of this process are taken, a new connection gets the slot of another one whose exchange then fails
// (slots.evict), once that has had it for minSlotTime. So silent connections do not keep the processes of the job out,
// and when many of these connect at once they only wait for one another.
type Acceptor struct {
	// Serve finds out which process is at the other end of conn, and goes on with it. It owns conn, which ends after
	// Patience unless it calls Incoming.Over before, and tells v how far the exchange is. Its error is why nothing
	// comes of the connection.
	Serve    func(conn net.Conn, v *Incoming) error
	Patience time.Duration // for the exchange
	Hopeless func(error)   // unless nil, it is told when the kernel refuses the call itself, again and again

	ln    net.Listener
	slots *slots             // nil: allSlots
	ctx   context.Context    // ends in Stop
	stop  context.CancelFunc // ends ctx
	wg    sync.WaitGroup     // the goroutines of listen and serve

	mu        sync.Mutex // guards what follows
	refused   int        // connections of which nothing has come
	lastError error      // of these
}

const (
	minSlotTime = 250 * time.Millisecond // a connection has its slot at least as long: enough for an exchange beside many others
	maxRefusals = 100                    // calls of accept in a row, a pause apart, after which the kernel refuses the call, not connections
	pause       = 10 * time.Millisecond  // after a call of accept that has failed: descriptors are short, most likely
)

// Listen starts to accept connections at ln, which the acceptor owns from here on. Called once.
func (d *Acceptor) Listen(ln net.Listener) {
	d.ln = ln
	d.ctx, d.stop = context.WithCancel(context.Background())
	if d.slots == nil {
		d.slots = allSlots
	}
	d.wg.Go(d.listen)
}

// listen is the goroutine that accepts connections.
func (d *Acceptor) listen() {
	for refusals := 0; ; {
		conn, err := d.ln.Accept()
		if err == nil {
			refusals = 0
			d.admit(conn)
			continue
		}
		if refusals++; kernel.Refused(err) == "" {
			refusals = 0
		}
		if refusals == maxRefusals && d.Hopeless != nil {
			d.Hopeless(kernel.Explain(err))
		}
		select {
		case <-d.Done():
			return
		case <-time.After(pause): // others may still come
			d.noteRefusal(err)
			d.slots.evict(0)
		}
	}
}

// admit waits for a slot and starts the exchange; once the acceptor is stopped it closes conn.
func (d *Acceptor) admit(conn net.Conn) {
	v := &Incoming{acceptor: d, conn: conn, from: origin{d, host(conn.RemoteAddr())}, since: time.Now()}
	for !d.slots.take(v) {
		if d.slots.evict(minSlotTime) {
			continue
		}
		select {
		case <-d.slots.freed:
		case <-time.After(minSlotTime / 10):
		case <-d.Done():
			_ = conn.Close()
			return
		}
	}
	v.limit = limit.Bound(conn, d.Patience)
	// Not Close: the exchange owns the connection, and may just be taking its descriptor over.
	v.release = context.AfterFunc(d.ctx, func() { _ = conn.SetDeadline(limit.Past) })
	d.wg.Go(func() { d.serve(v) })
}

// Proved notes that the process has proved that it belongs to the job: the connection gives up its slot.
func (v *Incoming) Proved() { v.acceptor.slots.free(v) }

// Over notes that the exchange is over: from here on the deadlines of the connection are the caller's. It returns false
// if Stop has ended the exchange, or if Over was called before.
func (v *Incoming) Over() bool {
	v.limit.Stop()
	v.acceptor.slots.free(v)
	return v.release()
}

// serve is the goroutine of one exchange.
func (d *Acceptor) serve(v *Incoming) {
	from := v.conn.RemoteAddr().String()
	err := d.Serve(v.conn, v)
	v.Over()
	if err == nil {
		return
	}
	if from != "" && from != "@" {
		err = fmt.Errorf("%s: %w", from, err)
	}
	d.noteRefusal(err)
}

// host returns an address without its port.
func host(a net.Addr) string {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.IP.String()
	}
	return a.Network()
}

// noteRefusal notes why nothing has come of a connection.
func (d *Acceptor) noteRefusal(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused++
	d.lastError = err
}

// Refused returns the number of connections of which nothing has come, and the error of the last one.
func (d *Acceptor) Refused() (n int, last error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused, d.lastError
}

// Done is closed by Stop.
func (d *Acceptor) Done() <-chan struct{} { return d.ctx.Done() }

// Stop stops listening and ends the exchanges under way. It does not wait. Calling it again does nothing.
func (d *Acceptor) Stop() error {
	d.stop()
	if err := d.ln.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Close is Stop, and waits.
func (d *Acceptor) Close() error {
	err := d.Stop()
	d.wg.Wait()
	return err
}
