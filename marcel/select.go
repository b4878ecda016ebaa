package marcel

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Waiter is the place of a waiting thread or goroutine in a wait queue.
type Waiter = sched.Waiter

// Case is one thing that Select can wait for. Semaphore.Case, Cond.Case, Latch.Case, WaitGroup.Case, Group.Case,
// Timer.Case, Ticker.Case, Mailbox.Receiver, Mailbox.Sender, ReceiveFrom (a Go channel), After, Done (a context) and
// Ended (a thread) make cases; other packages make their own, on top of a sched.WaitQueue and the sched.Spin that
// guards it, such as the requests of package nmad and the completions of package pioman. A Case may be used for any
// number of Selects, one after the other; also by several at the same time, unless it has room for what was taken
// (Receiver, Sender, TickerCase, ChanReceiver).
//
// The methods are for Select, which calls them on the waiting thread or goroutine with nothing locked:
//
//   - Try takes the case if it is to be had at once, and reports whether it has. It
//     does not wait for another thread.
//   - Enlist puts w at the end of the line, unless the case is to be had at once
//     (or nearly so: a false alarm does no harm, as long as it cannot go on for
//     ever): then it leaves w alone and returns false. Both under one lock, so
//     that nothing comes in between. The thread that pops w, with Pop under
//     that lock, and gets it, has taken the case in the waiter's name, gives what
//     there is to give, and calls Wake. What knows no queue calls Waiter.Fire with
//     the Waiter.Ticket of the moment of Enlist.
//   - Withdraw follows each Enlist that returned true, whichever case has won. When it
//     returns no other thread has a reference to w.
//   - Taken is called last, if w has won: false means that the wake-up was for
//     nothing, and Select goes on.
type Case interface {
	Try() bool
	Enlist(w *sched.Waiter) bool
	Withdraw(w *sched.Waiter)
	Taken(w *sched.Waiter) bool
}

// PollingCase is implemented by a Case for which the waiter itself may have to make progress; the Try of such a Case
// polls, too.
type PollingCase interface {
	// Poll polls once, without blocking, and reports whether the waiter has to go on polling because no other thread
	// does.
	Poll() bool
}

// Select waits until one of the cases can be taken, takes it, and returns its index: what a select statement is to
// goroutines, for all that a thread can wait for. It has that one case's effect and no other: from the others no unit,
// no message and no signal is taken. A nil Case is never ready, nor is one that holds a nil pointer (var out
// *Sender[int]), as a nil channel is not: so a case can be switched off. With no cases Select blocks for ever.
//
//	in := m.Receiver()            // made once, used again and again
//	switch marcel.Select(in, quit.Case(), marcel.After(time.Second)) {
//	case 0:
//		use(in.Value)
//	case 1: ...
//
// If several are ready one of them is taken at random: the search begins at a random place, so a case
// that is ready is taken with a probability of at least one in len(cases), whatever the others do. If
// none is ready the caller waits in the queues of all cases, at the end of each, in order of arrival
// with the threads that wait for that one alone.
//
// Select is for threads and plain goroutines. It allocates only if the caller has not waited for so many cases at once
// before (a thread keeps its nodes for life, goroutines share a pool), and for Done on a thread.
func Select(cases ...Case) int {
	if i := tryCases(cases); i >= 0 {
		return i
	}
	return awaitCases(sched.InSelect, cases, nil, 0)
}

// TrySelect takes one of the cases if one can be taken at once; -1: none can. It is a select statement with a default.
func TrySelect(cases ...Case) int { return tryCases(cases) }

// SelectTimeout is Select for at most d; -1: none could be taken in time. If d <= 0 it is TrySelect.
func SelectTimeout(d time.Duration, cases ...Case) int {
	if i := tryCases(cases); i >= 0 || d <= 0 {
		return i
	}
	return awaitCases(sched.InSelect, cases, nil, d)
}

// SelectContext is Select until ctx is done: then it returns -1 and the cause, also if a case is ready.
func SelectContext(ctx context.Context, cases ...Case) (int, error) {
	return selectUnder(ctx, sched.InSelect, cases)
}

// SelectContextUninterruptible is SelectContext that is no cancellation point: for code that Thread.Cancel must not end
// there.
func SelectContextUninterruptible(ctx context.Context, cases ...Case) (int, error) {
	return selectUnder(ctx, sched.InSelect|sched.Uninterruptible, cases)
}

// selectUnder is SelectContext as a wait of the kind.
func selectUnder(ctx context.Context, kind sched.Kind, cases []Case) (int, error) {
	if ctx.Err() != nil {
		return -1, context.Cause(ctx)
	}
	i := tryCases(cases)
	if i < 0 && ctx.Done() == nil {
		return awaitCases(kind, cases, nil, 0), nil
	}
	if i < 0 {
		i = awaitCases(kind, cases, ctx, 0)
	}
	if i < 0 {
		return i, context.Cause(ctx)
	}
	return i, nil
}

// tryCases tries each case once, beginning at a random one, and returns the index of the one that it has taken; -1:
// none.
func tryCases(cases []Case) int {
	n := len(cases)
	if n == 0 {
		return -1
	}
	i := 0
	if n > 1 {
		i = int(rand.Uint32N(uint32(n)))
	}
	for range n {
		if c := cases[i]; !isOff(c) && c.Try() {
			return i
		}
		if i++; i == n {
			i = 0
		}
	}
	return -1
}

