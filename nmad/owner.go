package nmad

import (
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/shelf"
	"github.com/pm2-go/pm2/pioman"
)

// owner is a thread or goroutine that has private domains, in any sessions. Only its own calls move these domains. So
// each of its calls that waits moves all of them, whatever it waits for. Otherwise two owners could wait for each other
// for ever, each in another domain than the one in which the other owner waits for it.
//
// All private domains of an owner share one engine: a waiter that polls the engine polls all of them, and one that
// sleeps in it sleeps on the descriptors of all. While something is under way in these domains, the owner also waits in
// this engine for what another engine moves:
//
//	what the owner waits for is moved by       the owner waits in     and its engine also polls
//	its own engine                             its own engine         the session's, if something is pending there and no hook polls it
//	another engine; its own has nothing to do  that other engine
//	another engine                             its own engine         that other engine
//
// A call that polls its own gate before it waits (waiter, Request.Test, a probe) also polls the engine at every
// turnEvery-th look that finds nothing. So calls that never wait for long move the other domains, too.
type owner struct {
	_           [pad]byte
	engine      *pioman.Engine                // moves the private domains of the owner
	domains     atomic.Int32                  // number of open domains; written under ownerList.mu
	otherEngine atomic.Pointer[pioman.Engine] // polls of engine also poll it, by task; nil if there is none. The owner writes it
	hooked      bool                          // hooks poll otherEngine, as alsoPoll has seen it; the owner's
	task        pioman.Task                   // polls otherEngine; a task of engine
	poll        pioman.Handler                // the function of task
	emptyLooks  uint                          // number of looks that have found nothing; the owner's
	_           [pad]byte
}

// turnEvery is the number of looks that find nothing after which a caller polls its other domains: a look at shared
// memory takes about 100 ns, a poll of an engine 50 ns and more.
const turnEvery = 8

// ownerList is the list of the owners of the process. Safe for concurrent use.
type ownerList struct {
	mu  sync.Mutex // serializes changes
	all shelf.Snapshot[owning]
}

// owning is an owner and its thread.
type owning struct {
	thread uint64 // asm.GoID of the thread or goroutine
	*owner
}

// owners has all owners of this process.
var owners ownerList

// join makes the caller the owner of one more domain. shared reports whether other
// processes use its CPUs.
func (list *ownerList) join(shared bool) *owner {
	list.mu.Lock()
	defer list.mu.Unlock()
	o := list.caller()
	if o == nil {
		o = &owner{engine: pioman.New(pioman.Config{SharedCPUs: shared})}
		o.poll = o.pollOther
		list.all.Add(owning{asm.GoID(), o})
	}
	o.domains.Add(1)
	return o
}

// leave takes one domain from its owner, and closes the engine with the last one. Any thread may call it.
func (list *ownerList) leave(o *owner) {
	list.mu.Lock()
	last := o.domains.Add(-1) == 0
	if last {
		list.all.Delete(func(x owning) bool { return x.owner == o })
	}
	list.mu.Unlock()
	if last {
		_ = o.engine.Close() // not from its handler, so it cannot fail
	}
}

// caller returns the owner that the calling thread is; nil if it has no private domain. It costs one load if no thread
// has any.
func (list *ownerList) caller() *owner {
	if all := list.all.All(); all != nil {
		return callerAmong(all)
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

// others returns the caller's owner if the caller has private domains that a look in this domain does not move; else
// nil. x may be nil.
func (x *domainAccess) others() *owner {
	if x == nil || x.owner == nil {
		return owners.caller()
	}
	if x.owner.domains.Load() > 1 && x.ownerID == asm.GoID() { // a guest (admit) leaves that to the owner
		return x.owner
	}
	return nil
}

// pollNowAndThen polls the owner's domains at every turnEvery-th call. The owner calls it, without a lock, after a look
// that has found nothing.
func (o *owner) pollNowAndThen() {
	if o.emptyLooks++; o.emptyLooks%turnEvery == 0 && o.engine.Pending() > 0 {
		o.engine.Poll()
	}
}

// advance polls the gate once, for a caller that may look again and again, and now and then the caller's other domains.
func (g *Gate) advance() {
	g.poll()
	if o := g.private.others(); o != nil {
		o.pollNowAndThen()
	}
}

// advance polls all gates of the domain in the same way.
func (d *Domain) advance() {
	d.poll()
	if o := d.access.others(); o != nil {
		o.pollNowAndThen()
	}
}

// waitsIn returns the engine in which the caller should wait for what e moves.
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

// waitsIn returns the engine in which the caller, which may use the gate, should wait for a request at the gate.
func (g *Gate) waitsIn() *pioman.Engine {
	if g.private == nil {
		return waitsIn(g.waitEngine)
	}
	g.private.owner.withSession(g.domain.session)
	return g.waitEngine
}

// withSession makes polls of the owner's engine also poll the session's engine, if something is pending there and no
// hook polls it; else it makes them poll no other engine.
func (o *owner) withSession(s *Session) {
	if e := s.cfg.Engine; !e.Hooked() && e.Pending() > 0 {
		o.alsoPoll(e)
	} else if o.otherEngine.Load() != nil {
		o.alsoPoll(nil)
	}
}

// alsoPoll makes polls of the owner's engine also poll e, or no other engine if e is nil. If hooks poll e, a sleeper in
// the owner's engine need not wake for it now and then.
func (o *owner) alsoPoll(e *pioman.Engine) {
	hooked := e == nil || e.Hooked()
	if o.otherEngine.Load() == e && o.hooked == hooked || o.task.Cancel() != nil {
		return // nothing changes; or the caller is inside the task's handler, where its wait will fail
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
