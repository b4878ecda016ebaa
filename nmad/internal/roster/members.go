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
	"github.com/pm2-go/pm2/nmad/internal/limit"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// What a parent does. README.md has the protocol.

// member is a process that is connected to this one, its parent. Roster.mu guards the fields.
type member struct {
	rank        int
	subtree     []int        // the ranks for which it speaks, itself first
	wire        *wire        // nil: its exchange is not over
	cardLimit   *limit.Limit // until its cards must be here
	reconnected bool         // it has connected after GO: another parent has its cards
	reported    bool         // it has said for which ranks it speaks: before that it may have given up this attempt
	hasCards    bool         // the cards of its subtree are in
	isReady     bool         // its subtree is ready
	hasLeft     bool         // it has closed its session
	hasQuit     bool         // it looks for another parent
	dropped     bool         // nothing is sent to it, and the end of its connection means nothing
}

// endLimit ends the time limit for the member's cards. The caller holds Roster.mu.
func (m *member) endLimit() {
	m.cardLimit.Stop()
	_ = m.wire.Conn.SetDeadline(time.Time{})
}

// admission is the answer of a listener to a dialer that has proved that it belongs to the job.
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

func (a admission) String() string {
	switch a {
	case welcome:
		return "welcome"
	case rankTaken:
		return "another process has this rank already: give each its own PM2_RANK"
	case alreadyClosed:
		return "the job is complete already: another process may have this rank"
	case wrongPlace:
		return "this rank has its place at another process: the processes of the job do not agree on which hosts they are"
	case takenForLost:
		return "the others have taken this process for lost"
	case elsewhere:
		return "an earlier process keeps the list"
	case notYet:
		return "which process keeps the list is not settled yet"
	}
	return fmt.Sprintf("answer %d", byte(a))
}

// declined is the error of a dialer that was not admitted. It is a driver.ErrRefused.
type declined struct{ answer admission }

func (d declined) Error() string { return fmt.Sprintf("%v: %v", driver.ErrRefused, d.answer) }
func (declined) Unwrap() error   { return driver.ErrRefused }

// me describes this process for an exchange. again: the job runs, and this process has lost its parent.
func (r *Roster) me(again bool) meet.Me {
	me := meet.Me{Secret: r.cfg.Secret}
	me.Rank, me.Size, me.Driver = uint32(r.cfg.Rank), uint32(r.cfg.Size), "control"
	if again {
		me.Track = 1
	}
	return me
}

// listenRendezvous opens the rendezvous address of rank 0.
func (r *Roster) listenRendezvous() (err error) {
	l := r.cfg.Listener
	if l == nil {
		if l, err = kernel.Listen("tcp", r.cfg.Addr); err != nil {
			return fmt.Errorf("listen at the rendezvous address %s (choose another one, or port 0 through the launcher): %w", r.cfg.Addr, err)
		}
	}
	r.cardAcceptor = r.accept()
	if r.wantsStandby(l.Addr()) {
		r.standby, r.cards[0].Standby = r.cardAcceptor, l.Addr().String() // the others know it by the rendezvous address
	}
	r.cardAcceptor.Listen(l)
	return nil
}

// listenForHost opens the Unix socket at which a leader waits for the ranks of its host.
func (r *Roster) listenForHost() error {
	name := leaderSocket(r.cfg.Secret, r.cfg.Rank)
	l, err := kernel.Listen("unix", name)
	if err != nil {
		return fmt.Errorf("listen for the other processes of this host at %s: %w", name, err)
	}
	r.cardAcceptor = r.accept()
	r.cardAcceptor.Listen(l)
	return nil
}

// accept returns a new acceptor for members.
func (r *Roster) accept() *meet.Acceptor {
	return &meet.Acceptor{Serve: r.greet, Patience: r.cfg.Handshake, Hopeless: r.Abort}
}

// greet runs the exchange with a process that has connected. If that becomes a member, a goroutine reads from it.
func (r *Roster) greet(conn net.Conn, v *meet.Incoming) error {
	r.keepAlive(conn)
	m := &member{}
	peer, err := meet.Listener(conn, r.me(false), v, func(p *meet.Peer) error {
		p.Answer = byte(r.admit(m, int(p.Rank), p.Track == 1))
		return nil
	})
	if err == nil && peer.Answer != byte(welcome) {
		err = declined{admission(peer.Answer)}
	}
	if !v.Over() && err == nil {
		err = net.ErrClosed
	}
	if err != nil {
		_ = conn.Close()
		if m.subtree != nil { // admitted, but gone before it heard of it
			r.admissionFailed(m, err)
		}
		return err
	}
	r.mu.Lock()
	defer r.release()
	m.wire = newWire(conn, peer, false)
	m.wire.heard.Store(r.ticks.Load())
	m.cardLimit = limit.Bound(conn, r.cfg.Handshake) // its card comes at once,
	if m.reconnected || len(m.subtree) > 1 {         // that of a subtree when all of it is there
		m.endLimit()
	}
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
	r.serving.Go(func() { r.serve(m) })
	return nil
}

// admissionFailed handles the end of a connection whose process was admitted and may not know it. If the
// connection ran out of time, or lost its slot to another one, the process comes again, so its rank becomes free.
func (r *Roster) admissionFailed(m *member, err error) {
	if !m.reconnected && errors.Is(err, driver.ErrBusy) {
		r.mu.Lock()
		defer r.release()
		if r.phase == gathering {
			delete(r.members, m.rank)
			return
		}
	}
	r.memberEnded(m, err)
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
	case r.gone[rank] != 0:
		return takenForLost
	case r.state == searching, r.phase == failed:
		return notYet
	case r.state != isRoot:
		return elsewhere
	}
	old := r.members[rank]
	m.rank, m.subtree, m.reconnected, m.hasCards = rank, []int{rank}, true, true
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

