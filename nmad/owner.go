package nmad

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/pioman"
)

// owner is a thread, or a goroutine, that has private domains, in any sessions. Only its own calls move these domains. So
// each of its calls that waits moves all of them, whatever it waits for. Else two owners could wait for each other for
// ever, each in another domain than the one in which the other owner waits for it.
//
// The domains have one engine: a waiter that polls it polls them all, and one that sleeps in it sleeps on the descriptors
// of all. The owner also waits in its own engine for what another engine moves, while something is under way in its own
// domains:
//
//	what is waited for is moved by        the owner waits in     which also polls
//	its engine                            its engine             that of the session, if something is under way there and no hook polls it
//	another one; its domains are at rest  that one
//	another one                           its engine             that one
//
// A call that polls its own gate before it waits (waiter, Request.Test, a probe) polls the engine at every turnEvery-th
// look that finds nothing. So calls that never wait for long move the other domains, too.
type owner struct {
	_           [pad]byte
	engine      *pioman.Engine                // of the domains
	domains     atomic.Int32                  // that are open; under the mu of owners
	otherEngine atomic.Pointer[pioman.Engine] // that is polled as well; nil: none, and task is inactive. The owner writes
	hooked      bool                          // as with knew it; the owner's
	task        pioman.Task                   // polls beside, in engine
	poll        pioman.Handler                // of it
	emptyLooks  uint                          // looks; the owner's
	_           [pad]byte
}

// turnEvery is how many looks of a caller find nothing before it moves its other domains: a look at shared memory takes
// about 100 ns, a poll of an engine 50 ns and more.
const turnEvery = 8

// ownerList has the owners of the process.
type ownerList struct {
	mu  sync.Mutex // of changes
	all atomic.Pointer[[]owning]
}

// owning says which thread an owner is.
type owning struct {
	thread uint64 // asm.GoID
	*owner
}

var owners ownerList

// join makes the caller the owner of one more domain. shared: other processes use its CPUs.
func (list *ownerList) join(shared bool) *owner {
	list.mu.Lock()
	defer list.mu.Unlock()
	o := list.caller()
	if o == nil {
		o = &owner{engine: pioman.New(pioman.Config{SharedCPUs: shared})}
		o.poll = o.pollOther
		var all []owning
		if old := list.all.Load(); old != nil {
			all = slices.Clone(*old)
		}
		all = append(all, owning{asm.GoID(), o})
		list.all.Store(&all)
	}
	o.domains.Add(1)
	return o
}

// leave takes one domain from its owner; with the last one the engine ends. Any thread calls it.
func (list *ownerList) leave(o *owner) {
	list.mu.Lock()
	last := o.domains.Add(-1) == 0
	if last {
		var left *[]owning
		if all := slices.DeleteFunc(slices.Clone(*list.all.Load()), func(x owning) bool { return x.owner == o }); len(all) > 0 {
			left = &all
		}
		list.all.Store(left)
	}
	list.mu.Unlock()
	if last {
		_ = o.engine.Close() // not from its handler, so it cannot fail
	}
}

// caller is the owner that the caller is; nil: it has no private domain. One load if no thread has any.
func (list *ownerList) caller() *owner {
	if all := list.all.Load(); all != nil {
		return callerAmong(*all)
	}
	return nil
}

//go:noinline
func callerAmong(all []owning) *owner {
	me := asm.GoID()
	for i := range all {
		if all[i].thread == me {
			return all[i].owner
		}
	}
	return nil
}

// others returns the caller if it has to move other private domains than those that a look in this domain moves; else nil.
func (x *domainAccess) others() *owner {
	if x == nil || x.owner == nil {
		return owners.caller()
	}
	if x.owner.domains.Load() > 1 && x.ownerID == asm.GoID() { // a guest leaves that to the owner
		return x.owner
	}
	return nil
}

// pollNowAndThen moves the domains on, at some of the calls. The owner calls it, without a lock, after a look that has found
// nothing.
func (o *owner) pollNowAndThen() {
	if o.emptyLooks++; o.emptyLooks%turnEvery == 0 && o.engine.Pending() > 0 {
		o.engine.Poll()
	}
}

// advance moves the gate on, once, for a caller that may look again and again, and with it now and then its other domains.
func (g *Gate) advance() {
	g.poll()
	if o := g.private.others(); o != nil {
		o.pollNowAndThen()
	}
}

// advance moves all gates of the domain on, in the same way.
func (d *Domain) advance() {
	d.poll()
	if o := d.access.others(); o != nil {
		o.pollNowAndThen()
	}
}

// waitsIn is the engine in which the caller waits for what e moves.
func waitsIn(e *pioman.Engine) *pioman.Engine {
	o := owners.caller()
	if o == nil || o.engine != e && o.engine.Pending() == 0 {
		return e
	}
	if o.engine != e {
		o.alsoPoll(e)
	}
	return o.engine
}

// waitsIn is the engine in which the caller, which may use the gate, waits for what happens there.
func (g *Gate) waitsIn() *pioman.Engine {
	if g.private == nil {
		return waitsIn(g.waitEngine)
	}
	g.private.owner.withSession(g.domain.s)
	return g.waitEngine
}

// withSession makes a wait in the engine of the domains poll the session's engine, too, if something is under way there
// and no hook polls it.
func (o *owner) withSession(s *Session) {
	if e := s.cfg.Engine; !e.Hooked() && e.Pending() > 0 {
		o.alsoPoll(e)
	} else if o.otherEngine.Load() != nil {
		o.alsoPoll(nil)
	}
}

// alsoPoll makes the pollers of the engine poll another one as well; nil: none. If hooks poll that other one, a sleeper need
// not wake for it now and then.
func (o *owner) alsoPoll(e *pioman.Engine) {
	hooked := e == nil || e.Hooked()
	if o.otherEngine.Load() == e && o.hooked == hooked || o.task.Cancel() != nil { // its handler runs, and the caller in it: the wait will fail
		return
	}
	o.otherEngine.Store(e)
	if o.hooked = hooked; e == nil {
		return
	}
	how := pioman.Repeat
	if !hooked {
		how |= pioman.Blind
	}
	o.task.Init("nmad engine beside private domains", o.poll, how)
	_ = o.engine.Submit(&o.task) // refused: the last domain was closed just now
}

func (o *owner) pollOther(t *pioman.Task) pioman.Status {
	if o.otherEngine.Load().Turn(t) == pioman.Moved {
		return pioman.Moved
	}
	return pioman.Again
}
