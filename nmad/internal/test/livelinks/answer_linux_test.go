package livelinks

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/test/proxy"
	"github.com/pm2-go/pm2/pioman"
)

// TestWrongAnswer: a bit is wrong in the answer to a link, in each field that its receiver insists on: there is no such
// link.
func TestWrongAnswer(t *testing.T) {
	inner, err := driver.Lookup("unix")
	if err != nil {
		t.Fatal(err)
	}
	for field, at := range map[string]string{"kind": "1", "flags": "2", "reserved": "3", "size": "18"} {
		t.Run(field, func(t *testing.T) {
			plan, err := proxy.Parse("connection=1 flip=down:#1+" + at + ":1")
			if err != nil {
				t.Fatal(err)
			}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var proxies []*proxy.Proxy
			d := proxy.Behind{Inner: inner, Tell: proxy.Through(plan, func(_ int, p *proxy.Proxy) {
				mu.Lock()
				defer mu.Unlock()
				proxies = append(proxies, p)
			})}
			errs := make([]error, 2)
			var both sync.WaitGroup
			for rank := range errs {
				both.Go(func() {
					engine := pioman.New(pioman.Config{})
					defer engine.Close()
					c := nmad.Config{Rank: rank, Size: 2, Rendezvous: ln.Addr().String(), Secret: make([]byte, 32), Engine: engine, Custom: d, Timeout: time.Minute}
					if rank == 0 {
						c.Listener = ln
					}
					var s *nmad.Session
					if s, errs[rank] = nmad.Open(context.Background(), c); errs[rank] == nil {
						_ = s.Close()
					}
				})
			}
			both.Wait()
			var why *nmad.PeerError
			if err := errs[1]; !errors.Is(err, nmad.ErrProtocol) || !errors.As(err, &why) || why.Rank != 0 {
				t.Errorf("Open of the dialer: %v, want that rank 0 broke the protocol", err)
			}
			if errs[0] == nil {
				t.Error("the listener has opened its session, and the dialer has none")
			}
			for _, p := range proxies {
				_ = p.Close()
			}
		})
	}
}
