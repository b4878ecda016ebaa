package proxy

import (
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Config says where a proxy stands.
type Config struct {
	Target string // where it dials on: host:port, or @name of an abstract Unix socket
	Listen string // where it listens, likewise; empty: any free port of 127.0.0.1, a new name
	Plan   Plan
}

// Proxy listens, and relays each connection to its target, byte for byte but for what its plan says. It stands between
// two processes that notice nothing: the one is told its address for that of the other. It ends connections as
// they were ended: in order on one side, in order on the other one; torn, torn.
type Proxy struct {
	cfg  Config
	ln   net.Listener
	done chan struct{}
	wg   sync.WaitGroup

	up, down atomic.Uint64 // bytes that have gone on

	mu     sync.Mutex
	shut   bool
	closed bool
	made   int // connections, ever
	live   map[*relay]struct{}
	log    []*Alteration
}

// block is how many bytes go on at once, at most.
const block = 64 << 10

// New starts a proxy. Close ends it. A wrong plan or address is a driver.ErrConfig.
func New(c Config) (*Proxy, error) {
	if err := c.Plan.check(); err != nil {
		return nil, err
	}
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
		if network(c.Target) == "unix" {
			c.Listen = "@pm2-proxy-" + cryptorand.Text()
		}
	}
	if c.Target == "" || network(c.Listen) != network(c.Target) {
		return nil, fmt.Errorf("proxy: %w: one at %q for %q: give two host:port, or two @name", driver.ErrConfig, c.Listen, c.Target)
	}
	ln, err := net.Listen(network(c.Listen), c.Listen)
	if err != nil {
		return nil, fmt.Errorf("proxy for %s: %w", c.Target, err)
	}
	p := &Proxy{cfg: c, ln: ln, done: make(chan struct{}), live: map[*relay]struct{}{}}
	p.wg.Go(p.accept)
	for i := range c.Plan.Strangers {
		p.wg.Go(func() { p.stranger(i) })
	}
	return p, nil
}

// Which dice are thrown: those of a direction of a connection, 0 and 1, or of these.
const (
	player uint64 = 2 + iota
	strangers
	scribbler
)

// dice gives each use on each connection, by its number, a sequence of its own, which depends on nothing else.
func (p *Proxy) dice(number, use uint64) *rand.Rand {
	return rand.New(rand.NewPCG(p.cfg.Plan.Seed, number<<3|use))
}

func network(addr string) string {
	if strings.HasPrefix(addr, "@") {
		return "unix"
	}
	return "tcp"
}

// Addr is where it listens.
func (p *Proxy) Addr() string { return p.ln.Addr().String() }

// Moved says how many bytes have gone on from the dialers, and how many to them.
func (p *Proxy) Moved() (up, down uint64) { return p.up.Load(), p.down.Load() }

// Log tells what the proxy has altered until now, in the order in which it began.
func (p *Proxy) Log() (all []Alteration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.log {
		b := *a
		b.Places = maps.Clone(a.Places)
		all = append(all, b)
	}
	return all
}

// Shut has it accept no more. The connections that there are go on.
func (p *Proxy) Shut() error {
	p.mu.Lock()
	p.shut = true
	p.mu.Unlock()
	if err := p.ln.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Close cuts all connections and waits until nothing is left. Calling it again does nothing.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.done)
	}
	live := maps.Clone(p.live)
	p.mu.Unlock()
	err := p.Shut()
	for r := range live {
		r.cut()
	}
	p.wg.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		conn, err := p.ln.Accept()
		if err != nil {
			p.mu.Lock()
			over := p.shut || p.closed
			p.mu.Unlock()
			if over || !p.pause(10*time.Millisecond) { // out of descriptors, most likely: others may still come
				return
			}
			continue
		}
		r := p.take(conn, func(r *relay) {
			p.made++
			r.number = p.made
		})
		p.wg.Go(r.serve)
	}
}

// take makes a relay of a connection, and has begin number or note it under mu. A proxy that is closed cuts it at once.
func (p *Proxy) take(conn net.Conn, begin func(r *relay)) *relay {
	r := &relay{p: p, over: make(chan struct{})}
	r.ends[0] = conn
	p.mu.Lock()
	begin(r)
	p.live[r] = struct{}{}
	late := p.closed
	p.mu.Unlock()
	if late {
		r.cut()
	}
	return r
}

// note keeps an alteration. Under mu.
func (p *Proxy) note(a *Alteration) { p.log = append(p.log, a) }

// pause waits; false: the proxy is closed.
func (p *Proxy) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.done:
		return false
	}
}

// stranger connects to the target, sends what no process of the job would send, and stays until the target closes the
// connection.
func (p *Proxy) stranger(i int) {
	d := p.dice(uint64(i), strangers)
	var conn net.Conn
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		var err error
		if conn, err = net.Dial(network(p.cfg.Target), p.cfg.Target); err == nil {
			break
		}
		p.mu.Lock()
		over := p.shut
		p.mu.Unlock()
		if over || !p.pause(pause) { // perhaps it does not listen yet
			return
		}
	}
	r := p.take(conn, func(*relay) { p.note(&Alteration{What: "strangers", Places: map[string]int{"stranger": 1}}) })
	r.sendInvented(d)
}

// relay is one connection, or, without a second end, one that the proxy talks on itself.
type relay struct {
	p      *Proxy
	number int

	mu      sync.Mutex
	ends    [2]net.Conn // of the dialer, of the target; nil: not yet
	severed bool

	over    chan struct{} // closed when it has ended
	edited  atomic.Bool
	heard   atomic.Int64 // when something came last, ns
	spoiled sync.Once
}

