package sched

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// What several goroutines do at once to the queues of VPs and nodes, in the place of LWPs,
// thieves and outsiders, must be explained by an order of their operations in which each
// of them does what a plain list would do (Herlihy and Wing, Linearizability, TOPLAS 1990).
// Queues begin with room for two threads.

// A queueOp is what was asked of a queue. Threads are told by their places in past.made.
type queueOp struct {
	name   string
	thread int
	vp     int
	node   int
	rank   rank
	turn   uint32 // of the VP, after it
	may    bool   // it may have been refused: see past.excuse
}

// made is what the models have to know of a thread.
type made struct {
	rank rank
	vps  VPSet // empty: all
}

func (md made) mayRun(vp int) bool { return md.vps.Empty() || md.vps.Has(vp) }

// A past is what the clients of one round did, and got.
type past struct {
	now  atomic.Int64 // orders calls and returns: each takes the next number
	mu   sync.Mutex
	ops  []porcupine.Operation
	made []made
	ids  map[*thread]int
	put  []*thread // those that have been in a queue
}

// thread makes a thread for a queue of s. It may run on vps, all if there is none, and is one
// that can be put on nodes.
func (ps *past) thread(s *Scheduler, r rank, vps VPSet) (id int, t *thread) {
	t = ofRank(r)
	t.vp = s.vps[0]
	t.extras.Store(&extras{id: t.id})
	if !vps.Empty() {
		t.set.Store(&vps)
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.ids == nil {
		ps.ids = map[*thread]int{}
	}
	id = len(ps.made)
	ps.ids[t] = id
	ps.made = append(ps.made, made{r, vps})
	return id, t
}

// id is the place of t; -1 for nil.
func (ps *past) id(t *thread) int {
	if t == nil {
		return -1
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	id, ok := ps.ids[t]
	if !ok {
		panic("a thread that the test has not made")
	}
	return id
}

// known says that t has been in a queue.
func (ps *past) known(t *thread) {
	ps.mu.Lock()
	ps.put = append(ps.put, t)
	ps.mu.Unlock()
}

// any is one of those that have been in a queue; nil: there is none yet.
func (ps *past) any(r *rand.Rand) *thread {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.put) == 0 {
		return nil
	}
	return ps.put[r.IntN(len(ps.put))]
}

// do records one operation of a client; f, which does it, may complete op.
func (ps *past) do(client int, op queueOp, f func(op *queueOp) any) {
	begin := ps.now.Add(1)
	out := f(&op)
	ps.add(client, op, out, begin, ps.now.Add(1))
}

func (ps *past) add(client int, op queueOp, out any, begin, end int64) {
	ps.mu.Lock()
	ps.ops = append(ps.ops, porcupine.Operation{ClientId: client, Input: op, Call: begin, Output: out, Return: end})
	ps.mu.Unlock()
}

// excuse leaves the mark that they may have been refused only to those operations during which
// one that excludes them was under way.
func (ps *past) excuse(excludes func(op queueOp) bool) {
	for i, o := range ps.ops {
		op := o.Input.(queueOp)
		could := op.may
		op.may = false
		for j, q := range ps.ops {
			if could && i != j && q.Call < o.Return && o.Call < q.Return && excludes(q.Input.(queueOp)) {
				op.may = true
			}
		}
		ps.ops[i].Input = op
	}
}

// log tells what happened.
func (ps *past) log(t testing.TB) {
	t.Helper()
	for _, o := range ps.ops {
		t.Logf("client %d, from %d to %d: %+v: %#v", o.ClientId, o.Call, o.Return, o.Input, o.Output)
	}
	for i, m := range ps.made {
		t.Logf("thread %d: rank %d, VPs %v", i, m.rank, m.vps)
	}
}

// check fails the test if no order of the operations explains the results.
func (ps *past) check(t testing.TB, m porcupine.Model) {
	t.Helper()
	switch porcupine.CheckOperationsTimeout(m, ps.ops, 30*time.Second) {
	case porcupine.Illegal:
		t.Errorf("no order explains these %d operations:", len(ps.ops))
		ps.log(t)
		t.FailNow()
	case porcupine.Unknown:
		t.Fatalf("undecided after half a minute: %d operations are too many", len(ps.ops))
	}
}

// together has each client take turns at the same time as the others.
func together(round, turns int, clients ...func(id int, r *rand.Rand)) {
	var ready atomic.Int32
	var done sync.WaitGroup
	for id, turn := range clients {
		r := rand.New(rand.NewPCG(uint64(id), uint64(round)))
		done.Go(func() {
			for ready.Add(1); int(ready.Load()) < len(clients); {
				runtime.Gosched()
			}
			for range turns {
				if turn(id, r); r.IntN(3) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	done.Wait()
}

// The models keep lists of threads in strings, a byte for each, the oldest first, so that their
// states can be compared.

func with(list string, thread int) string { return list + string(rune(thread)) }

func without(list string, thread int) string {
	return strings.Replace(list, string(rune(thread)), "", 1)
}
