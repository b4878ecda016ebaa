package faults

import (
	"context"
	"errors"
	"time"

	"github.com/pm2-go/pm2/nmad"
)

// hanging is requests that end only by what happens to a peer.
type hanging struct {
	t     *traffic
	all   []pending
	probe []chan error
	stop  context.CancelFunc
	began time.Time
}

type pending struct {
	peer int
	what string
	r    *nmad.Request
	buf  []byte

	noted bool // how it has ended
}

// hang starts them: a receive from each peer, a probe, and, to a victim that will be lost, synchronous sends.
func (t *traffic) hang() *hanging {
	h := &hanging{t: t, began: time.Now(), probe: make([]chan error, t.p.Size)}
	var ctx context.Context
	ctx, h.stop = context.WithCancel(context.Background())
	for peer := range t.p.Size {
		if peer == t.s.Rank() {
			continue
		}
		g := t.s.Gate(peer)
		buf := make([]byte, 100)
		h.all = append(h.all, pending{peer: peer, what: "recv", r: g.Irecv(neverTag, buf), buf: buf})
		if peer == t.p.Victim && t.p.loses() {
			h.all = append(h.all, pending{peer: peer, what: "ssend", r: g.Start(&nmad.Operation{Match: nmad.Tag(orphanTag), Buf: make([]byte, 10), Sync: true})})
			h.all = append(h.all, pending{peer: peer, what: "send", r: g.Isend(orphanTag, make([]byte, 1<<20))})
		}
		h.probe[peer] = make(chan error, 1)
		go func() {
			_, err := g.Probe(ctx, nmad.Tag(neverTag))
			h.probe[peer] <- err
		}()
	}
	return h
}

// lose waits until those that have to do with a peer have failed.
func (h *hanging) lose(peer int) {
	for i := range h.all {
		x := &h.all[i]
		if x.peer != peer {
			continue
		}
		x.noted = true
		if !h.t.b.failed(x.what, peer, h.began, x.r.Wait()) {
			h.t.b.bad("a %s that nothing answers has succeeded, with rank %d", x.what, peer)
		}
	}
	h.t.b.failed("probe", peer, h.began, <-h.probe[peer])
	h.probe[peer] = nil
}

// end takes back what can be taken back; closed says that the session is closed, so that everything has ended.
func (h *hanging) end(closed bool) {
	h.stop()
	for peer, c := range h.probe {
		if c != nil {
			if err := <-c; !errors.Is(err, context.Canceled) && !errors.Is(err, nmad.ErrClosed) {
				h.ended("probe", peer, err)
			}
			h.probe[peer] = nil
		}
	}
	for i := range h.all {
		x := &h.all[i]
		if x.noted {
			continue
		}
		if !closed && x.r.Cancel() {
			h.t.b.guard(x.buf, "canceled")
			x.noted = true
			continue
		}
		if done, _ := x.r.Test(); closed && !done {
			h.t.b.bad("after Close a %s with rank %d is under way", x.what, x.peer)
			continue
		} else if !done {
			continue // a send that Close ends
		}
		x.noted = true
		if err := x.r.Wait(); !errors.Is(err, nmad.ErrClosed) && !errors.Is(err, nmad.ErrCanceled) {
			h.ended(x.what, x.peer, err)
		}
	}
}

// ended notes how a request has ended; that its peer has left in good order is no fault.
func (h *hanging) ended(what string, peer int, err error) {
	if lost := (*nmad.PeerError)(nil); errors.As(err, &lost) && lost.Rank == peer && leaves(err) {
		return
	}
	if !h.t.b.failed(what+" (hanging)", peer, h.began, err) {
		h.t.b.bad("a %s that nothing answers has succeeded, with rank %d", what, peer)
	}
}
