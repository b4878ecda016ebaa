package roster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// What a parent does. README.md has the protocol.

// member is a process that is connected to this one, its parent. Roster.mu guards the fields.
type member struct {
	rank        int
	subtree     []int // the ranks for which it speaks, itself first
	wire        *wire // nil: its exchange is not over
	reached     phase // how far its subtree is: with linking its cards are in, with running it is ready
	reconnected bool  // it has connected after GO: another parent has its cards
	reported    bool  // it has said for which ranks it speaks: before that it may have given up this attempt
	hasLeft     bool  // it has closed its session
	hasQuit     bool  // it looks for another parent
	dropped     bool  // nothing is sent to it, and the end of its connection means nothing
}

// admission is the answer of a listener to a dialer that has proved that it belongs to the job. All but welcome are
// errors that wrap driver.ErrRefused.
type admission byte

const (
	welcome       admission = iota
	rankTaken               // another process is that rank already
	alreadyClosed           // all ranks were there already
	wrongPlace              // that rank belongs to another host's leader
	takenForLost            // the job runs, and has lost this rank
	elsewhere               // the job runs, and this process has a parent itself
	notYet                  // the job runs, and this process looks for a parent itself
)

func (a admission) Error() string {
	texts := [...]string{
		rankTaken:     "another process has this rank already: give each its own PM2_RANK",
		alreadyClosed: "the job is complete already: another process may have this rank",
		wrongPlace:    "this rank has its place at another process: the processes of the job do not agree on which hosts they are",
		takenForLost:  "the others have taken this process for lost",
		elsewhere:     "an earlier process keeps the list",
		notYet:        "which process keeps the list is not settled yet",
	}
	if int(a) < len(texts) {
		return fmt.Sprintf("%v: %s", driver.ErrRefused, texts[a])
	}
	return fmt.Sprintf("%v: answer %d", driver.ErrRefused, byte(a))
}

func (admission) Unwrap() error { return driver.ErrRefused }

// me describes this process for an exchange. again is true if the job runs and this process has lost its parent.
func (r *Roster) me(again bool) meet.Me {
	me := meet.Me{Secret: r.cfg.Secret}
	me.Rank, me.Size, me.Driver = uint32(r.cfg.Rank), uint32(r.cfg.Size), "control"
	if again {
		me.Track = 1
	}
	return me
}

