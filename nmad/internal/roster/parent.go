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
)

// What a member does. README.md has the protocol.

// Pauses between two attempts to reach the parent, which may start after us.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// dial connects to the parent that the tree names, and tries again while no process listens there, until ctx ends.
func (r *Roster) dial(ctx context.Context) (*wire, error) {
	addr := r.cfg.Addr
	if r.tree.parent != 0 {
		addr = leaderSocket(r.cfg.Secret, r.tree.parent)
	}
	what := fmt.Sprintf("meet rank %d at %s", r.tree.parent, addr)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		w, err := r.reach(ctx, addr, r.tree.parent, false)
		if err == nil {
			return w, nil
		}
		if !mayPass(err) {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w: last attempt: %v", what, context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

// reach connects to the process of a rank at addr, and proves that this process belongs to the job. again: the job
// runs, and this process has lost its parent.
func (r *Roster) reach(ctx context.Context, addr string, rank int, again bool) (*wire, error) {
	conn, stop, err := meet.Dial(ctx, addr, r.cfg.Handshake)
	if err != nil {
		return nil, err
	}
	r.keepAlive(conn)
	peer, err := meet.Dialer(conn, r.me(again), rank)
	stop()
	if err == nil && peer.Answer != byte(welcome) {
		err = declined{admission(peer.Answer)}
	}
	if err == nil {
		err = context.Cause(ctx) // conn may have been made useless
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	w := newWire(conn, peer, true)
	w.heard.Store(r.ticks.Load())
	return w, nil
}

// mayPass reports whether an attempt that failed with err may succeed later: no process listens yet, or the process
// there had too many connections in their exchange.
func mayPass(err error) bool {
	if errors.Is(err, driver.ErrRefused) || kernel.Refused(err) != "" {
		return false
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.Temporary() || dns.Timeout()
	}
	var addr *net.AddrError
	return !errors.As(err, &addr)
}

// follow is the goroutine that reads from the parent, and from the next one when a parent is gone.
func (r *Roster) follow(w *wire, parent int) {
	defer r.parentToldOnce.Do(func() { close(r.parentTold) })
	for w != nil {
		doubt, goesOn := r.parentEnded(r.readParent(w, parent), parent)
		if !goesOn {
			return
		}
		w, parent = r.findParent(parent, doubt)
	}
}

// readParent reads the frames of the parent until the connection ends, and returns why it has ended.
func (r *Roster) readParent(w *wire, parent int) error {
	r.report(w, parent)
	if err := r.leaveCtx.Err(); err != nil { // if it is nil, leave sees w
		return err
	}
	for {
		k, payload, err := w.recv(r.cfg.Size)
		if err == nil {
			err = r.takeFromParent(w, k, payload)
		}
		w.heard.Store(r.ticks.Load())
		if err != nil {
			return err
		}
	}
}

// report makes the process at w the parent. If the job runs it tells the parent for which ranks this process
// speaks, which of its host are gone, and which others have died: the new parent may not have heard that, or may
// have taken this process's last parent, which had lost a member, for lost. News that comes meanwhile goes to the
// new parent after it.
func (r *Roster) report(w *wire, parent int) {
	r.mu.Lock()
	defer r.release()
	r.parentWire, r.parentRank, r.state = w, parent, attached
	if !r.runs() {
		return
	}
	r.tellSubtree() // even if that is none: it says that this process has come
	for rank, leader := range r.tree.leader {
		if leader == r.cfg.Rank || r.gone[rank] == Died {
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

// errParentGone ends the reading from a parent that has ended the membership by a frame.
var errParentGone = errors.New("it has ended this connection")

// takeFromParent handles a frame from the parent. An error ends the connection.
func (r *Roster) takeFromParent(w *wire, k frameKind, payload []byte) error {
	switch k {
	case kindTable:
		return r.takeTable(payload)
	case kindGo:
		return r.takeGo()
	}
	r.mu.Lock()
	defer r.release()
	if k == kindAbort {
		_, reason, err := parseNotice(payload, r.cfg.Size)
		if err != nil {
			return err
		}
		r.fail(reason, w)
		return errParentGone
	}
	if !r.runs() {
		return fmt.Errorf("%w: kind %d before the job runs", errFrame, k)
	}
	switch k {
	case kindBeat:
		return nil
	case kindQuit:
		return errQuit
	case kindLeave:
		rank, err := parseLeave(payload, r.cfg.Size)
		if err != nil {
			return err
		}
		r.depart(leftEvent(rank), w)
		if rank == r.parentRank {
			return errParentGone
		}
		return nil
	case kindDead:
		rank, reason, err := parseNotice(payload, r.cfg.Size)
		switch {
		case err != nil:
			return err
		case rank == r.cfg.Rank:
			r.exclude(reason)
			return errParentGone
		case rank == r.parentRank:
			return fmt.Errorf("%w: rank %d says that it is dead", errFrame, rank)
		}
		r.depart(Event{Rank: rank, Kind: Died, Reason: reason}, w)
		return nil
	}
	return fmt.Errorf("%w: kind %d is for a parent", errFrame, k)
}

// parentEnded handles the end of the connection to the parent, and says whether this process needs another one.
// doubt, if not empty, says why the parent may be lost. It may still be there, so this process declares no death.
func (r *Roster) parentEnded(err error, parent int) (doubt string, goesOn bool) {
	r.mu.Lock()
	defer r.release()
	reason, silent := r.silence(err, fmt.Sprintf("rank %d", parent))
	if silent {
		r.parentWire.send(kindQuit, nil) // the parent reads it when it runs again
	}
	_ = r.parentWire.Conn.Close()
	r.parentWire.Flush() // its goroutine
	r.parentWire = nil
	if !r.runs() {
		r.fail(reason, nil)
	}
	if !r.runs() || r.state == excluded || r.leaveCtx.Err() != nil {
		return "", false
	}
	r.state = searching
	another := r.hasSuccessor()
	if (silent || errors.Is(err, errQuit)) && another {
		return reason, true
	}
	r.depart(Event{Rank: parent, Kind: Died, Reason: reason}, nil) // unless it has left
	if another = r.hasSuccessor(); !another {
		r.state = rootless
		r.watchOthers()
	}
	return "", another
}

// watchOthers watches the other processes of this host by pidfd, so that it hears of their deaths without a
// parent. The caller holds mu.
func (r *Roster) watchOthers() {
	own := r.cards[r.cfg.Rank]
	for i, card := range r.cards {
		if i == own.Rank || card.Host != own.Host || r.gone[i] != 0 {
			continue
		}
		r.wg.Go(func() {
			if awaitEnd(r.leaveCtx, card.PID, card.StartTime) {
				r.lockAndDepart(Event{Rank: i, Kind: Died, Reason: fmt.Sprintf("rank %d (pid %d) ended", i, card.PID)})
			}
		})
	}
}

// beatsPerSilence is how many beats fit into the silence that is allowed: all of them must be late for a process to be
// taken for lost.
const beatsPerSilence = 5

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
