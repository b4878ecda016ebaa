package nmad

import (
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// lockedGate is a gate whose lock the caller holds: the fields that the lock guards, and the methods that need it. Only
// Gate.lock, tryLock, lockLists, enter and fresh return one. The caller gives it up by unlock, unlockOnly,
// unlockAndYield or pollLocked; what lockLists returns, by lock.Gate.UnlockLists.
type lockedGate struct {
	gate     *Gate
	contexts []*Context   // the open contexts to whose groups the gate's rank belongs
	flow     flow.Flow    // the protocols
	started  requestQueue // requests taken out of the inbox that have not begun yet

	// The small track of the first rail, over which all packets travel.
	link      driver.Link   // unlinkedLink at first; changes once, when the gate gets its links
	head      driver.Header // of the packet that is being received
	hasLists  bool          // the lists have a lock of their own; see lock.Gate
	slowCalls bool          // calls of the link are system calls, so other threads get the lists meanwhile
	echoes    bool          // the link brings back what it is given: the gate leads to the own rank
	echoDue   bool          // echo has something to receive
	injected  [1][]byte     // memory for the second part of a message of Inject

	// All rails.
	armedRails    int8  // number of rails on whose descriptors the engine sleeps
	railsWoken    bool  // lookAtRails has to look at rails that have woken the sleeper
	keptTransfers int   // number of transfers whose buffer the link has not given back; see transfer
	waiterUntil   int64 // cycle counter up to which a waiter polls for bytes of long messages; 0 if none does; see waiterPolls
	ticks         uint  // number of calls of lookAround

	// The threads that wait.
	callsSinceWait int           // blocking calls since the last one that had to wait; see unlockAndYield
	wokenThreads   int           // threads whose blocking call has ended after a wait, and that have not run since; with hooks only
	freeRequests   *flow.Request // list of requests for the blocking calls

	// What unlock passes on.
	toSignal        requestQueue // requests that are finished, and whose completion, or Queue, is to be signaled
	upcallsAdded    bool         // a call was added to Gate.upcalls since the lock was taken
	countedUnsent   bool         // the engine counts this gate as pending because of flow.Flow.Pending's holding
	countedRequests bool         // the engine counts this gate as pending because of flow.Flow.Pending's requests

	// The end of the gate (gate_close.go).
	endErr   *PeerError        // why the gate has ended; nil before
	endTime  time.Time         // when the gate has ended
	onEnd    func(*lockedGate) // called once, at the end of the gate, with the lock held; must not block
	peerNews string            // how the peer has ended, as the control connection has told; "" before

	// The links (linkstage.go).
	stage       linkStage
	noLinks     bool          // the gate has no links yet, or is dead: then a receive must ask admitsReceive before it waits. setNoLinks writes it
	linksMade   uint64        // number of links, for Stats
	slips       laneSlips     // receives that C code begins; see lane_unsafe.go
	accepted    []driver.Link // in the stage accepting: the links that have come, by rail; they belong to welcome
	linkWaiters requestQueue  // requests of Gate.Link

	// What decides the protocol, beside the costs of the rails, which are in flow.
	eager      int    // bounds.eager
	eagerWhy   string // where the eager limit comes from; "" if from the driver
	eagerFixed bool   // the configuration sets the eager limit, so a measurement does not change it

	view *mapped.Memory // the memory of the peer's loans; nil while it is not mapped
}

// fresh is lock for the maker of a gate that no other thread knows yet.
func (g *Gate) fresh() *lockedGate { return &g.locked }

// lock spins until it has the lock. Hooks must not call it: they call tryLock.
func (g *Gate) lock() *lockedGate {
	g.mu.Lock()
	return &g.locked
}

// holds reports whether a predicate holds under the lock, for which it spins.
func (g *Gate) holds(predicate func(*lockedGate) bool) bool {
	h := g.lock()
	defer h.unlock()
	return predicate(h)
}

// tryLock takes the lock if it is free; else it returns nil.
func (g *Gate) tryLock() *lockedGate {
	if !g.mu.TryLock() {
		return nil
	}
	return &g.locked
}

// lockLists takes the lock of the lists alone, if there is one. Its holder may only use the parts of lockedGate that
// have to do with sending and matching.
func (g *Gate) lockLists() *lockedGate {
	g.mu.LockLists()
	return &g.locked
}

// enter spins until it has the lock, and handles what other threads have left in the inbox.
func (g *Gate) enter() *lockedGate {
	g.mu.Lock()
	h := &g.locked
	if g.inbox.left() {
		h.handleInbox()
	}
	return h
}

// unlockOnly releases the lock without the work of unlock, for a caller that has left no work.
func (h *lockedGate) unlockOnly() { h.gate.mu.Unlock() }
