package nmad

import (
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// lockedGate is a gate whose lock the caller has. It has all that the lock guards, and the methods that need the lock. Only
// Gate.lock, tryLock, lockLists, enter and fresh return one; unlock, drop and pollLocked end it.
type lockedGate struct {
	g        *Gate
	contexts []*Context   // in which the gate takes part
	flow     flow.Flow    // all protocols; its Dead is what new requests fail with
	started  requestQueue // taken in from the inbox, and not begun yet

	// The small track of the first rail, over which all packets travel.
	link      driver.Link   // changes once, when the gate gets its links
	head      driver.Header // of the packet that is being received
	hasLists  bool          // the gate has lists under a lock of their own
	slowCalls bool          // calls of the link enter the kernel: other threads are to have the lists meanwhile
	echoes    bool          // the link brings back what it is given: the gate leads to the own rank
	echoDue   bool          // echo has something to take in
	injected  [1][]byte     // of a message that is being injected

	// All rails.
	armedRails    int8  // rails on whose descriptors the engine sleeps
	railsWoken    bool  // rails are to be looked at; see lookAtRails
	keptTransfers int   // transfers whose buffer a link has not given back; see transfer
	waiterUntil   int64 // cycles: until then a waiter polls for bytes of long messages, 0: none does; see waiterPolls
	ticks         uint  // of a gate with several rails

	// The threads that wait.
	callsSinceWait int           // blocking calls since the last one that had to wait
	wokenThreads   int           // threads whose Recv is done after they had to wait, and that have not run since; with hooks
	freeRequests   *flow.Request // requests for the blocking calls

	// What is to be told.
	toSignal        requestQueue // done, and to be told when the lock is let go
	upcallsAdded    bool         // something was added to calls since the lock was taken
	countedUnsent   bool         // the engine counts bytes in the driver's buffer, or messages that were gathered, as pending
	countedRequests bool         // the engine counts the requests that the flow counts

	// Whether the gate lives, and how it ends (gate_close.go).
	endErr   *PeerError        // why it has ended; nil: it has not
	endTime  time.Time         // when
	onEnd    func(*lockedGate) // called once, when it has ended; must only take note
	peerNews string            // that the peer has ended, as the control connection tells; "": it has not told

	// How far its links are (linkstage.go).
	stage       linkStage
	guarded     bool          // there are no links yet, or the gate has ended: a receive has to ask admits whether it may stand in the queue; setGuarded alone writes it
	linksMade   uint64        // links, for Stats
	slips       laneSlips     // of code outside of Go
	accepted    []driver.Link // accepting: what is here; belongs to welcome
	linkWaiters requestQueue  // of Gate.Link

	// Which way messages take: this, and what the rails cost, which is the flow's.
	eager      int    // as bounds.eager, once there are links
	eagerWhy   string // where the eager limit comes from; "": the driver
	eagerFixed bool   // the configuration says it, so what is measured does not change it

	view *mapped.Memory // the memory out of which the peer lends; nil: it is not mapped
}

// fresh is lock for the maker of a gate, which no other thread has yet.
func (g *Gate) fresh() *lockedGate { return &g.locked }

// lock takes the lock, and waits for it. It must not be called from hooks: those try.
func (g *Gate) lock() *lockedGate {
	g.mu.Lock()
	return &g.locked
}

// tryLock takes the lock if it is free; nil: it is not.
func (g *Gate) tryLock() *lockedGate {
	if !g.mu.TryLock() {
		return nil
	}
	return &g.locked
}

// lockLists takes the lock of the lists alone, if there is one. Then its holder may only use the parts of lockedGate that have
// to do with sending and matching. lock.Gate.UnlockLists releases it.
func (g *Gate) lockLists() *lockedGate {
	g.mu.LockLists()
	return &g.locked
}

// enter takes the lock and handles what other threads have left before.
func (g *Gate) enter() *lockedGate {
	g.mu.Lock()
	h := &g.locked
	if g.inbox.left() {
		h.handleInbox()
	}
	return h
}

// unlockOnly releases the lock without the work of unlock: the caller has left none to do.
func (h *lockedGate) unlockOnly() { h.g.mu.Unlock() }
