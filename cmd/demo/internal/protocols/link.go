package protocols

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/pioman"
)

// pair is two sessions of one job in this process, linked by a real driver.
type pair struct {
	sessions [2]*nmad.Session
	engines  [2]*pioman.Engine
}

// open links the two sessions, with base for what is not about the job itself.
func open(ctx context.Context, base nmad.Config) (*pair, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("no loopback interface: %w", err)
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	p := &pair{}
	var errs [2]error
	p.each(func(rank int) {
		p.engines[rank] = pioman.New(pioman.Config{})
		c := base
		c.Rank, c.Size, c.Rendezvous, c.Secret, c.Engine, c.Listener = rank, 2, l.Addr().String(), secret, p.engines[rank], nil
		if rank == 0 {
			c.Listener = l
		}
		p.sessions[rank], errs[rank] = nmad.Open(ctx, c)
	})
	if err := errors.Join(errs[:]...); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pair) each(f func(rank int)) {
	var wg sync.WaitGroup
	for rank := range p.sessions {
		wg.Go(func() { f(rank) })
	}
	wg.Wait()
}

func (p *pair) close() {
	p.each(func(rank int) {
		if s := p.sessions[rank]; s != nil {
			_ = s.Close() // nothing is under way
		}
		_ = p.engines[rank].Close() // not from a handler: cannot fail
	})
}
