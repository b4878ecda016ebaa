package marcel_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

// linear has the clients of a round act on a new object, and checks what they saw.
// prepare makes the object, and returns what a client does in one turn, and what is to
// be done at the end so that all that wait return.
func linear(t *testing.T, rounds int, m porcupine.Model, prepare func(h *history, r *rand.Rand) (turn func(id int, r *rand.Rand), end func())) {
	t.Helper()
	worlds(t, func(w *world) {
		for round := range rounds {
			var (
				h    history
				done sync.WaitGroup
			)
			turn, end := prepare(&h, rand.New(rand.NewPCG(uint64(round), 1)))
			done.Add(clients)
			for id := range clients {
				w.Go(func() {
					defer done.Done()
					r := rand.New(rand.NewPCG(uint64(id), uint64(round)))
					for range calls / 2 {
						turn(id, r)
						if r.IntN(2) == 0 {
							marcel.Yield()
						}
					}
				})
			}
			if end != nil {
				end()
			}
			done.Wait()
			h.check(w, m)
		}
	})
}

// soon is a short time, of those in which something may happen or not.
func soon(r *rand.Rand) time.Duration { return time.Duration(r.IntN(60)) * time.Microsecond }

// condState: one that waits is in line, granted a signal, or has given up, which only one that
// has been granted none can. Each wait is two operations of the same duration: "join" and
// "woken" or "gave up".
type condState struct{ waiting, granted int }

var condModel = porcupine.Model{
	Init: func() any { return condState{} },
	Step: func(state, in, _ any) (bool, any) {
		s := state.(condState)
		switch in.(call).name {
		case "join":
			s.waiting++
		case "woken":
			s.granted--
		case "gave up":
			s.waiting--
		case "Signal":
			if s.waiting > 0 {
				s.waiting--
				s.granted++
			}
		case "Broadcast":
			s.granted += s.waiting
			s.waiting = 0
		}
		return s.waiting >= 0 && s.granted >= 0, s
	},
	DescribeOperation: describe,
}

func TestCondIsLinearizable(t *testing.T) {
	linear(t, effort.Of(60), condModel, func(h *history, _ *rand.Rand) (func(int, *rand.Rand), func()) {
		var m marcel.Mutex
		c := marcel.NewCond(&m)
		return func(id int, r *rand.Rand) {
			k, d := r.IntN(8), soon(r)
			switch k {
			case 0, 1, 2:
				m.Lock()
				begin, woken := h.now.Add(1), false
				if k == 0 {
					woken = shortly(d, c.WaitContext) == nil
				} else {
					woken = c.WaitTimeout(d)
				}
				end := h.now.Add(1)
				m.Unlock()
				h.add(id, "join", true, begin, end)
				h.add(id, map[bool]string{true: "woken", false: "gave up"}[woken], true, begin, end)
			case 3:
				h.do(id, "Broadcast", func() bool { c.Broadcast(); return true })
			default:
				h.do(id, "Signal", func() bool { c.Signal(); return true })
			}
		}, nil
	})
}

// onceModel: "begin" is when a caller has decided to run the function, "end" when the Once
// knows that it has returned. Both happen inside of that caller's call: before the function's
// first step, and after its last one.
var onceModel = porcupine.Model{
	Init: func() any { return "idle" },
	Step: func(state, in, out any) (bool, any) {
		switch s := state.(string); in.(call).name {
		case "begin":
			return s == "idle", "running"
		case "end":
			return s == "running", "done"
		case "DoContext":
			return !out.(bool) || s == "done", s // it may have been late all the time
		default:
			return out.(bool) == (s == "done") && (out.(bool) || s == "running"), s
		}
	},
	DescribeOperation: describe,
}

