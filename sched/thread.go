package sched

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/direct"
)

// thread is the descriptor of a thread. A thread that has not begun, a seed, has no co; a thread that has begun runs on
// one. A descriptor serves one thread after another; id, the number of the thread, tells them apart.
type thread struct {
	// A waker reads these fields: 64 bytes, one cache line that moves from CPU to CPU with the wake. A descriptor has
	// 192 bytes, and Go's size class of 192 bytes aligns it to cache lines.
	vp     *vp        // where it is queued when it is ready; its waker, or a thief, writes it
	link   *thread    // the next one in vp.inbox or vp.freeDescriptors
	class  queueClass // in which queue it belongs; 0: in the VP's own, with Default priority
	mu     Spin       // guards joiners, and the changes that other threads make while it lives: see lockAlive
	waiter Waiter     // its place in a wait queue, for fast waits

	// Few threads need these fields.
	joiners WaitQueue    // under mu
	bounded *BoundedWait // made for the first wait that needs one; it stays with the descriptor
	_       [8]byte

	// The VP that runs the thread reads these fields. A plain thread needs this cache line and the first.
	co          *co // on which it runs; nil: it has not begun
	body        Body
	set         atomic.Pointer[VPSet]  // where it may run; nil: anywhere. Written under mu (SetVPs), or while only its maker knows it
	extras      atomic.Pointer[extras] // nil: it has none
	wokenAt     wakeStamp              // when it was woken, if this wake is sampled. Its waker writes it, the VP that runs it clears it
	asked       uint32                 // 1: another thread has locked mu, or is about to: see end
	id          uint64                 // its number, 0 once it has ended; any thread may read it: see end
	currentWait *BoundedWait           // the BoundedWait in which it waits; nil: none. Others read it by currentWaitHint
}

// Body is what a thread made by SpawnBody runs. The thread calls Run once.
type Body interface{ Run() }

// funcBody is a function as a Body; the runner calls the function itself.
type funcBody func()

// Run implements Body.
func (f funcBody) Run() { f() }

// Thread is a handle of a thread: a value that stays valid for ever. Once the thread has ended the handle says so, even
// when its descriptor serves another thread. The zero Thread stands for no thread.
type Thread struct {
	thread *thread
	id     uint64
}

// Attr says how a thread is to be made. The zero value is what Spawn has.
type Attr struct {
	VPs      VPSet    // where it may run; the zero VPSet: anywhere
	Name     string   // for errors, lists and tools
	Catch    bool     // a panic does not end the program: Join returns it as a *PanicError
	Detached bool     // it is not to be joined, as after Detach: Join fails with ErrDetached
	Priority Priority // which ready threads go first
	Level    Level    // on the run queue of which topology level it waits; 0: of its VP
	Bubble   Bubble   // the bubble that it begins in, a *place.Bubble; then Level has no effect

	// Pinned: it has an OS thread of its own, which ends with it: for C code, system calls and libraries that need a
	// fixed one, and for runtime.LockOSThread. Otherwise it is a thread like others, but each of its waits and yields
	// takes microseconds instead of nanoseconds. If there may be no more OS threads (Config.MaxLWPs) it does not run,
	// and Join returns a *LimitError.
	Pinned bool

	NonPreemptible bool // it keeps its VP until it waits or yields: see marcel.DisablePreemption
	NonMigratable  bool // it stays on the VP on which it begins, as if VPs were that one alone: no other VP steals it, and SetVPs lets it go
}

var (
	// ErrDetached: Join of a thread that was detached.
	ErrDetached = errors.New("marcel: join of a detached thread")
	// ErrJoinSelf: a thread that joins itself would wait for ever.
	ErrJoinSelf = errors.New("marcel: a thread cannot join itself")
	// ErrNoThread: the zero Thread, or, for what needs a live one, one that has ended.
	ErrNoThread = errors.New("marcel: no such thread")
)

// PanicError is a panic that ended a thread made with Attr.Catch.
type PanicError struct {
	Thread string // which thread
	Value  any    // what was given to panic
	Stack  []byte // the thread's stack at the panic
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panic in %s: %v\n\n%s", e.Thread, e.Value, e.Stack)
}

