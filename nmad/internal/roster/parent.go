package roster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/meet"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// What a member does. README.md has the protocol.

const (
	firstPause = 5 * time.Millisecond // between two attempts to reach the parent, which may start after this process
	lastPause  = 250 * time.Millisecond
)

// dial connects to the parent that the tree names, and tries again while no process listens there, until starting ends.
func (r *Roster) dial() (*wire, error) {
	addr := r.address(r.tree.parent)
	what := fmt.Sprintf("meet rank %d at %s", r.tree.parent, addr)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		w, err := r.reach(r.starting, addr, r.tree.parent, false)
		switch {
		case err == nil:
			return w, nil
		case !mayPass(err):
			return nil, fmt.Errorf("%s: %w", what, err)
		case !sleep(r.starting, pause):
			return nil, fmt.Errorf("%s: %w: last attempt: %v", what, context.Cause(r.starting), err)
		}
	}
}

// reach connects to the process of a rank at addr, and proves that this process belongs to the job. again is true if
// the job runs and this process has lost its parent.
func (r *Roster) reach(ctx context.Context, addr string, rank int, again bool) (*wire, error) {
	conn, stop, err := meet.Dial(ctx, addr, r.cfg.Handshake)
	if err != nil {
		return nil, err
	}
	r.keepAlive(conn)
	peer, err := meet.Dialer(conn, r.me(again), rank)
	stop()
	if err == nil && admission(peer.Answer) != welcome {
		err = admission(peer.Answer)
	}
	if err == nil {
		err = context.Cause(ctx) // conn may have been made useless
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return r.newWire(conn, peer, true), nil
}

// mayPass reports whether an attempt that failed with err may succeed later: no process listens yet, or the process
// there had too many connections in their exchange.
func mayPass(err error) bool {
	if errors.Is(err, driver.ErrRefused) || kernel.Refused(err) != "" {
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.Temporary() || dns.Timeout()
	}
	_, wrong := errors.AsType[*net.AddrError](err)
	return !wrong
}

// follow is the goroutine that reads from the parent, and from the next one when a parent is gone.
func (r *Roster) follow(w *wire) {
	defer r.parentIsTold()
	for w != nil {
		r.report(w)
		err := r.leaveCtx.Err() // if it is nil, leave sees w
		if err == nil {
			err = r.read(w, nil)
		}
		doubt, goesOn := r.parentEnded(w, err)
		if !goesOn {
			return
		}
		w = r.findParent(w.rank, doubt)
	}
}

// report makes the process at w the parent. If the job runs it tells the parent for which ranks this process speaks,
// which of its host are gone, and which others have died: the new parent may not have heard that, or may have taken
// this process's last parent, which had lost a member, for lost. News that comes meanwhile follows.
func (r *Roster) report(w *wire) {
	r.mu.Lock()
	defer r.release()
	r.parentWire, r.state = w, attached
	if !r.runs() {
		return
	}
	r.tellSubtree() // even if that is none: it says that this process has come
	for rank, leader := range r.tree.leader {
		if leader == r.cfg.Rank || r.gone[rank].Kind == Died {
			r.sendFate(rank, w.send)
		}
	}
	if r.phase == closing {
		r.tellParent()
	}
}

// tellSubtree tells the parent for which ranks besides its own this process speaks. The caller holds mu.
func (r *Roster) tellSubtree() {
	var ranks []int
	for rank := range r.cfg.Size {
		if rank != r.cfg.Rank && r.speakerFor(rank) != nil {
			ranks = append(ranks, rank)
		}
	}
	r.parentWire.send(kindSubtree, encodeRanks(ranks...))
}

// parentEnded handles the end of the connection to the parent, and reports whether this process needs another one.
// doubt, if not empty, says why the parent may be lost. It may still be there, so this process declares no death.
func (r *Roster) parentEnded(w *wire, err error) (doubt string, goesOn bool) {
	r.mu.Lock()
	defer r.release()
	reason, silent := r.silence(err, fmt.Sprintf("rank %d", w.rank))
	if silent {
		w.send(kindQuit, nil) // the parent reads it when it runs again
	}
	_ = w.Conn.Close()
	w.Flush() // its goroutine
	r.parentWire = nil
	r.fail(reason, nil)
	if !r.runs() || r.state == excluded || r.leaveCtx.Err() != nil {
		return "", false
	}
	r.state = searching
	if (silent || errors.Is(err, errQuit)) && r.hasSuccessor() {
		return reason, true
	}
	r.depart(Event{Rank: w.rank, Kind: Died, Reason: reason}, nil) // unless it has left
	if !r.hasSuccessor() {
		r.becomeRootless()
		return "", false
	}
	return "", true
}

// becomeRootless has this process watch the other processes of its host by pidfd, so that it hears of their deaths
// without a parent. The caller holds mu.
func (r *Roster) becomeRootless() {
	r.state = rootless
	own := r.cards[r.cfg.Rank]
	for i, card := range r.cards {
		if i == own.Rank || card.Host != own.Host || r.gone[i].Kind != 0 {
			continue
		}
		r.wg.Go(func() {
			if process.AwaitEnd(r.leaveCtx, card.PID, card.StartTime) {
				r.lockAndDepart(Event{Rank: i, Kind: Died, Reason: fmt.Sprintf("rank %d (pid %d) ended", i, card.PID)})
			}
		})
	}
}

const beatsPerSilence = 5 // all of them must be late for a process to be taken for lost

// keepBeating sends a beat to the others again and again until this process leaves, and looks which of them have been
// silent for too long. A process that is stopped sends none; one whose threads all hang does. It counts the silence of
// the others in its own beats: while it is stopped itself it counts nothing.
func (r *Roster) keepBeating() {
	t := time.NewTicker(r.cfg.Silence / beatsPerSilence)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			r.ticks.Add(1)
			r.beat()
		case <-r.ctx.Done():
			return
		}
	}
}

// beat sends a beat to the parent and the members, and ends connections that have been silent for too long.
func (r *Roster) beat() {
	r.mu.Lock()
	defer r.release()
	if r.parentWire != nil {
		r.parentWire.send(kindBeat, nil)
		r.expireSilent(r.parentWire)
	}
	if r.phase != running || r.state == excluded {
		return
	}
	r.toAll(kindBeat, nil, nil)
	for _, m := range r.members {
		if !m.dropped && !m.hasLeft && m.wire != nil {
			r.expireSilent(m.wire)
		}
	}
	r.expireMissing()
}

// expireSilent ends the reading of a connection on which no frame has come for too long: it fails with
// os.ErrDeadlineExceeded. The beat during which the last one came is not over yet when that silence begins.
func (r *Roster) expireSilent(w *wire) {
	if r.ticks.Load()-w.heard.Load() > beatsPerSilence {
		_ = w.Conn.SetReadDeadline(limit.Past) // closed meanwhile: as well
	}
}