// serve reads from a member until the connection ends.
func (r *Roster) serve(m *member) {
	for {
		k, payload, err := m.wire.recv(r.cfg.Size)
		if err == nil {
			err = r.takeFromMember(m, k, payload)
		}
		m.wire.heard.Store(r.ticks.Load())
		if err != nil {
			r.memberEnded(m, err)
			_ = m.wire.Conn.Close()
			m.wire.Flush() // its goroutine
			return
		}
	}
}

// errQuit ends the reading from a member that looks for another parent, and from a parent that gives up its
// members.
var errQuit = errors.New("it keeps the list no more")

// takeFromMember handles a frame from a member. An error ends the connection.
func (r *Roster) takeFromMember(m *member, k frameKind, payload []byte) error {
	switch k {
	case kindCard:
		return r.takeCard(m, payload)
	case kindReady:
		return r.takeReady(m)
	case kindAbort:
		_, reason, err := parseNotice(payload, r.cfg.Size)
		if err != nil {
			return err
		}
		return errors.New(reason)
	}
	r.mu.Lock()
	defer r.release()
	if !r.runs() {
		if k == kindLeave {
			return errors.New("left before the job had started")
		}
		return fmt.Errorf("%w: kind %d before the job runs", errFrame, k)
	}
	switch k {
	case kindBeat:
		return nil
	case kindQuit:
		m.hasQuit = true
		return errQuit
	case kindSubtree:
		return r.takeSubtree(m, payload)
	case kindLeave:
		rank, err := parseLeave(payload, r.cfg.Size)
		if err != nil || !r.speaks(m, rank) {
			return fmt.Errorf("%w: rank %d says that rank %d leaves", errFrame, m.rank, rank)
		}
		r.depart(leftEvent(rank), m.wire)
		if rank == m.rank {
			m.hasLeft = true
			r.markMissing(m.subtree) // the others of its host may still be there, and connect here
		}
		return nil // the connection stays: the member waits for its peers, and closes it when it has done so
	case kindDead:
		rank, reason, err := parseNotice(payload, r.cfg.Size)
		if err != nil || rank == m.rank || !r.speaks(m, rank) && !m.reconnected {
			return fmt.Errorf("%w: rank %d says that rank %d is dead", errFrame, m.rank, rank)
		}
		r.depart(Event{Rank: rank, Kind: Died, Reason: reason}, m.wire)
		return nil
	}
	return fmt.Errorf("%w: kind %d is not for a parent", errFrame, k)
}

// leftEvent is the event that a rank has left.
func leftEvent(rank int) Event {
	return Event{Rank: rank, Kind: Left, Reason: fmt.Sprintf("rank %d closed its session", rank)}
}

// speaks reports whether m may bring news of a rank: of its own, and of those of its host if it is the leader. A
// member that has connected again also says which others have died.
func (r *Roster) speaks(m *member, rank int) bool {
	return rank == m.rank || r.tree.leader[rank] == m.rank
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
			return fmt.Errorf("%w: rank %d says that it speaks for rank %d", errFrame, m.rank, rank)
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
	if m.cardLimit != nil {
		m.cardLimit.Stop()
	}
	name := fmt.Sprintf("rank %d", m.rank)
	if m.hasCards {
		name += fmt.Sprintf(" (pid %d)", r.cards[m.rank].PID)
	}
	text, silent := r.silence(err, name)
	switch {
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
	case silent: // it gets the notice that it is lost
		r.depart(Event{Rank: m.rank, Kind: Died, Reason: text}, nil)
	default:
		r.depart(Event{Rank: m.rank, Kind: Died, Reason: text}, m.wire)
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
		if _, already := r.missing[rank]; already || rank == r.cfg.Rank || r.gone[rank] != 0 || r.speakerFor(rank) != nil {
			continue
		}
		r.missing[rank] = r.ticks.Load() + patienceBeats + 1
		r.wg.Go(func() { r.probeMissing(rank) })
	}
}

// probeMissing probes the process of a missing rank again and again, until it has connected or is gone.
func (r *Roster) probeMissing(rank int) {
	pause, mute := r.attempt(), time.Duration(0)
	for {
		r.mu.Lock()
		_, missing := r.missing[rank]
		addr := r.cards[rank].Standby
		r.mu.Unlock()
		if !missing || addr == "" {
			return
		}
		began, text := time.Now(), ""
		switch err := probe(r.leaveCtx, addr, pause); {
		case errors.Is(err, syscall.ECONNREFUSED):
			text = "it has ended, as the one through which its news came has"
		case err == nil:
			mute = 0
		default:
			if mute += min(time.Since(began), 2*pause) + pause; mute > r.hostTime() {
				text = fmt.Sprintf("its host cannot be reached: %v", err)
			}
		}
		if text != "" {
			r.giveUp(rank, text)
			return
		}
		select {
		case <-r.leaveCtx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// giveUp declares a rank lost if it is still missing.
func (r *Roster) giveUp(rank int, why string) {
	r.mu.Lock()
	defer r.release()
	if _, missing := r.missing[rank]; missing && r.phase == running && r.state == isRoot {
		r.depart(Event{Rank: rank, Kind: Died, Reason: fmt.Sprintf("rank %d (pid %d): %s", rank, r.cards[rank].PID, why)}, nil)
	}
}

// probe dials a standby address, and sends nothing. It returns nil if a process listens there, or the kernel of one
// that is stopped.
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
		if rank != r.cfg.Rank && r.gone[rank] == 0 {
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