func TestOnceIsLinearizable(t *testing.T) {
	linear(t, effort.Of(150), onceModel, func(h *history, how *rand.Rand) (func(int, *rand.Rand), func()) {
		var o marcel.Once
		pause := how.IntN(4)
		return func(id int, r *rand.Rand) {
			var first, last int64
			f := func() {
				first = h.now.Add(1)
				for range pause {
					marcel.Yield()
				}
				last = h.now.Add(1)
			}
			begin := h.now.Add(1)
			defer func() {
				if last != 0 {
					h.add(clients+id, "begin", true, begin, first)
					h.add(clients+id, "end", true, last, h.now.Add(1))
				}
			}()
			d := soon(r)
			switch r.IntN(4) {
			case 0:
				h.do(id, "Do", func() bool { o.Do(f); return true })
			case 1:
				h.do(id, "TryDo", func() bool { return o.TryDo(f) })
			case 2:
				h.do(id, "DoTimeout", func() bool { return o.DoTimeout(d, f) })
			case 3:
				h.do(id, "DoContext", func() bool {
					return shortly(d, func(ctx context.Context) error { return o.DoContext(ctx, f) }) == nil
				})
			}
		}, nil
	})
}

// timerModel: its time comes with Reset(0), "expire", and with "arm" not while the test
// lasts.
var timerModel = porcupine.Model{
	Init: func() any { return "idle" },
	Step: func(state, in, out any) (bool, any) {
		s, yes := state.(string), out.(bool)
		switch in.(call).name {
		case "expire":
			return yes == (s != "idle"), "expired"
		case "arm":
			return yes == (s != "idle"), "running"
		case "Stop":
			return yes == (s != "idle"), "idle"
		case "WaitContext":
			if !yes {
				return true, s // it may have been late all the time
			}
		}
		if yes {
			return s == "expired", "idle"
		}
		return s != "expired", s
	},
	DescribeOperation: describe,
}

func TestTimerIsLinearizable(t *testing.T) {
	linear(t, effort.Of(100), timerModel, func(h *history, _ *rand.Rand) (func(int, *rand.Rand), func()) {
		var x marcel.Timer
		return func(id int, r *rand.Rand) {
			d := soon(r)
			switch r.IntN(7) {
			case 0:
				h.do(id, "arm", func() bool { return x.Reset(time.Hour) })
			case 1, 2:
				h.do(id, "expire", func() bool { return x.Reset(0) })
			case 3:
				h.do(id, "Stop", x.Stop)
			case 4:
				h.do(id, "TryWait", x.TryWait)
			case 5:
				h.do(id, "WaitTimeout", func() bool { return x.WaitTimeout(d) })
			case 6:
				h.do(id, "WaitContext", func() bool {
					return shortly(d, func(ctx context.Context) error {
						if took, err := x.WaitContext(ctx); !took {
							return errors.Join(err, errOops)
						}
						return nil
					}) == nil
				})
			}
		}, nil
	})
}

// ticks is a call on a Ticker: how many ticks had passed before it at least, and after it
// at most.
type ticks struct{ before, after int }

// tickerModel: the state is how many have been taken. One that gets some gets all that have
// passed by then; one that gets none has met a moment at which all had been taken.
var tickerModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, in, out any) (bool, any) {
		taken, now := state.(int)+out.(int), in.(ticks)
		return now.before <= taken && (out.(int) == 0 || taken <= now.after), taken
	},
	DescribeOperation: describe,
}

func TestTickerIsLinearizable(t *testing.T) {
	const period = 20 * time.Microsecond
	linear(t, effort.Of(60), tickerModel, func(h *history, _ *rand.Rand) (func(int, *rand.Rand), func()) {
		early := time.Now()
		x := marcel.NewTicker(period)
		late := time.Now()
		return func(id int, r *rand.Rand) {
			in, n, d := ticks{}, 0, soon(r)
			begin := h.now.Add(1)
			in.before = int(time.Since(late) / period)
			switch r.IntN(4) {
			case 0:
				n = x.Wait()
			case 1:
				n = x.TryWait()
			case 2:
				n = x.WaitTimeout(d)
			case 3:
				k := x.Case()
				if marcel.TrySelect(k) == 0 {
					n = k.Ticks
				}
			}
			in.after = int(time.Since(early) / period)
			end := h.now.Add(1)
			h.mu.Lock()
			h.ops = append(h.ops, porcupine.Operation{ClientId: id, Input: in, Call: begin, Output: n, Return: end})
			h.mu.Unlock()
		}, nil
	})
}

