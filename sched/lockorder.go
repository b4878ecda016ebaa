package sched

// lockRank is the place of a Spin in the order of locks: a holder of one locks only those of a higher rank, or, where
// the table says so, of the same. TryLock may try any. A build with the tag chaos checks it at each Lock, by the table
// in chaos.go. sync.Mutexes of this package (lwps.mu) are leaves: nothing is locked under them.
//
// A queue's lock stays locked until its waiter is parked, so that the locks of what chooses the
// next thread (nodes, barred, idle) come after all of those that a wait may stand under.
type lockRank uint8

const (
	rankQueue   lockRank = iota // the lock of a WaitQueue, a Ringer or an Observer; other packages own these locks, and order them among each other
	rankExtras                  // extras.mu; under it a canceler locks the queue in which the thread waits
	rankBubbles                 // Scheduler.bubbleLock; it also guards the queue of threads that join a bubble
	rankThread                  // thread.mu; it also guards the queue of joiners. A joiner locks the mu of its own thread under it
	rankBounded                 // BoundedWait.mu
	rankTimers                  // timers.mu
	rankNode                    // queueNode.mu
	rankBarred                  // barred.mu
	rankLeaf                    // idle.mu: nothing is locked under it
	unranked                    // registry.mu, which is not checked: it is taken where nothing may be allocated; nothing is locked under it
)
