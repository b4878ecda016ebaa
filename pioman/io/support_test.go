package pio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
)

// TestMain runs the tests and examples; nothing may be left of them once the default
// scheduler, which the examples use, is stopped.
func TestMain(m *testing.M) {
	// The Go runtime opens its own descriptors at the first use, and keeps them: not
	// in the middle of a test that counts ours.
	if r, w, err := os.Pipe(); err == nil {
		_ = r.SetDeadline(time.Now().Add(time.Hour))
		_ = r.Close()
		_ = w.Close()
	}
	code := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := errors.Join(sched.Default().Stop(ctx), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// patience bounds what must happen, not how fast it does.
const patience = 2 * time.Minute

// rig is an engine with a reactor, and a scheduler that the engine may be hooked to. At
// the end of the test all of it is closed, and no descriptor may be left.
type rig struct {
	t      testing.TB
	engine *pioman.Engine
	sched  *sched.Scheduler
	*Reactor
}

func newRig(t testing.TB, vps int, hooked bool) *rig {
	t.Helper()
	before := descriptors(t)
	g := &rig{t: t, engine: pioman.New(pioman.Config{Name: t.Name()})}
	var err error
	if g.sched, err = sched.New(sched.Config{VPs: vps}); err != nil {
		t.Fatal(err)
	}
	stop := func() {}
	if hooked {
		if stop, err = g.engine.Attach(g.sched); err != nil {
			t.Fatal(err)
		}
	}
	if g.Reactor, err = NewReactor(g.engine); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		stop()
		if err := g.engine.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := g.sched.Stop(ctx); err != nil {
			t.Error(err)
		}
		if after := descriptors(t); after > before {
			t.Errorf("%d descriptors at the end, %d at the start", after, before)
		}
	})
	return g
}

// run runs f as a thread and waits for its end.
func (g *rig) run(f func()) { marcel.RunOn(g.sched, f) }

// modes are the ways to use a reactor; f's run runs the code that uses it.
func modes(t *testing.T, f func(t *testing.T, g *rig, run func(func()))) {
	plain := func(f func()) { f() }
	t.Run("threads", func(t *testing.T) { g := newRig(t, 2, true); f(t, g, g.run) })
	t.Run("threads of one VP", func(t *testing.T) { g := newRig(t, 1, true); f(t, g, g.run) })
	t.Run("threads, engine explicit", func(t *testing.T) { g := newRig(t, 2, false); f(t, g, g.run) })
	t.Run("goroutines", func(t *testing.T) { f(t, newRig(t, 2, true), plain) })
	t.Run("goroutines, engine explicit", func(t *testing.T) { f(t, newRig(t, 1, false), plain) })
}

// descriptors counts the open file descriptors of this process.
func descriptors(t testing.TB) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(d)
}

// ends fails the test if f does not return.
func ends(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: not finished after %v", what, patience)
	}
}

// eventually waits for something that others bring about.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v", what, patience)
		}
	}
}

// check ends the test with an error. Not for other goroutines and threads.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kinds are the connections that tests go over.
var kinds = []struct {
	name string
	pair func(t testing.TB, r *Reactor) (a, b net.Conn)
}{
	{"tcp", tcpPair},
	{"unix", unixPair},
	{"socketpair", func(t testing.TB, r *Reactor) (a, b net.Conn) {
		t.Helper()
		x, y, err := r.SocketPair()
		check(t, err)
		return x, y
	}},
	{"pipes", pipePair},
}

func tcpPair(t testing.TB, r *Reactor) (a, b net.Conn) {
	t.Helper()
	return dialed(t, r, "tcp", ":0")
}

func unixPair(t testing.TB, r *Reactor) (a, b net.Conn) {
	t.Helper()
	return dialed(t, r, "unix", socketPath(t))
}

// socketPath is short enough for a unix socket, which t.TempDir's need not be.
func socketPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pio")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func dialed(t testing.TB, r *Reactor, network, address string) (a, b net.Conn) {
	t.Helper()
	l, err := r.Listen(network, address)
	check(t, err)
	defer l.Close()
	x, err := r.Dial(network, l.Addr().String())
	check(t, err)
	y, err := l.AcceptConn()
	check(t, err)
	return x, y
}

// duplex is a connection made of two pipes.
type duplex struct {
	*Conn // reads
	out   *Conn
}

func pipePair(t testing.TB, r *Reactor) (a, b net.Conn) {
	t.Helper()
	r1, w1, err := r.Pipe()
	check(t, err)
	r2, w2, err := r.Pipe()
	check(t, err)
	return &duplex{r1, w2}, &duplex{r2, w1}
}

func (x *duplex) Write(p []byte) (int, error)        { return x.out.Write(p) }
func (x *duplex) Writev(bufs [][]byte) (int, error)  { return x.out.Writev(bufs) }
func (x *duplex) CloseWrite() error                  { return x.out.Close() }
func (x *duplex) SetWriteDeadline(t time.Time) error { return x.out.SetWriteDeadline(t) }
func (x *duplex) SetDeadline(t time.Time) (err error) {
	return errors.Join(x.Conn.SetDeadline(t), x.out.SetDeadline(t))
}
func (x *duplex) Close() error { return errors.Join(x.Conn.Close(), x.out.Close()) }