// Unwrap returns the value of the panic if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Spawn makes a thread that runs fn. A thread that calls Spawn gets it on its own scheduler, at first on its own VP; a
// plain goroutine gets it on the default scheduler, which starts if need be. Spawn does not block, and panics if fn is
// nil. A panic in fn ends the program.
func Spawn(fn func()) Thread { return spawn(funcBody(fn)) }

// SpawnBody is Spawn of a Body: the caller need not allocate a closure.
func (moduleCalls) SpawnBody(b Body) Thread { return spawn(b) }

// spawn is Spawn and SpawnBody.
func spawn(b Body) Thread {
	check(b)
	c := Enter()
	if c == nil {
		return Default().spawn(nil, Attr{}, b)
	}
	v := c.l.vp
	t := v.descriptor()
	t.body, t.vp = b, v
	h := Thread{t, t.id}
	storeRel64(&v.spawned, v.spawned+1)
	if v.trace.Load() != nil {
		c.tracedWake(TraceSpawn, t)
	}
	if k := habitOfBody(b); k != nil {
		v.startByHabit(t, k)
	} else {
		v.ready(t, true)
	}
	storeRel(&c.inside, c.inUser)
	return h
}

// check panics in the caller of a spawn if there is nothing to run. A panic in the thread could not be recovered, and
// its stack would not name the spawner.
func check(b Body) {
	if f, ok := b.(funcBody); b == nil || ok && f == nil {
		panic("marcel: spawn of a nil function")
	}
}

// SpawnWith is Spawn with attributes. It allocates. It panics if a names no VP of the scheduler, a priority or level
// that does not exist, or a bubble that refuses the thread.
func (moduleCalls) SpawnWith(a Attr, fn func()) Thread {
	check(funcBody(fn))
	c := Enter()
	s := (*Scheduler)(nil)
	if c != nil {
		s = c.l.vp.sched
	} else {
		s = Default()
	}
	h := s.spawn(c, a, funcBody(fn))
	c.Leave()
	return h
}

// Spawn makes a thread on s that runs fn. Any goroutine or thread may call it, also a thread of another scheduler. It
// does not block. It panics as SpawnWith does, and if s has been stopped.
func (s *Scheduler) Spawn(a Attr, fn func()) Thread {
	check(funcBody(fn))
	c := Enter()
	defer c.Leave() // not before: a thread must not be preempted while it holds a lock of s
	if c != nil && c.l.vp.sched != s {
		c = nil // for s, a thread of another scheduler is an outsider
	}
	return s.spawn(c, a, funcBody(fn))
}

// spawn is Spawn within an operation of c, a thread of s; a nil c is a goroutine, or a thread of another scheduler.
// Before a panic it ends the operation.
func (s *Scheduler) spawn(c *co, a Attr, b Body) Thread {
	t := newThread()
	t.body = b
	t.applyAttr(a)
	t.class.store(t.class.load().with(a.Priority.rank()))
	h := Thread{t, t.id}
	if err := cmp.Or(a.Priority.check(), a.Level.check()); err != nil {
		c.Leave()
		panic(fmt.Sprintf("%v (spawn)", err))
	}
	if a.VPs != (VPSet{}) {
		set, err := s.allowed(a.VPs)
		if err != nil {
			c.Leave()
			panic(fmt.Sprintf("%v (spawn)", err))
		}
		t.confine(set)
	}
	if c != nil && t.mayRun(c.l.vp) {
		t.vp = c.l.vp
	} else {
		t.vp = s.place(t)
	}
	if a.NonMigratable {
		set := OneVP(t.vp.id)
		t.confine(&set)
	}
	if a.Level != 0 {
		t.assign(t.vp.nodeAt(a.Level))
	}
	if c == nil {
		s.admit() // before the bubble counts the thread: if admit panics, the thread never ends
	}
	if a.Bubble != nil {
		if err := a.Bubble.Adopt(h); err != nil {
			if c == nil {
				s.dismiss()
			}
			c.Leave()
			panic(fmt.Sprintf("%v (spawn)", err))
		}
	}
	if tracing.Load() != 0 {
		c.tracedWake(TraceSpawn, t)
	}
	if c != nil && t.vp == c.l.vp {
		storeRel64(&t.vp.spawned, t.vp.spawned+1)
		t.vp.ready(t, true)
	} else {
		if c != nil {
			s.spawnedOutside.Add(1)
		}
		t.vp.post(t)
	}
	return h
}

