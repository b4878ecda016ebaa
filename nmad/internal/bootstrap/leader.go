package bootstrap

import (
	"context"
	"fmt"
	"net"
)

// leader is the side of the first rank of a host other than rank 0's, if it has neighbours: a spoke towards rank 0 and a hub towards
// its host, by a Unix socket. What the hub gathers, and what it hears, goes up; what comes from rank 0 goes down. When rank 0 is gone
// the leader still tells its host of those on it; when the leader is gone, its host watches itself (spoke.watchOthers). There are no heirs.
type leader struct{ *spoke }

func newLeader(ctx context.Context, c *Control) (leader, error) {
	name := door(c.cfg.Secret, c.cfg.Rank)
	l, err := net.Listen("unix", name) // before the dial: the host may knock
	if err != nil {
		return leader{}, fmt.Errorf("listen for the other processes of this host at %s: %w", name, err)
	}
	s, err := connect(ctx, c)
	if err != nil {
		l.Close()
		return leader{}, err
	}
	c.cfg.Listener = l
	w := s.w
	s.down, err = newHub(c, func(k kind, payload []byte) {
		if w.send(k, payload) != nil {
			w.conn.Close() // the reader knows more
		}
	})
	if err != nil {
		s.w.conn.Close()
		s.unwatch()
		return leader{}, err
	}
	go s.read()
	return leader{s}, nil
}

func (l leader) ready() { l.down.ready() }

func (l leader) missing() string {
	l.down.mu.Lock()
	waiting := l.down.waiting
	l.down.mu.Unlock()
	if waiting > 0 {
		return l.down.missing()
	}
	return l.spoke.missing()
}

func (l leader) abort(reason string) {
	l.down.abort(fmt.Sprintf("rank %d: %s", l.c.cfg.Rank, reason)) // which tells rank 0, too
}

func (l leader) beat() {
	l.spoke.beat()
	l.down.beat()
}

func (l leader) announce() {
	l.spoke.announce()
	l.down.announce()
}

func (l leader) leave() {
	l.down.leave()
	l.spoke.leave()
}