// lifeState is of a thread that one may ask to end: "end" is the thread's own. It has been
// canceled only if that was asked for before.
type lifeState struct{ asked, ended, canceled bool }

var lifeModel = porcupine.Model{
	Init: func() any { return lifeState{} },
	Step: func(state, in, out any) (bool, any) {
		s, yes := state.(lifeState), out.(bool)
		switch in.(call).name {
		case "end": // yes: by a cancel
			return !s.ended && (!yes || s.asked), lifeState{s.asked, true, yes}
		case "Cancel":
			if !yes {
				return s.ended, s
			}
			return !s.ended, lifeState{true, false, false}
		case "JoinContext":
			return !yes || s.ended, s // it may have been late all the time
		case "outcome": // yes: canceled
			return s.ended && s.canceled == yes, s
		default:
			return yes == s.ended, s
		}
	},
	DescribeOperation: describe,
}

func TestJoinIsLinearizable(t *testing.T) {
	linear(t, effort.Of(120), lifeModel, func(h *history, first *rand.Rand) (func(int, *rand.Rand), func()) {
		var permit marcel.Semaphore
		begin := h.now.Add(1)
		x := marcel.Spawn(permit.Acquire)
		pause := first.IntN(60)
		return func(id int, r *rand.Rand) {
				d := soon(r)
				outcome := func(ended bool, err error) bool {
					if ended {
						now := h.now.Add(1)
						h.add(clients+1+id, "outcome", errors.Is(err, marcel.ErrCanceled), now, h.now.Add(1))
					}
					return ended
				}
				switch r.IntN(8) {
				case 0:
					h.do(id, "Ended", x.Ended)
				case 1:
					h.do(id, "Cancel", func() bool { return x.Cancel() == nil })
				case 2, 3:
					ended, err := false, error(nil)
					h.do(id, "TryJoin", func() bool { ended, err = x.TryJoin(); return ended })
					outcome(ended, err)
				case 4, 5:
					ended, err := false, error(nil)
					h.do(id, "JoinTimeout", func() bool { ended, err = x.JoinTimeout(d); return ended })
					outcome(ended, err)
				case 6:
					ended, err := false, error(nil)
					h.do(id, "JoinContext", func() bool {
						_ = shortly(d, func(ctx context.Context) error { ended, err = x.JoinContext(ctx); return nil })
						return ended
					})
					outcome(ended, err)
				case 7:
					h.do(id, "Select", func() bool { return marcel.SelectTimeout(d, marcel.Ended(x)) == 0 })
				}
			}, func() {
				for range pause {
					marcel.Yield()
				}
				permit.Release()
				err := x.Join()
				h.add(clients, "end", errors.Is(err, marcel.ErrCanceled), begin, h.now.Add(1))
			}
	})
}

// eitherModel: two semaphores, of which Select takes from either. A Select that gave up has looked at them one after
// the other: of it nothing is noted.
var eitherModel = porcupine.Model{
	Init: func() any { return [2]int{1, 0} },
	Step: func(state, in, out any) (bool, any) {
		n, got := state.([2]int), out.(int)
		switch in.(call).name {
		case "Release":
			n[got]++
		case "TryAcquire": // of the first
			if got < 0 {
				return n[0] == 0, n
			}
			n[0]--
		default:
			if got >= 0 {
				n[got]--
			}
		}
		return n[0] >= 0 && n[1] >= 0, n
	},
	DescribeOperation: describe,
}

