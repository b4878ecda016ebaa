package sched

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// distances draws how far in the future, in ns, something is: of any size, and
// often at the border of a slot or of a level, one tick or ns to either side.
func distances() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return rapid.Int64Range(-5000, 200<<tickBits).Draw(t, "near")
		case 1:
			return 1 << rapid.IntRange(0, 62).Draw(t, "magnitude")
		case 2:
			level := rapid.IntRange(0, levels-1).Draw(t, "level")
			turns := rapid.Int64Range(1, 2).Draw(t, "turns")
			off := rapid.Int64Range(-2, 2).Draw(t, "ns off") + rapid.Int64Range(-1, 1).Draw(t, "ticks off")<<tickBits
			return turns<<(min(level*slotBits, 50)+tickBits) + off
		}
		return rapid.Int64Range(0, maxAt).Draw(t, "far")
	})
}

// The wheel against a list: whatever is started, stopped and expired in whatever
// portions, with time going on in steps of any size, all that is over comes out,
// in order of time, and nothing that is not.
func TestWheelAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			w       wheel
			now     = rapid.Int64Range(0, 1<<rapid.IntRange(1, 60).Draw(t, "magnitude")).Draw(t, "begin")
			pending []*timer
			dist    = distances()
		)
		w.cur = uint64(now) >> tickBits
		expire := func(budget int) {
			last := uint64(0)
			for {
				work := budget
				tm := w.expired(uint64(now)>>tickBits, &work)
				if tm == nil {
					if work > 0 || w.soon() > now {
						break
					}
					continue // the portion was too small
				}
				i := slices.Index(pending, tm)
				if i < 0 {
					t.Fatalf("%d came out, which is not pending", tm.at)
				}
				pending = slices.Delete(pending, i, i+1)
				if tm.at > now {
					t.Fatalf("%d came out at %d, too early", tm.at, now)
				}
				tick := max(tickOf(tm.at), last)
				if tick != tickOf(tm.at) && tickOf(tm.at) >= startedAt(tm) {
					t.Fatalf("%d came out after tick %d", tm.at, last)
				}
				last = tick
			}
			for _, tm := range pending {
				if tickOf(tm.at) <= uint64(now)>>tickBits {
					t.Fatalf("%d is over at %d, and did not come out", tm.at, now)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"start": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					tm := &timer{at: max(now+min(dist.Draw(t, "in"), maxAt-now), 0), owner: w.cur}
					w.insert(tm)
					pending = append(pending, tm)
				}
			},
			"stop": func(t *rapid.T) {
				if len(pending) > 0 {
					i := rapid.IntRange(0, len(pending)-1).Draw(t, "which")
					if !w.remove(pending[i]) || w.remove(pending[i]) {
						t.Fatal("it was pending, and now it is not")
					}
					pending = slices.Delete(pending, i, i+1)
				}
			},
			"go on": func(t *rapid.T) {
				now += min(max(dist.Draw(t, "for"), 0), maxAt-now)
				expire(rapid.IntRange(1, 100).Draw(t, "portion"))
			},
			"begin to go on": func(t *rapid.T) { // and leave it at the first portion
				now += min(max(dist.Draw(t, "for"), 0), maxAt-now)
				work := rapid.IntRange(1, 5).Draw(t, "portion")
				if tm := w.expired(uint64(now)>>tickBits, &work); tm != nil {
					if tm.at > now {
						t.Fatalf("%d came out at %d, too early", tm.at, now)
					}
					pending = slices.DeleteFunc(pending, func(x *timer) bool { return x == tm })
				}
			},
			"go on to the next": func(t *rapid.T) {
				if s := w.soon(); s < maxAt {
					now = max(now, s)
					expire(1000)
				}
			},
			"": func(t *rapid.T) { checkWheel(t, &w, pending) },
		})
	})
}

// startedAt is the tick at which the wheel stood when the test started tm: one that
// was over by then comes out late.
func startedAt(tm *timer) uint64 { return tm.owner.(uint64) }