// newThread returns a descriptor with a number of its own, which only the caller knows.
func newThread() *thread {
	t := &thread{id: lastID.Add(1)}
	t.waiter.thread = t
	t.mu.ranked(rankThread)
	raceBirth()
	return t
}

// lockAlive locks t.mu on behalf of another thread, and reports whether thread number id still lives. While the lock
// is held a live thread does not end. The caller unlocks t.mu in either case.
func (t *thread) lockAlive(id uint64) (alive bool) {
	storeRel(&t.asked, 1) // before the lock: see end
	t.mu.Lock()
	return atomic.LoadUint64(&t.id) == id
}

// Join waits until the thread has ended. While it waits, a calling thread lets other threads run; a plain goroutine
// blocks. Any number of threads and goroutines may join, any number of times, also long after the end. Join returns the
// *PanicError of a thread made with Attr.Catch, ErrCanceled, ErrDetached, ErrJoinSelf or ErrNoThread.
func (h Thread) Join() error {
	_, err := h.join(nil)
	return err
}

// TryJoin is Join without waiting. If the thread has ended, ended is true and err tells how. Else ended is false, and
// a non-nil err is the error that Join would return at once.
func (h Thread) TryJoin() (ended bool, err error) {
	switch {
	case h.thread == nil:
		return false, ErrNoThread
	case !h.Ended():
		return false, h.unjoinable(lookup())
	}
	return true, h.outcome()
}

// JoinTimeout is Join for at most d. If ended is true err tells how the thread has ended. If ended is false and err is
// nil the time was over first. If d <= 0 it is TryJoin.
func (h Thread) JoinTimeout(d time.Duration) (ended bool, err error) {
	if d <= 0 {
		return h.TryJoin()
	}
	if ended, err = h.join(&Limit{Timeout: d}); err == context.DeadlineExceeded && !ended {
		err = nil
	}
	return ended, err
}

// JoinContext is Join until ctx is done. If ended is true err tells how the thread has ended. If ctx
// is done first, or is done at the call, ended is false and err is the cause of ctx.
func (h Thread) JoinContext(ctx context.Context) (ended bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return h.join(&Limit{Context: ctx})
}

// join is Join within lim; nil: without a limit. It is a function of its own so that the compiler inlines
// Join: then a joiner returns from the switch through one frame less.
//
// ended is false if the wait was given up, or if there is nothing to wait for.
func (h Thread) join(lim *Limit) (ended bool, err error) {
	t := h.thread
	if t == nil {
		return false, ErrNoThread
	}
	if atomic.LoadUint64(&t.id) == h.id {
		c := EnterLibrary()
		if c != nil && lim == nil && c.withdraw(h) {
			c.joinNow(t)
			return true, h.outcome()
		}
		if !t.lockAlive(h.id) { // it has ended just now
			t.mu.Unlock()
			c.Leave()
			return true, h.outcome()
		}
		if t.extras.Load() != nil || c != nil && c.cur == t { // else there cannot be a reason
			if err := h.unjoinable(c); err != nil {
				t.mu.Unlock()
				c.Leave()
				return false, err
			}
		}
		if c.As(InJoin); lim == nil {
			c.Wait(&t.joiners, &t.mu)
		} else if _, err := c.WaitUntil(&t.joiners, &t.mu, *lim); err != nil {
			return false, err
		}
	}
	return true, h.outcome()
}

// unjoinable tells why c must not wait for the end of the thread, which lives; nil: it may. A nil c is
// a goroutine.
func (h Thread) unjoinable(c *co) error {
	if x := h.extras(); x != nil && x.detached.Load() {
		return ErrDetached
	}
	if c != nil && c.cur == h.thread {
		return ErrJoinSelf
	}
	return nil
}

