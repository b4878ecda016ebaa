//go:build linux

package drivertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// refusals: processes that do not belong together find out, and both say why in one line.
func refusals(t *testing.T, d driver.Driver) {
	for _, c := range []struct {
		name   string
		change func(*driver.Config)
		rank   int    // dialed
		says   string // in either side's error
	}{
		{"secret", func(c *driver.Config) { c.Secret = []byte("another one") }, 0, "secret"},
		{"job", func(c *driver.Config) { c.Job = "another" }, 0, "job"},
		{"no job", func(c *driver.Config) { c.Job = "" }, 0, "job"},
		{"size", func(c *driver.Config) { c.Size = 3 }, 0, "3"},
		{"rank", func(*driver.Config) {}, 1, "rank 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			mine, theirs := config(t, 0), config(t, 1)
			c.change(&theirs)
			a, b := open(t, d, mine), open(t, d, theirs)
			l, err := b.Dial(context.Background(), c.rank, a.Addr())
			oneLine(t, "Dial", err, driver.ErrRefused, c.says)
			if l != nil {
				t.Error("Dial gave a link all the same")
			}
			// Accept goes on waiting for others, and says at its end which it sent away.
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(100*time.Millisecond, cancel)
			_, l, err = a.Accept(ctx)
			oneLine(t, "Accept", err, driver.ErrRefused, c.says)
			if l != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("Accept: %v, %v", l, err)
			}
		})
	}
	t.Run("then the right one", func(t *testing.T) {
		clean(t)
		a, b := open(t, d, config(t, 0)), open(t, d, config(t, 1))
		wrong := config(t, 1)
		wrong.Secret = []byte("no")
		if _, err := open(t, d, wrong).Dial(context.Background(), 0, a.Addr()); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("a wrong secret: %v", err)
		}
		link(t, a, b)
	})
}

// endpoints: what Open, Dial, Accept and Close say when things go wrong.
func endpoints(t *testing.T, d driver.Driver) {
	t.Run("wrong configuration", func(t *testing.T) {
		for _, change := range []func(*driver.Config){
			func(c *driver.Config) { c.Secret = nil },
			func(c *driver.Config) { c.Rank = -1 },
			func(c *driver.Config) { c.Rank = 2 },
			func(c *driver.Config) { c.Size = 0 },
			func(c *driver.Config) { c.Job = strings.Repeat("x", driver.MaxJob+1) },
		} {
			c := config(t, 0)
			change(&c)
			ep, err := d.Open(c)
			oneLine(t, fmt.Sprintf("Open(%+v)", c), err, driver.ErrConfig, "")
			if ep != nil {
				t.Error("Open gave an endpoint all the same")
			}
		}
	})
	t.Run("no process there", func(t *testing.T) {
		clean(t)
		a, b := open(t, d, config(t, 0)), open(t, d, config(t, 1))
		addr := a.Addr()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		_, err := b.Dial(context.Background(), 0, addr)
		oneLine(t, "Dial", err, nil, addr)
	})
	t.Run("no address", func(t *testing.T) {
		clean(t)
		b := open(t, d, config(t, 1))
		for _, addr := range []string{"", "nonsense", "@", "127.0.0.1:99999", "\x00"} {
			_, err := b.Dial(context.Background(), 0, addr)
			oneLine(t, fmt.Sprintf("Dial(%q)", addr), err, nil, "rank 0")
		}
	})
	t.Run("canceled", func(t *testing.T) {
		clean(t)
		a, b := open(t, d, config(t, 0)), open(t, d, config(t, 1))
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, _, err := a.Accept(ctx)
		oneLine(t, "Accept", err, context.Canceled, "")
		_, err = b.Dial(ctx, 0, a.Addr())
		oneLine(t, "Dial", err, context.Canceled, "")
	})
	t.Run("closed", func(t *testing.T) {
		clean(t)
		a, b := open(t, d, config(t, 0)), open(t, d, config(t, 1))
		l, r := link(t, a, b)
		waiting := make(chan error, 1)
		go func() { _, _, err := a.Accept(context.Background()); waiting <- err }()
		time.Sleep(10 * time.Millisecond)
		if err := errors.Join(a.Close(), a.Close(), b.Close()); err != nil {
			t.Errorf("Close: %v", err)
		}
		oneLine(t, "Accept", <-waiting, driver.ErrClosed, "")
		_, _, err := a.Accept(context.Background())
		oneLine(t, "Accept", err, driver.ErrClosed, "")
		_, err = b.Dial(context.Background(), 0, a.Addr())
		oneLine(t, "Dial", err, driver.ErrClosed, "")
		// Links stay.
		both(t, func() error { return (&side{Link: l}).done() }, func() error { return (&side{Link: r}).done() })
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		var h driver.Header
		for name, call := range map[string]func() error{
			"Recv":  func() error { _, _, err := l.Recv(&h); return err },
			"Send":  func() error { _, err := l.Send(&driver.Header{}, nil, nil, false); return err },
			"Flush": func() error { _, err := l.Flush(); return err },
			"Push":  func() error { _, err := l.Push([]byte{1}); return err },
			"Pull":  func() error { _, err := l.Pull([]byte{1}); return err },
		} {
			oneLine(t, name+" after Close", call(), driver.ErrClosed, "rank 1")
		}
		if l.Arm(false) || l.Arm(true) {
			t.Error("a closed link can be armed")
		}
		l.Disarm()
	})
	t.Run("closed before accepted", func(t *testing.T) {
		clean(t)
		a, b := open(t, d, config(t, 0)), open(t, d, config(t, 1))
		l, err := b.Dial(context.Background(), 0, a.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		s := &side{Link: l}
		if _, err := s.recv(); !errors.Is(err, driver.ErrPeerLost) {
			t.Errorf("no process accepted the link, and Recv says %v", err)
		}
	})
}

// oneLine checks an error: there is one, it is want, it is one line, and says what it should.
func oneLine(t *testing.T, what string, err, want error, says string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: no error", what)
	case want != nil && !errors.Is(err, want):
		t.Errorf("%s: %v; should be: %v", what, err, want)
	case strings.ContainsAny(err.Error(), "\n\r\x00"):
		t.Errorf("%s: more than one line: %q", what, err)
	case !strings.Contains(err.Error(), says):
		t.Errorf("%s: %v; should mention %q", what, err, says)
	default:
		t.Logf("%s: %v", what, err)
	}
}