// checkWheel checks that the wheel holds pending and nothing else, in the right
// lists, and that soon is right.
func checkWheel(t *rapid.T, w *wheel, pending []*timer) {
	n := 0
	for p := range w.lists {
		var prev *timer
		for tm := w.lists[p].First(); tm != nil; prev, tm = tm, tm.node.Next() {
			if tm.place != wheelList(p) || tm.node.Prev() != prev || p < int(firstSlot) {
				t.Fatalf("a broken list at %d", p)
			}
			n++
		}
		if w.lists[p].Last() != prev {
			t.Fatalf("the end of list %d is wrong", p)
		}
		if p >= int(firstSlot) {
			i := p - int(firstSlot)
			if w.full[i/slots]>>(i%slots)&1 != 0 != (prev != nil) {
				t.Fatalf("the bit of slot %d says the wrong thing", i)
			}
		}
	}
	if n != len(pending) {
		t.Fatalf("%d in the wheel, %d pending", n, len(pending))
	}
	first := uint64(maxAt) >> tickBits
	for _, tm := range pending {
		first = min(first, tickOf(tm.at))
	}
	soon := w.soon()
	if bound := int64(max(first, w.cur) << tickBits); soon > bound {
		t.Fatalf("it wants to be asked at %d, but one is over at %d", soon, bound)
	} else if n <= fewTimers && w.lists[w.cascading].Empty() && soon != bound {
		t.Fatalf("it wants to be asked at %d, but the first of %d is over at %d", soon, n, bound)
	}
}

// One timer at each border of each level, and at the end of time: it comes out at
// its tick and not before, also if time goes on by a single tick there, or over
// all of them at once.
func TestWheelBorders(t *testing.T) {
	for _, begin := range []uint64{0, 1, 63, 64, 4095, 1<<18 - 1, 1 << 30, 1<<42 - 1, 1<<48 - 1} {
		for level := range levels {
			for _, off := range []int64{-1, 0, 1} {
				for _, turns := range []uint64{1, 63, 64} {
					tick := begin + turns<<(level*slotBits) + uint64(off)
					if tick <= begin || tick > maxAt>>tickBits {
						continue
					}
					var w wheel
					w.cur = begin
					tm := &timer{at: int64(tick << tickBits)}
					w.insert(tm)
					if s := w.soon(); s != tm.at {
						t.Fatalf("from %d: %d is the first, not %d", begin, tm.at, s)
					}
					work := math.MaxInt
					if w.expired(tick-1, &work) != nil || w.soon() != tm.at {
						t.Fatalf("from %d: %d came a tick too early", begin, tick)
					}
					if w.expired(tick, &work) != tm {
						t.Fatalf("from %d: %d did not come", begin, tick)
					}
					if w.expired(1<<52, &work) != nil || w.soon() != maxAt {
						t.Fatalf("from %d: %d came again", begin, tick)
					}
				}
			}
		}
	}
}

// Nothing is rounded down, and there is no time too far away.
func TestTimes(t *testing.T) {
	for _, x := range []struct {
		at   int64
		tick uint64
	}{{0, 0}, {1, 1}, {1023, 1}, {1024, 1}, {1025, 2}, {maxAt - 1, 1 << 52}, {maxAt, 1 << 52}} {
		if got := tickOf(x.at); got != x.tick {
			t.Errorf("tickOf(%d) = %d, want %d", x.at, got, x.tick)
		}
	}
	if after(math.MaxInt64) != maxAt || after(maxAt) != maxAt {
		t.Error("the end of time is not where it ought to be")
	}
	if before, a := nanotime(), after(math.MinInt64); a < before || a > nanotime() {
		t.Error("a time before now is not now")
	}
}

// In steady state starting and stopping allocates nothing.
func TestWheelDoesNotAllocate(t *testing.T) {
	var w wheel
	var tms [100]timer
	if n := testing.AllocsPerRun(100, func() {
		for i := range tms {
			tms[i].at = int64(i * i * 12345)
			w.insert(&tms[i])
		}
		for i := range tms {
			w.remove(&tms[i])
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