// listen opens the listener for the members of the start: at rank 0 at the rendezvous address, at a leader at the Unix
// socket of its host.
func (r *Roster) listen() (err error) {
	l, addr := r.cfg.Listener, r.address(r.cfg.Rank)
	if r.cfg.Rank > 0 {
		if l, err = kernel.Listen("unix", addr); err != nil {
			return fmt.Errorf("listen for the other processes of this host at %s: %w", addr, err)
		}
	} else if l == nil {
		if l, err = kernel.Listen("tcp", addr); err != nil {
			return fmt.Errorf("listen at the rendezvous address %s (choose another one, or port 0 through the launcher): %w", addr, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accept(l)
	if r.cfg.Rank == 0 && r.wantsStandby(l.Addr()) {
		r.cards[0].Standby = l.Addr().String() // the others know it by the rendezvous address
	}
	return nil
}

// address returns where a process with members listens for them at the start of the job.
func (r *Roster) address(rank int) string {
	if rank == 0 {
		return r.cfg.Addr
	}
	return leaderSocket(r.cfg.Secret, rank)
}

// accept starts to accept members at l. The caller holds mu, for which the first of them wait.
func (r *Roster) accept(l net.Listener) {
	a := &meet.Acceptor{Serve: r.greet, Patience: r.cfg.Handshake, Hopeless: r.Abort}
	r.acceptors = append(r.acceptors, a)
	a.Listen(l)
}

// greet runs the exchange with a process that has connected. If that becomes a member, a goroutine reads from it.
func (r *Roster) greet(conn net.Conn, v *meet.Incoming) error {
	r.keepAlive(conn)
	m := &member{}
	peer, err := meet.Listener(conn, r.me(false), v.Proved, func(p *meet.Peer) error {
		p.Answer = byte(r.admit(m, int(p.Rank), p.Track == 1))
		return nil
	})
	if err == nil && admission(peer.Answer) != welcome {
		err = admission(peer.Answer)
	}
	if !v.Over() && err == nil {
		err = net.ErrClosed
	}
	if err != nil {
		_ = conn.Close()
		if m.subtree != nil { // admitted, but gone before it heard of it
			r.memberEnded(m, err)
		}
		return err
	}
	r.mu.Lock()
	defer r.release()
	m.wire = r.newWire(conn, peer, false)
	if m.reconnected { // its last parent may not have sent all of that
		for rank := range r.gone {
			if rank != m.rank {
				r.sendFate(rank, m.send)
			}
		}
		if r.phase == closing {
			m.send(kindLeave, encodeRanks(r.cfg.Rank))
		}
	}
	if m.dropped || r.phase == failed {
		_ = conn.Close()
	}
	r.serving.Go(func() {
		r.memberEnded(m, r.read(m.wire, m))
		_ = m.wire.Conn.Close()
		m.wire.Flush() // its goroutine
	})
	return nil
}

// admit decides about a dialer that has proved itself: it becomes m if its rank is free.
func (r *Roster) admit(m *member, rank int, again bool) admission {
	r.mu.Lock()
	defer r.release()
	subtree := r.tree.subtrees[rank]
	switch {
	case again && r.phase <= linking:
		return notYet
	case again:
		return r.readmit(m, rank)
	case r.phase != gathering:
		return alreadyClosed
	case subtree == nil && rank != r.cfg.Rank:
		return wrongPlace
	case r.members[rank] != nil, rank == r.cfg.Rank:
		return rankTaken
	}
	m.rank, m.subtree = rank, subtree
	r.members[rank] = m
	return welcome
}

// readmit decides about a process that has lost its parent. The caller holds mu.
func (r *Roster) readmit(m *member, rank int) admission {
	switch {
	case rank == r.cfg.Rank:
		return rankTaken
	case r.gone[rank].Kind != 0:
		return takenForLost
	case r.state == searching, r.phase == failed:
		return notYet
	case r.state != isRoot:
		return elsewhere
	}
	old := r.members[rank]
	m.rank, m.subtree, m.reconnected, m.reached = rank, []int{rank}, true, running
	r.members[rank] = m
	delete(r.missing, rank)
	if old != nil {
		old.dropped = true // that is no death
		if old.wire != nil {
			_ = old.wire.Conn.Close()
		}
		r.markMissing(old.subtree)
	}
	return welcome
}

// read takes the frames of a connection, from member m or, if that is nil, from the parent, until the connection ends
// or a frame breaks the protocol. It returns why.
func (r *Roster) read(w *wire, m *member) error {
	for {
		k, payload, err := w.recv(r.cfg.Size)
		if err == nil {
			r.mu.Lock()
			err = r.take(w, m, k, payload)
			r.release()
		}
		w.heard.Store(r.ticks.Load())
		if err != nil {
			return err
		}
	}
}

var (
	// errQuit ends the reading from a member that looks for another parent, and from a parent that gives up its members.
	errQuit = errors.New("it keeps the list no more")
	// errParentGone ends the reading from a parent that has ended the membership by a frame.
	errParentGone = errors.New("it has ended this connection")
)

// take handles a frame that has come over w, from member m or, if that is nil, from the parent. An error ends the
// connection. The caller holds mu.
func (r *Roster) take(w *wire, m *member, k frameKind, payload []byte) error {
	fromMember := m != nil
	switch {
	case k == kindAbort:
		_, reason, err := parseNotice(payload, r.cfg.Size)
		if err != nil {
			return err
		}
		r.fail(reason, w)
		return errors.New(reason)
	case fromMember && (k == kindCard || k == kindReady):
		return r.takeUp(m, k, payload)
	case !fromMember && (k == kindTable || k == kindGo):
		return r.takeDown(k, payload)
	case !r.runs():
		return fmt.Errorf("%w: kind %d before the job runs", meet.ErrFrame, k)
	case k == kindBeat:
		return nil
	case k == kindQuit:
		if fromMember {
			m.hasQuit = true
		}
		return errQuit
	case k == kindSubtree && fromMember:
		return r.takeSubtree(m, payload)
	case k == kindLeave, k == kindDead:
		e, err := parseEvent(k, payload, r.cfg.Size)
		if err != nil {
			return err
		}
		return r.takeEvent(w, m, e)
	}
	return fmt.Errorf("%w: kind %d is for the other side of the connection", meet.ErrFrame, k)
}

// takeEvent handles the news that a rank is gone: of a member, or of the parent as for take. The caller holds mu.
func (r *Roster) takeEvent(w *wire, m *member, e Event) error {
	switch {
	case m == nil && e.Kind == Died && e.Rank == r.cfg.Rank:
		r.exclude(e.Reason)
		return errParentGone
	case m != nil && !r.speaks(m, e), e.Kind == Died && e.Rank == w.rank:
		return fmt.Errorf("%w: rank %d says that rank %d is gone: %s", meet.ErrFrame, w.rank, e.Rank, e.Reason)
	}
	r.depart(e, w)
	if e.Rank == w.rank && m == nil {
		return errParentGone
	}
	if e.Rank == w.rank { // its connection stays: the member waits for its peers, and closes it when it has done so
		m.hasLeft = true
		r.markMissing(m.subtree) // the others of its host may still be there, and connect here
	}
	return nil
}

// speaks reports whether m may bring that news: of itself, of the ranks of its host if it is the leader and, once it
// has connected again, of all deaths.
func (r *Roster) speaks(m *member, e Event) bool {
	return e.Rank == m.rank || r.tree.leader[e.Rank] == m.rank || e.Kind == Died && m.reconnected
}

// speakerFor returns the member by which news of a rank comes; nil if there is none. The caller holds mu.
func (r *Roster) speakerFor(rank int) *member {
	for _, by := range []int{rank, r.tree.leader[rank]} {
		if m := r.members[by]; m != nil && !m.dropped && !m.hasLeft && slices.Contains(m.subtree, rank) {
			return m
		}
	}
	return nil
}

// takeSubtree notes for which ranks a member speaks: one that has connected again, or one that has lost a member
// to another parent. The caller holds mu.
func (r *Roster) takeSubtree(m *member, payload []byte) error {
	ranks, err := parseRanks(payload, r.cfg.Size)
	if err != nil {
		return err
	}
	m.reported = true
	before := m.subtree
	m.subtree = []int{m.rank}
	for _, rank := range ranks {
		if r.tree.leader[rank] != m.rank || rank == m.rank {
			return fmt.Errorf("%w: rank %d says that it speaks for rank %d", meet.ErrFrame, m.rank, rank)
		}
		m.subtree = append(m.subtree, rank)
		delete(r.missing, rank)
	}
	r.markMissing(before)
	return nil
}

// toAll sends a frame to all members but the one at the other end of from. The caller holds mu, so all members get
// frames in the same order.
func (r *Roster) toAll(k frameKind, payload []byte, from *wire) {
	for _, m := range r.members {
		if m.wire != nil && m.wire != from {
			m.send(k, payload)
		}
	}
}

// send sends a frame to the member, unless it was dropped. The caller holds Roster.mu.
func (m *member) send(k frameKind, payload []byte) {
	if !m.dropped && m.wire != nil {
		m.wire.send(k, payload)
	}
}

// memberEnded handles the end of a member's connection, or a frame of it that breaks the protocol.
func (r *Roster) memberEnded(m *member, err error) {
	r.mu.Lock()
	defer r.release()
	name := fmt.Sprintf("rank %d", m.rank)
	if m.reached > gathering {
		name += fmt.Sprintf(" (pid %d)", r.cards[m.rank].PID)
	}
	text, silent := r.silence(err, name)
	switch {
	case m.wire == nil && !m.reconnected && r.phase == gathering && errors.Is(err, driver.ErrBusy):
		delete(r.members, m.rank) // it ran out of time, or lost its slot, before it heard that it was admitted: it comes again
	case m.dropped, !r.runs() && r.phase > linking, r.phase == closing, r.state == excluded:
	case !r.runs():
		r.fail(text, m.wire)
	case m.hasLeft, m.reconnected && !m.reported:
	case m.hasQuit && r.state == isRoot && m.rank == r.successor():
		r.exclude(fmt.Sprintf("rank %d has taken the place of this process, which had given no sign of life for a while", m.rank))
	case m.hasQuit:
		m.dropped = true
		if r.parentWire != nil {
			r.tellSubtree()
		}
	case unreachable(err) && len(m.subtree) > 1:
		text = fmt.Sprintf("the host of rank %d (ranks %v) cannot be reached: %v", m.rank, m.subtree, err)
		for _, rank := range m.subtree {
			r.depart(Event{Rank: rank, Kind: Died, Reason: text}, m.wire)
		}
	default:
		from := m.wire
		if silent { // it gets the notice that it is lost
			from = nil
		}
		r.depart(Event{Rank: m.rank, Kind: Died, Reason: text}, from)
	}
	m.dropped = true
	r.markMissing(m.subtree)
}

// silence returns why a connection has ended, for people, and whether that was because its process was silent for
// too long. name is that process.
func (r *Roster) silence(err error, name string) (text string, silent bool) {
	switch {
	case r.runs() && r.cfg.Silence > 0 && errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("%s said nothing for %v: it is stopped, or its host cannot be reached", name, r.cfg.Silence), true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), isReset(err):
		return name + " died: its control connection ended", false
	case unreachable(err):
		return fmt.Sprintf("%s: its host cannot be reached: %v", name, err), false
	}
	return fmt.Sprintf("%s: %v", name, err), false
}

// isReset reports whether the other side, or its kernel, has ended the connection.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// unreachable reports whether the kernel has given up the host of the other side.
func unreachable(err error) bool {
	return errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH)
}

// markMissing marks those of the ranks as missing for which no member speaks, and has a goroutine probe each. Only
// the root does so. The caller holds mu.
func (r *Roster) markMissing(ranks []int) {
	if r.state != isRoot || r.phase != running {
		return
	}
	for _, rank := range ranks {
		if _, already := r.missing[rank]; already || rank == r.cfg.Rank || r.gone[rank].Kind != 0 || r.speakerFor(rank) != nil {
			continue
		}
		r.missing[rank] = r.ticks.Load() + patienceBeats + 1
		r.wg.Go(func() { r.probeMissing(rank) })
	}
}

// probeMissing probes the process of a missing rank again and again, until it has connected or is gone.
func (r *Roster) probeMissing(rank int) {
	pause, mute, why := r.attempt(), time.Duration(0), ""
	for addr := r.cards[rank].Standby; addr != ""; {
		r.mu.Lock()
		_, missing := r.missing[rank]
		if missing && why != "" && r.phase == running && r.state == isRoot {
			r.depart(Event{Rank: rank, Kind: Died, Reason: fmt.Sprintf("rank %d (pid %d): %s", rank, r.cards[rank].PID, why)}, nil)
		}
		r.release()
		if !missing || why != "" {
			return
		}
		began := time.Now()
		switch err := probe(r.leaveCtx, addr, pause); {
		case errors.Is(err, syscall.ECONNREFUSED):
			why = "it has ended, as the one through which its news came has"
		case err == nil:
			mute = 0
		default:
			if mute += min(time.Since(began), 2*pause) + pause; mute > r.hostTime() {
				why = fmt.Sprintf("its host cannot be reached: %v", err)
			}
		}
		if why == "" && !sleep(r.leaveCtx, pause) {
			return
		}
	}
}

// sleep blocks for d, and reports whether ctx still lives.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// probe dials a standby address, and sends nothing. It returns nil if a process listens there, stopped or not.
func probe(ctx context.Context, addr string, most time.Duration) error {
	conn, stop, err := meet.Dial(ctx, addr, most)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer stop()
	_, err = conn.Read(make([]byte, 1)) // the kernel resets what it has accepted for a process that is just ending
	if isReset(err) {
		return err
	}
	return nil
}

// successor returns the rank that becomes root when this one is gone; -1 if there is none. The caller holds mu.
func (r *Roster) successor() int {
	for _, rank := range r.order {
		if rank != r.cfg.Rank && r.gone[rank].Kind == 0 {
			return rank
		}
	}
	return -1
}

// expireMissing declares the ranks lost that have been missing for too long. The caller holds mu.
func (r *Roster) expireMissing() {
	now := r.ticks.Load()
	for rank, until := range r.missing {
		if now > until {
			r.depart(Event{Rank: rank, Kind: Died, Reason: fmt.Sprintf("rank %d (pid %d) has not come to rank %d, which keeps the list: it is stopped, or its host cannot be reached",
				rank, r.cards[rank].PID, r.cfg.Rank)}, nil)
		}
	}
}
