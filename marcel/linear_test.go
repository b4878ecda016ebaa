package marcel_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

// A history is what several clients did to one object at the same time, and what
// they got. The object is linearizable if the calls can be put in an order in
// which each of them gets what the sequential model says, and in which a call that
// had returned comes before one that began later.
type history struct {
	now atomic.Int64 // orders calls and returns: each takes the next number
	mu  sync.Mutex
	ops []porcupine.Operation
}

type call struct {
	name  string
	phase int // of a Barrier
}

// do records one call of client id.
func (h *history) do(id int, name string, f func() bool) bool {
	begin := h.now.Add(1)
	res := f()
	h.add(id, name, res, begin, h.now.Add(1))
	return res
}

// add records a call that was made otherwise.
func (h *history) add(id int, name string, res any, begin, end int64) {
	h.addCall(id, call{name: name}, res, begin, end)
}

func (h *history) addCall(id int, c call, res any, begin, end int64) {
	h.mu.Lock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: id, Input: c, Call: begin, Output: res, Return: end})
	h.mu.Unlock()
}

// check fails the test if no order of the calls explains the results.
func (h *history) check(t testing.TB, m porcupine.Model) {
	t.Helper()
	switch porcupine.CheckOperationsTimeout(m, h.ops, 30*time.Second) {
	case porcupine.Illegal:
		t.Errorf("no order explains these %d calls:", len(h.ops))
		for _, o := range h.ops {
			t.Logf("client %d, from %d to %d: %s", o.ClientId, o.Call, o.Return, m.DescribeOperation(o.Input, o.Output))
		}
		t.FailNow()
	case porcupine.Unknown:
		t.Fatalf("undecided after half a minute: %d calls are too many", len(h.ops))
	}
}

func describe(in, out any) string { return fmt.Sprintf("%+v: %v", in, out) }

// semaphoreModel: a call that did not get a unit must have met a moment without
// one, also if it waited; one that got a unit, a moment with one.
func semaphoreModel(n int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return n },
		Step: func(state, in, out any) (bool, any) {
			n := state.(int)
			switch {
			case in.(call).name == "Release":
				return true, n + 1
			case out.(bool):
				return n > 0, n - 1
			case in.(call).name == "AcquireContext": // it may have been late all the time
				return true, n
			default:
				return n == 0, n
			}
		},
		DescribeOperation: describe,
	}
}

// mutexModel: the state is whether it is locked.
func mutexModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return false },
		Step: func(state, in, out any) (bool, any) {
			locked := state.(bool)
			switch {
			case in.(call).name == "Unlock":
				return locked, false
			case out.(bool):
				return !locked, true
			case in.(call).name == "LockContext": // it may have been late all the time
				return true, locked
			default:
				return locked, locked
			}
		},
		DescribeOperation: describe,
	}
}

// TestModels: the check finds what it is there for.
func TestModels(t *testing.T) {
	op := func(id int, name string, out bool, begin, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: id, Input: call{name: name}, Call: begin, Output: out, Return: end}
	}
	wait := func(id, phase int, out bool, begin, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: id, Input: call{"wait", phase}, Call: begin, Output: out, Return: end}
	}
	arrive := func(id, phase int, begin, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: id, Input: call{name: "Arrive"}, Call: begin, Output: phase, Return: end}
	}
	for name, bad := range map[string]struct {
		m   porcupine.Model
		ops []porcupine.Operation
	}{
		"two units out of one":        {semaphoreModel(1), []porcupine.Operation{op(0, "TryAcquire", true, 1, 2), op(1, "TryAcquire", true, 3, 4)}},
		"a unit that was there":       {semaphoreModel(0), []porcupine.Operation{op(0, "Release", true, 1, 2), op(1, "TryAcquire", false, 3, 4)}},
		"two owners":                  {mutexModel(), []porcupine.Operation{op(0, "Lock", true, 1, 2), op(1, "TryLock", true, 3, 5), op(0, "Unlock", true, 6, 7)}},
		"a reader beside a writer":    {rwModel(marcel.PreferNeither), []porcupine.Operation{op(0, "Lock", true, 1, 2), op(1, "RLock", true, 3, 4), op(0, "Unlock", true, 5, 6)}},
		"a reader that is not let in": {rwModel(marcel.PreferReaders), []porcupine.Operation{op(0, "RLock", true, 1, 2), op(1, "RLock", false, 3, 4)}},
		"a wait that ends too early":  {countModel, []porcupine.Operation{op(0, "Add", true, 1, 2), op(1, "Wait", true, 3, 4), op(0, "Done", true, 5, 6)}},
		"a wait that does not end":    {countModel, []porcupine.Operation{op(0, "Add", true, 1, 2), op(0, "Done", true, 3, 4), op(1, "TryWait", false, 5, 6)}},
		"one wake-up for two":         {queueModel, []porcupine.Operation{op(0, "join", true, 1, 8), op(0, "woken", true, 1, 8), op(1, "join", true, 2, 9), op(1, "woken", true, 2, 9), op(2, "Wake", true, 3, 4), op(2, "Wake", false, 5, 6)}},
		"a wait on another value":     {queueModel, []porcupine.Operation{op(0, "set", true, 1, 2), op(1, "join", true, 3, 6), op(0, "Wake", true, 4, 5), op(1, "woken", true, 3, 6)}},
		"a phase that ends too early": {phaseModel(2), []porcupine.Operation{arrive(0, 0, 1, 2), wait(0, 0, true, 3, 4), arrive(1, 0, 5, 6)}},
		"a phase without an end":      {phaseModel(2), []porcupine.Operation{arrive(0, 0, 1, 2), arrive(1, 0, 3, 4), wait(0, 0, false, 5, 6)}},
		"a free one that looks taken": {mutexModel(), []porcupine.Operation{op(0, "Lock", true, 1, 2), op(0, "Unlock", true, 3, 4), op(1, "TryLock", false, 5, 6)}},
	} {
		if porcupine.CheckOperations(bad.m, bad.ops) {
			t.Errorf("%s: not seen", name)
		}
	}
}

const (
	clients = 6
	calls   = 12 // of each; the check takes exponential time in those that overlap
)

func TestSemaphoreIsLinearizable(t *testing.T) {
	worlds(t, func(w *world) {
		for round := range effort.Of(150) {
			var (
				h    history
				s    = marcel.NewSemaphore(2)
				done sync.WaitGroup
			)
			done.Add(clients)
			for id := range clients {
				w.Go(func() {
					defer done.Done()
					r := rand.New(rand.NewPCG(uint64(id), uint64(round)))
					for range calls {
						got := false
						switch r.IntN(5) {
						case 0:
							got = h.do(id, "TryAcquire", s.TryAcquire)
						case 1:
							d := time.Duration(r.IntN(60)) * time.Microsecond
							got = h.do(id, "AcquireTimeout", func() bool { return s.AcquireTimeout(d) })
						case 2:
							d := time.Duration(r.IntN(60)) * time.Microsecond
							got = h.do(id, "AcquireContext", func() bool { return shortly(d, s.AcquireContext) == nil })
						case 3:
							got = h.do(id, "Acquire", func() bool { s.Acquire(); return true })
						case 4: // one unit more
							got = r.IntN(8) == 0
						}
						if r.IntN(2) == 0 {
							marcel.Yield()
						}
						if got {
							h.do(id, "Release", func() bool { s.Release(); return true })
						}
					}
				})
			}
			done.Wait()
			h.check(w, semaphoreModel(2))
		}
	})
}