// outcome tells how the thread has ended.
func (h Thread) outcome() error {
	if x := h.extras(); x != nil {
		return x.err
	}
	return nil
}

// Ended reports whether the thread has ended. It does not block.
func (h Thread) Ended() bool { return h.thread == nil || atomic.LoadUint64(&h.thread.id) != h.id }

// Self returns the handle of the calling thread; the zero Thread on a plain goroutine.
func Self() Thread {
	c := lookup()
	if c == nil {
		return Thread{}
	}
	if t := c.cur; t != nil {
		return Thread{t, t.id}
	}
	return Thread{}
}

// OnThread reports whether the caller is a thread; false on a plain goroutine and in an idle hook.
func OnThread() bool {
	c := lookup()
	return c != nil && !c.base
}

// Yield lets the next ready thread of the caller's VP run, unless all that are ready have a lower priority. The caller
// goes to the end of the queue. On a plain goroutine, and in an idle hook, Yield is runtime.Gosched.
func Yield() {
	c := lookup()
	if c == nil || c.base {
		runtime.Gosched()
		return
	}
	if v := c.vpHint(); !v.sched.hooks.Empty(hooks.Yield) { // before Enter, since no hook may run inside an operation
		v.fire(hooks.Yield)
	}
	storeRel(&c.inside, c.inUser|isIn)
	c.acquire()
	if !isDirect || c.l.vp.word.load() != c.id {
		c.comeBack()
	}
	if t, o := c.l.vp.swap(c.cur); t != nil {
		c.switchTo(t, o)
		v := c.l.vp // this repeats co.resumed by hand, as co.Wait does
		storeRel(&c.inside, c.inUser)
		if !v.sched.hooks.Silent(hooks.Switch) || c.cur.extras.Load() != nil {
			c.resumedSlow()
			c.cur.waiter.kind = InOther
		}
		return
	}
	if !c.cur.belongs(c.l.vp) {
		c.move()
		return
	}
	storeRel(&c.inside, c.inUser)
	if x := c.cur.extras.Load(); x != nil && x.requests.Load() != 0 {
		c.parkSuspended(x)
	}
}

// OthersReady reports whether another thread is ready on the caller's VP, so that a caller that spins keeps it from
// running: a hint. It is false on a plain goroutine.
func OthersReady() bool {
	c := lookup()
	return c != nil && !c.base && c.vpHint().hasWork()
}

// Blocking runs f, which may block in the kernel, in Go or in C, while the calling thread has given its VP away, so
// that other threads of the VP go on. f may call the scheduler: at that call the thread waits for a VP. If no LWP has
// taken the VP when f returns, the thread has it back at once. On a plain goroutine Blocking just calls f.
func Blocking(f func()) {
	pending := false
	if c := lookup(); c != nil && !c.base { // before Enter, since no hook may run inside an operation
		v := c.vpHint()
		h := &v.sched.hooks
		h.Fire(hooks.Library, v.id)
		pending = !h.Empty(hooks.Timer) && h.Fire(hooks.Timer, v.id) != hooks.Quiet
	}
	c := Enter()
	if c == nil {
		f()
		return
	}
	v := c.l.vp
	if v.trace.Load() != nil {
		v.mark(TraceAway, c.cur, 0, 0)
	}
	c.inBlocking = true
	v.numBlocking.Add(1)
	if pending {
		v.idle.kick() // release wakes a spare, which is to wait for what is pending
	}
	if isDirect || c.stays {
		c.l.blockingCo.Store(c)
		v.release(c.l)
		storeRel(&c.inside, c.inUser)
	} else {
		base := c.detachPortable(v)
		storeRel(&c.inside, c.inUser) // before Ready: other threads take a co that is inside and not current for parked
		direct.Ready(base)
	}
	f() // if f panics or exits, the runner gets the VP back when it ends the thread
	c.enter()
	storeRel(&c.inside, c.inUser)
	if x := c.cur.extras.Load(); x != nil {
		c.renew(x)
	}
}