// selection is a Select that has found no case ready. It repeats this round:
//
//	open the wait, enlist in the queues of the cases, one after the other
//	  in all:     park; the thread that claims the wait wakes the selection
//	  not in all: a case has become ready. Close the wait, so that no thread can give the selection
//	              anything; leave the queues, and try all cases again. (If the wait cannot be closed,
//	              a thread has claimed it already: the selection waits for that thread.)
//
// The selection takes nothing by itself while it stands in a queue, and the ticket lets one waker give it something: so
// it never has to give anything back.
//
// The cases are no field, so that the caller's list of them does not escape to the heap.
type selection struct {
	bounded  *sched.BoundedWait
	kind     sched.Kind
	enlisted int  // the number of cases, from the first one on, that have enlisted the selection
	open     bool // bounded is open, or was claimed and Wait has not returned yet
	watches  bool // bounded watches the context

	polled, guarded bool // some case is a PollingCase, or has a mutex to unlock
}

// awaitCases waits until it has taken a case, and returns its index; -1: ctx was done, or d was over. A nil ctx and a d
// of 0 are no limit.
func awaitCases(kind sched.Kind, cases []Case, ctx context.Context, d time.Duration) int {
	calls.Library()
	var s selection
	for _, c := range cases {
		switch c := c.(type) {
		case PollingCase:
			s.polled = true
		case guarded:
			s.guarded = true
			c.check()
		}
	}
	s.bounded = calls.NewBoundedWait(len(cases))
	s.kind = kind
	s.bounded.As(kind)
	defer s.end(cases) // also if a method of a case panics
	for round := 0; ; round++ {
		if i, ok := s.round(cases, ctx, d); ok {
			return i
		}
		if i := tryCases(cases); i >= 0 {
			return i
		}
		if d > 0 && s.bounded.Elapsed() >= d || ctx != nil && ctx.Err() != nil {
			return -1
		}
		if round > 0 {
			Yield() // another thread has taken what this Select has found ready: two Selects may block each other
		}
	}
}

// round makes one round. It returns the index of the case that was taken, -1 if the limit was reached; ok is false if
// the caller is to try the cases again.
func (s *selection) round(cases []Case, ctx context.Context, d time.Duration) (i int, ok bool) {
	b := s.bounded
	all := s.enlist(cases)
	if d > 0 {
		b.Expire(b.Last(), d)
	}
	if all && ctx != nil {
		all = b.Watch(b.Last(), ctx)
		s.watches = all
	}
	if !all && b.Close() {
		s.open = false
		s.withdraw(cases)
		return 0, false
	}
	if all && s.guarded {
		eachGuard(cases, (*Mutex).Unlock)
	}
	w := s.wait(cases, ctx)
	s.open = false
	s.withdraw(cases)
	if all && s.guarded {
		eachGuard(cases, (*Mutex).Lock)
	}
	switch w {
	case nil:
		calls.EndWait() // canceled
	case b.Last():
		return -1, true
	}
	for i, c := range cases {
		if w != b.Node(i) {
			continue
		}
		if c.Taken(w) {
			return i, true
		}
		if s.guarded { // a signal may have come while the selection stood in no queue
			return firstGuarded(cases), true
		}
		return 0, false
	}
	panic("marcel: Select was ended by a node that is not its own")
}

// enlist opens the wait and enlists in the queues of the cases. It returns false at the first case that is ready.
func (s *selection) enlist(cases []Case) bool {
	s.bounded.Open()
	s.open = true
	for i, c := range cases {
		if !isOff(c) && !c.Enlist(s.bounded.Node(i)) {
			return false
		}
		s.enlisted = i + 1
	}
	return true
}

// withdraw leaves the queues of the cases that have enlisted the selection.
func (s *selection) withdraw(cases []Case) {
	if s.watches {
		s.watches = false
		s.bounded.Unwatch(s.bounded.Last())
	}
	for s.enlisted > 0 {
		s.enlisted--
		if c := cases[s.enlisted]; !isOff(c) {
			c.Withdraw(s.bounded.Node(s.enlisted))
		}
	}
}

// end ends the wait, in whichever state it is, leaves the queues, and frees the wait.
func (s *selection) end(cases []Case) {
	if s.open && !s.bounded.Close() {
		s.bounded.Wait()
	}
	s.withdraw(cases)
	s.bounded.Free()
}

const (
	pollsPerLook = 64                      // polls between two looks at the time
	pollEagerly  = 1500 * time.Microsecond // for so long a selection yields between two polls; after that it sleeps for pollNap
	pollNap      = 50 * time.Microsecond
)

// wait parks until the wait has been claimed, or polls until then.
func (s *selection) wait(cases []Case, ctx context.Context) *sched.Waiter {
	if !s.polled || !mustPoll(cases) {
		return s.bounded.Wait()
	}
	begin := time.Now()
	for n := 1; ; n++ {
		if s.bounded.Claimed() || !mustPoll(cases) || s.bounded.Expired() || s.kind&sched.Uninterruptible == 0 && sched.Canceled() || ctx != nil && ctx.Err() != nil {
			return s.bounded.Wait()
		}
		switch {
		case n < pollsPerLook:
			Yield()
		case time.Since(begin) < pollEagerly:
			n = 0
		default:
			calls.Nap(pollNap)
		}
	}
}

// mustPoll polls once for each PollingCase, and reports whether one of them needs the waiter to go on.
func mustPoll(cases []Case) (must bool) {
	for _, c := range cases {
		if p, ok := c.(PollingCase); ok && !isOff(c) && p.Poll() {
			must = true
		}
	}
	return must
}
