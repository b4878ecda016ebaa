//go:build linux

package drivertest

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
)

// script is a case: what the two ends of a link do, at the same time. It must leave nothing on the way in either
// direction.
type script struct {
	name  string
	left  func(*side) error
	right func(*side) error
	ends  bool // one of the sides closes the link itself
}

// Run holds a driver to its promises. The second processes run the same test, so it must be called directly from a test
// function, once.
func Run(t *testing.T, d driver.Driver) {
	if o, ok := mine(t.Name()); ok {
		for _, s := range append(scripts(), endless()...) {
			if s.name == o.Script {
				if err := obey(d, o, func(e *side) error { return play(e, s, s.right) }); err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				return
			}
		}
		t.Fatalf("no script %q", o.Script)
	}
	parent := t // second processes are started in its name
	RunInside(t, d)
	t.Run("two processes", func(t *testing.T) {
		for _, s := range scripts() {
			t.Run(s.name, func(t *testing.T) {
				clean(t)
				e, c := withChild(t, parent, d, s.name, -1)
				err := play(e, s, s.left)
				if err != nil {
					_ = e.Close() // so that the other does not wait in vain
				}
				if cerr := c.wait(); cerr != nil {
					t.Error(cerr)
				}
				if err != nil {
					t.Errorf("left: %v", err)
				}
			})
		}
		t.Run("killed", func(t *testing.T) { killed(t, parent, d) })
	})
	RunEndpoints(t, d)
}

// RunEndpoints is the part of Run that is about opening, linking and refusing: all there is to say of a driver whose
// links are those of others.
func RunEndpoints(t *testing.T, d driver.Driver) {
	t.Run("refused", func(t *testing.T) { refusals(t, d) })
	t.Run("endpoint", func(t *testing.T) { endpoints(t, d) })
	t.Run("crowd", func(t *testing.T) { crowds(t, d) })
}

// RunInside is the part of Run that needs neither a second process nor the exchange of secrets: for drivers that exist
// within one process only. It leaves out the tests of these names.
func RunInside(t *testing.T, d driver.Driver, except ...string) {
	t.Run("one process", func(t *testing.T) {
		for _, s := range scripts() {
			t.Run(s.name, func(t *testing.T) {
				clean(t)
				a, b := pair(t, d)
				both(t, func() error { return play(a, s, s.left) }, func() error { return play(b, s, s.right) })
			})
		}
	})
	for _, test := range []struct {
		name string
		run  func(*testing.T, driver.Driver)
	}{{"many links", manyLinks}, {"close while inside", closeWhileInside}, {"no allocation", noAllocation}} {
		if !slices.Contains(except, test.name) {
			t.Run(test.name, func(t *testing.T) { test.run(t, d) })
		}
	}
}

// play runs one side of a script to its end.
func play(e *side, s script, run func(*side) error) error {
	err := run(e)
	switch {
	case errors.Is(err, errDone):
		err = nil
	case err == nil && !s.ends:
		err = e.done()
	}
	if s.ends {
		return errors.Join(err, e.Close())
	}
	if err == nil {
		err = e.Close()
	}
	return err
}

// both runs the two sides and reports either's error.
func both(t *testing.T, left, right func() error) {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- right() }()
	if err := left(); err != nil {
		t.Errorf("left: %v", err)
	}
	if err := <-result; err != nil {
		t.Errorf("right: %v", err)
	}
}

// config is rank of a job of two, with a secret of its own for each test.
func config(tb testing.TB, rank int) driver.Config {
	return driver.Config{Rank: rank, Size: 2, Job: "drivertest", Secret: []byte("secret of " + tb.Name())}
}

// open opens an endpoint for the time of the test.
func open(tb testing.TB, d driver.Driver, c driver.Config) driver.Endpoint {
	tb.Helper()
	ep, err := d.Open(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := ep.Close(); err != nil {
			tb.Errorf("closing an endpoint: %v", err)
		}
	})
	return ep
}

// pair links two endpoints of this process.
func pair(tb testing.TB, d driver.Driver) (left, right *side) {
	tb.Helper()
	a, b := open(tb, d, config(tb, 0)), open(tb, d, config(tb, 1))
	l, r := link(tb, a, b)
	return &side{Link: l}, &side{Link: r}
}

// link makes one link from b, of rank 1, to a, of rank 0. They are closed with the test, if not before.
func link(tb testing.TB, a, b driver.Endpoint) (left, right driver.Link) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	type dialed struct {
		l   driver.Link
		err error
	}
	result := make(chan dialed, 1)
	go func() {
		l, err := b.Dial(ctx, 0, a.Addr())
		if err != nil {
			cancel()
		}
		result <- dialed{l, err}
	}()
	rank, left, aerr := a.Accept(ctx)
	r := <-result
	if aerr != nil || r.err != nil {
		tb.Fatalf("accept: %v; dial: %v", aerr, r.err)
	}
	if rank != 1 {
		tb.Fatalf("rank %d dialed, accepted as rank %d", 1, rank)
	}
	tb.Cleanup(func() { _, _ = left.Close(), r.l.Close() })
	return left, r.l
}

// withChild starts a second process that runs a script, and links to it.
func withChild(t, parent testing.TB, d driver.Driver, name string, cpu int, files ...*os.File) (*side, *child) {
	t.Helper()
	o := order{Script: name, Config: config(t, 1), CPU: cpu}
	_, _ = rand.Read(o.Config.Secret)
	mine := o.Config
	mine.Rank = 0
	ep := open(t, d, mine)
	o.Addr = ep.Addr()
	c, err := start(parent, o, files...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	_, l, err := ep.Accept(ctx)
	if err != nil {
		c.kill()
		t.Fatalf("%v\n%s", err, indent(c.out.String()))
	}
	t.Cleanup(func() { _ = l.Close() })
	return &side{Link: l}, c
}
