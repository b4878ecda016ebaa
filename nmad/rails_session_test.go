package nmad

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// Sessions over several real rails: a long message in each direction at once uses all rails,
// and nothing is left behind.
func TestRailsOfSessions(t *testing.T) {
	for _, drivers := range []string{"tcp,tcp", "tcp,tcp,tcp,tcp", "shm,tcp", "auto,tcp", "shm,shm"} {
		t.Run(drivers, func(t *testing.T) {
			leakless(t, func() {
				j := newJob(t, 3, nil, func(c *Config) { c.Driver, c.Strategy = drivers, "split-equal" })
				each(3, func(rank int) { swap(t, j.sessions[rank], 1<<20) })
				n := strings.Count(drivers, ",") + 1
				for rank, s := range j.sessions {
					for i, r := range s.Stats().Rails {
						if used := r.BytesSent > 0 && r.BytesReceived > 0 && r.ChunksSent > 0 && r.ChunksReceived > 0; used != (i < n) {
							t.Errorf("rank %d: rail %d: %+v", rank, i, r)
						}
					}
				}
				j.close()
			})
		})
	}
}

// swap exchanges a message with each other rank.
func swap(t *testing.T, s *Session, size int) {
	type pair struct {
		out, in Request
		buf     []byte
	}
	all := make([]pair, s.Size())
	for peer := range s.Size() {
		if x := &all[peer]; peer != s.Rank() {
			x.buf = make([]byte, size)
			if err := errors.Join(s.Gate(peer).IrecvInto(&x.in, 5, x.buf), s.Gate(peer).IsendInto(&x.out, 5, pattern(size, uint64(s.Rank())))); err != nil {
				t.Error(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for peer := range s.Size() {
		if x := &all[peer]; peer != s.Rank() {
			if err := errors.Join(x.out.WaitContext(ctx), x.in.WaitContext(ctx)); err != nil {
				t.Error(err)
			} else if !bytes.Equal(x.buf, pattern(size, uint64(peer))) {
				t.Errorf("rank %d: the message of rank %d is damaged", s.Rank(), peer)
			}
		}
	}
}

// Rails that cannot be: one line says what would.
func TestWrongRails(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		text   string
	}{
		"addresses": {func(c *Config) { c.Driver, c.Listen = "tcp,tcp", "127.0.0.1:0,127.0.0.1:0,127.0.0.1:0" }, "3 addresses"},
		"rails":     {func(c *Config) { c.Driver = "tcp" + strings.Repeat(",tcp", MaxRails) }, "9 rails: give 1 to 8"},
		"name":      {func(c *Config) { c.Driver = "tcp,carrier pigeon" }, "carrier pigeon"},
		"no name":   {func(c *Config) { c.Driver = "tcp," }, "unknown driver"},
		"empty":     {func(c *Config) { c.Rails = []driver.Driver{} }, "0 rails"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Size: 2, Rank: 1, Rendezvous: "127.0.0.1:9", Secret: testSecret}
			c.change(&cfg)
			if s, err := Open(t.Context(), cfg); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, %v; want ErrConfig and %q", s, err, c.text)
			}
		})
	}
}

// A link that a rail loses is closed with all others, on both sides.
func TestRailOfASessionBreaks(t *testing.T) {
	leakless(t, func() {
		nets := []driver.Driver{&simnet.Net{Options: simnet.Options{Large: 1 << 12}}, &simnet.Net{Options: simnet.Options{Large: 1 << 12}}}
		j := newJob(t, 2, nil, func(c *Config) { c.Rails = nets })
		g := j.sessions[0].Gate(1)
		r, s := g.Irecv(1, make([]byte, 10)), g.Isend(2, make([]byte, 1<<20)) // none receives it
		links := [2]*simnet.Link{g.rails[0].link.(*simnet.Link), g.rails[1].link.(*simnet.Link)}
		in := j.sessions[1].Gate(0).Irecv(2, make([]byte, 1<<20))
		links[1].Break(driver.ErrPeerLost)
		lostWait(t, r, 1)
		if err := in.Wait(); err == nil { // it may have been over before
			err = s.Wait()
			if err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, ErrPeerLost) {
			t.Error(err)
		}
		j.close()
		for i, l := range links {
			if !l.Closed() {
				t.Errorf("the link of rail %d is open", i)
			}
		}
	})
}
