package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ofRank makes a thread of that priority, or one of Default priority that was preempted.
func ofRank(r rank) *thread {
	t := newThread()
	if r == cpuBoundRank {
		t.co = &co{cur: t, cpuBound: true}
	} else {
		t.class.store(t.class.load().with(r))
	}
	return t
}

// classRank is the rank that a thread has in its class.
func classRank(r rank) rank { return r.priority().rank() }

// unhurried is a scheduler in which preempted threads have no turns by time.
func unhurried() *Scheduler { return &Scheduler{slice: 1 << 62} }

var drawRank = rapid.Custom(func(t *rapid.T) rank { return rank(rapid.IntRange(0, ranks-1).Draw(t, "rank")) })

// TestQueue: rings with priorities against a model, a list for each priority, under
// both policies, with priorities that change while threads are queued.
func TestQueue(t *testing.T) {
	defer func(n int) { minRing = n }(minRing)
	minRing = 2
	rapid.Check(t, func(t *rapid.T) {
		v := vp{sched: unhurried()}
		lifo := rapid.Bool().Draw(t, "LIFO")
		if lifo {
			v.q.nonDefault = lifoBit
		}
		var model [ranks][]*thread // the oldest first
		total := func() (n int) {
			for _, m := range model {
				n += len(m)
			}
			return n
		}
		t.Repeat(map[string]func(*rapid.T){
			"ready": func(t *rapid.T) {
				r := drawRank.Draw(t, "rank")
				x := ofRank(r)
				v.q.add(x)
				model[r] = append(model[r], x)
			},
			"yielder": func(t *rapid.T) {
				r := drawRank.Draw(t, "rank")
				x := ofRank(r)
				v.q.addYielder(x)
				if lifo {
					model[r] = slices.Insert(model[r], 0, x)
				} else {
					model[r] = append(model[r], x)
				}
			},
			"pop": func(t *rapid.T) {
				low := classRank(drawRank.Draw(t, "low"))
				x := v.choose(low)
				most := low
				if low == defaultRank {
					most = cpuBoundRank // those that were preempted are of Default priority
				}
				for r := range most + 1 {
					m := model[r]
					if len(m) == 0 {
						continue
					}
					i := 0
					if lifo {
						if i = len(m) - 1; v.choices%anyEvery == 0 && len(m) > 1 {
							i = int(v.choices/anyEvery) % len(m)
							m[i], m[len(m)-1] = m[len(m)-1], m[i]
							i = len(m) - 1
						}
					}
					if x != m[i] {
						t.Fatalf("not the next one of rank %d", r)
					}
					if v.chosenRank != r {
						t.Fatal("the priority of the running thread is not known")
					}
					model[r] = slices.Delete(m, i, i+1)
					return
				}
				if x != nil {
					t.Fatalf("got one of rank %d, lowest was %d", x.rank(), low)
				}
			},
			"change": func(t *rapid.T) {
				n := total()
				if n == 0 {
					t.Skip()
				}
				k := rapid.IntRange(0, n-1).Draw(t, "which")
				to := classRank(drawRank.Draw(t, "to"))
				for r := range model {
					if k >= len(model[r]) {
						k -= len(model[r])
						continue
					}
					x := model[r][k]
					x.class.store(x.class.load().with(to))
					v.sortNow()
					if to == defaultRank && x.co != nil {
						to = cpuBoundRank
					}
					if rank(r) != to {
						model[r] = slices.Delete(model[r], k, k+1)
						model[to] = append(model[to], x)
					}
					return
				}
			},
			"": func(t *rapid.T) {
				if v.q.total() != total() {
					t.Fatalf("%d threads, want %d", v.q.total(), total())
				}
				for r, m := range model {
					if there := v.q.present()>>r&1 != 0; there != (len(m) > 0) {
						t.Fatalf("rank %d: present %v, %d threads", r, there, len(m))
					}
				}
			},
		})
	})
}

// TestShare: a thief gets the older half of those that may move, in order, of the
// highest priorities; the others stay in order.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type spec struct {
			bound bool
			r     rank
		}
		specs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) spec {
			return spec{rapid.Bool().Draw(t, "bound"), drawRank.Draw(t, "rank")}
		}), 0, 20).Draw(t, "threads")
		v, o := vp{sched: unhurried(), id: 0}, vp{sched: unhurried(), id: 1}
		onO := OneVP(1)
		var all []*thread
		for _, s := range specs {
			x := ofRank(s.r)
			x.vp = &o
			if s.bound {
				x.set.Store(&onO)
			}
			all = append(all, x)
			o.q.add(x)
		}
		slices.SortStableFunc(all, func(a, b *thread) int { return int(a.rank()) - int(b.rank()) })
		n := v.share(&o)
		want, got := (len(all)+1)/2, 0
		if randomSteals {
			if may := slices.ContainsFunc(all, func(x *thread) bool { return x.set.Load() == nil }); may && n == 0 {
				t.Fatal("moved none")
			}
			want = n // as chance has it
		}
		for _, x := range all {
			if x.set.Load() == nil && got < want {
				got++
				if y := v.choose(ranks - 1); y != x || x.vp != &v {
					t.Fatal("not the oldest of the highest priority, or not ours")
				}
			} else if o.choose(ranks-1) != x {
				t.Fatal("order lost")
			}
		}
		if n != got || v.q.total() != 0 || o.q.total() != 0 {
			t.Fatalf("moved %d, want %d", n, got)
		}
	})
}