// serve relays until both directions have ended.
func (r *relay) serve() {
	p := r.p
	defer r.forget()
	plan := &p.cfg.Plan
	if plan.Play == r.number {
		p.mu.Lock()
		p.note(&Alteration{Connection: r.number, What: "play", Places: map[string]int{"stranger": 1}})
		p.mu.Unlock()
		r.sendInvented(p.dice(uint64(r.number), player))
		return
	}
	target, err := net.Dial(network(p.cfg.Target), p.cfg.Target)
	if err != nil || !r.join(target) {
		r.cut()
		return
	}
	r.heard.Store(time.Now().UnixNano())
	if plan.Last > 0 {
		late := time.AfterFunc(plan.Last, func() { r.cutFor("last") })
		defer late.Stop()
	}
	if plan.Quiet > 0 {
		p.wg.Go(r.watch)
	}
	var both sync.WaitGroup
	both.Go(func() { r.carry(0) })
	both.Go(func() { r.carry(1) })
	both.Wait()
	r.end(false)
}

// join takes the second end in; false: the relay was cut meanwhile.
func (r *relay) join(target net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.severed {
		_ = target.Close()
		return false
	}
	r.ends[1] = target
	return true
}

// forget ends the relay's part in its proxy.
func (r *relay) forget() {
	r.end(false)
	close(r.over)
	r.p.mu.Lock()
	delete(r.p.live, r)
	r.p.mu.Unlock()
}

// cut tears the connection down, on both sides.
func (r *relay) cut() { r.end(true) }

// end closes the connection on both sides; torn: what is on its way may be lost.
func (r *relay) end(torn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.severed = true
	for _, c := range r.ends {
		if t, ok := c.(*net.TCPConn); ok && torn {
			_ = t.SetLinger(0)
		}
		if c != nil {
			_ = c.Close()
		}
	}
}

// cutFor is a cut that is noted.
func (r *relay) cutFor(what string) {
	r.p.mu.Lock()
	r.p.note(&Alteration{Connection: r.number, What: what, At: r.p.up.Load(), Places: map[string]int{"connection": 1}})
	r.p.mu.Unlock()
	r.cut()
}

// watch cuts the connection once it is edited and quiet.
func (r *relay) watch() {
	quiet := r.p.cfg.Plan.Quiet
	t := time.NewTicker(max(quiet/4, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-r.over:
			return
		}
		if r.edited.Load() && time.Now().UnixNano()-r.heard.Load() > int64(quiet) {
			r.cutFor("quiet")
			return
		}
	}
}

// sendInvented sends invented bytes on the first end and reads whatever comes, until the other side closes the
// connection.
func (r *relay) sendInvented(d *rand.Rand) {
	if r.number == 0 {
		defer r.forget()
	}
	conn := r.ends[0]
	var reads sync.WaitGroup
	reads.Go(func() {
		buf := make([]byte, 4096)
		for {
			if _, err := conn.Read(buf); err != nil {
				return
			}
		}
	})
	for range d.IntN(5) {
		if _, err := conn.Write(invent(d, 1+d.IntN(1+d.IntN(2*maxEdit)))); err != nil || !r.p.pause(time.Duration(d.IntN(3))*time.Millisecond) {
			break
		}
	}
	if d.IntN(3) == 0 {
		r.cut()
	}
	reads.Wait()
}

// carry relays what one end says to the other one.
func (r *relay) carry(from int) {
	p := r.p
	in, out, moved := r.ends[from], r.ends[1-from], &p.up
	if from == 1 {
		moved = &p.down
	}
	d := p.dice(uint64(r.number), uint64(from))
	e := &editor{edits: p.cfg.Plan.of(r.number, from == 1), dice: d, note: func(a *Alteration) {
		a.Connection = r.number
		r.edited.Store(true)
		p.note(a)
	}}
	e.track.start()
	buf, ended := make([]byte, block), false
	for {
		n, fds, err := r.receive(in, buf[:e.track.chunk(len(buf), from == 0)])
		r.heard.Store(time.Now().UnixNano())
		for b := buf[:n]; ; {
			p.mu.Lock()
			n, v := e.edit(b)
			over := err != nil && len(b) == n
			if over {
				e.release()
			}
			p.mu.Unlock()
			b = b[n:]
			if ended {
				closeDescriptors(fds)
			} else {
				moved.Add(uint64(len(e.out)))
				ended = !r.send(out, e.out, fds, d)
			}
			fds, e.out = nil, e.out[:0]
			switch {
			case v.cut:
				r.cut()
				return
			case v.end && !ended:
				ended = true
				closeWrite(out)
			case v.wait > 0 && !p.pause(v.wait):
				return
			}
			if len(b) == 0 {
				break
			}
		}
		if err != nil {
			if !ended {
				closeWrite(out)
			}
			if !isEnd(err) {
				r.cut()
			}
			return
		}
	}
}

// send passes b on, and the descriptors that came with it; false: the other side takes no more.
func (r *relay) send(out net.Conn, b []byte, fds []int, d *rand.Rand) bool {
	plan := &r.p.cfg.Plan
	if len(b) == 0 && len(fds) == 0 {
		return true
	}
	if plan.Delay.For > 0 && d.Float64() < plan.Delay.Share && !r.p.pause(plan.Delay.For) {
		closeDescriptors(fds)
		return false
	}
	if len(b) > 1 && len(fds) == 0 && d.Float64() < plan.Short { // a message with descriptors comes in one piece
		n := 1 + d.IntN(len(b)-1)
		if !r.transmit(out, b[:n], fds) {
			return false
		}
		b, fds = b[n:], nil
	}
	return r.transmit(out, b, fds)
}

func closeWrite(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite() // the other side may be gone
	}
}