func TestSelectIsLinearizable(t *testing.T) {
	linear(t, effort.Of(80), eitherModel, func(h *history, _ *rand.Rand) (func(int, *rand.Rand), func()) {
		s := [2]*marcel.Semaphore{marcel.NewSemaphore(1), marcel.NewSemaphore(0)}
		var released atomic.Int64
		do := func(id int, name string, f func() int) int {
			begin := h.now.Add(1)
			got := f()
			h.add(id, name, got, begin, h.now.Add(1))
			return got
		}
		return func(id int, r *rand.Rand) {
			d, got := soon(r), -1
			switch r.IntN(4) {
			case 0:
				got = do(id, "TrySelect", func() int { return marcel.TrySelect(s[0].Case(), s[1].Case()) })
			case 1:
				got = do(id, "SelectTimeout", func() int { return marcel.SelectTimeout(d, s[0].Case(), s[1].Case()) })
			case 2:
				got = do(id, "TryAcquire", func() int {
					if s[0].TryAcquire() {
						return 0
					}
					return -1
				})
			case 3:
				got = do(id, "Select", func() int { // with a limit of its own: one has to be last
					i := marcel.Select(s[0].Case(), s[1].Case(), marcel.After(d))
					if i == 2 {
						i = -1
					}
					return i
				})
			}
			if got >= 0 || released.Add(1) < 3 {
				do(id, "Release", func() int { i := r.IntN(2); s[i].Release(); return i })
			}
		}, nil
	})
}

// The models of this file refuse what must not be.
func TestMoreModels(t *testing.T) {
	op := func(id int, name string, out any, begin, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: id, Input: call{name: name}, Call: begin, Output: out, Return: end}
	}
	for name, bad := range map[string]struct {
		m   porcupine.Model
		ops []porcupine.Operation
	}{
		"a signal spent on one that gave up": {condModel, []porcupine.Operation{op(0, "join", true, 1, 2), op(1, "Signal", true, 3, 4), op(0, "gave up", true, 5, 6)}},
		"a wake-up without a signal":         {condModel, []porcupine.Operation{op(0, "join", true, 1, 2), op(0, "woken", true, 3, 4)}},
		"a Once that runs twice":             {onceModel, []porcupine.Operation{op(0, "begin", true, 1, 2), op(0, "end", true, 3, 4), op(1, "begin", true, 5, 6)}},
		"a Once that does not wait":          {onceModel, []porcupine.Operation{op(0, "begin", true, 1, 2), op(1, "Do", true, 3, 4), op(0, "end", true, 5, 6)}},
		"an expiry taken twice":              {timerModel, []porcupine.Operation{op(0, "expire", false, 1, 2), op(0, "TryWait", true, 3, 4), op(1, "TryWait", true, 5, 6)}},
		"an expiry that is not there":        {timerModel, []porcupine.Operation{op(0, "expire", false, 1, 2), op(1, "WaitTimeout", false, 3, 4)}},
		"a tick taken twice":                 {tickerModel, []porcupine.Operation{{Input: ticks{1, 2}, Output: 1, Call: 1, Return: 2}, {Input: ticks{1, 1}, Output: 1, Call: 3, Return: 4}}},
		"a tick that is lost":                {tickerModel, []porcupine.Operation{{Input: ticks{2, 2}, Output: 1, Call: 1, Return: 2}}},
		"a join before the end":              {lifeModel, []porcupine.Operation{op(1, "TryJoin", true, 1, 2), op(0, "end", false, 3, 4)}},
		"an end that is not seen":            {lifeModel, []porcupine.Operation{op(0, "end", false, 1, 2), op(1, "JoinTimeout", false, 3, 4)}},
		"canceled by no thread":              {lifeModel, []porcupine.Operation{op(0, "end", true, 1, 2)}},
		"another outcome":                    {lifeModel, []porcupine.Operation{op(0, "end", false, 1, 2), op(1, "outcome", true, 3, 4)}},
		"two cases of one Select":            {eitherModel, []porcupine.Operation{op(0, "Select", 0, 1, 2), op(1, "TryAcquire", 0, 3, 4)}},
		"a unit that Select has lost":        {eitherModel, []porcupine.Operation{op(0, "Select", -1, 1, 2), op(1, "TryAcquire", -1, 3, 4)}},
	} {
		if porcupine.CheckOperations(bad.m, bad.ops) {
			t.Errorf("%s: not seen", name)
		}
	}
}
