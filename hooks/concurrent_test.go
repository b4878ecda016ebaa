package hooks

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHookMayUnregisterItselfAndOthers(t *testing.T) {
	var s Set
	var a, b, c *Hook
	calls := map[string]int{}
	a = mustRegister(t, &s, Idle, 1, "a", func(int) Verdict { calls["a"]++; a.Unregister(); c.Unregister(); return Quiet })
	b = mustRegister(t, &s, Idle, 2, "b", func(int) Verdict { calls["b"]++; return Quiet })
	c = mustRegister(t, &s, Idle, 3, "c", func(int) Verdict { calls["c"]++; return Quiet })
	s.Fire(Idle, 0)
	s.Fire(Idle, 0)
	if calls["a"] != 1 || calls["b"] != 2 || calls["c"] != 0 {
		t.Errorf("calls %v; want a once, b twice, c never", calls)
	}
	b.Unregister()
	if !s.Empty(Idle) {
		t.Errorf("left: %v", s.Registered(Idle))
	}
}

func TestHookRegisteredDuringAWalkRunsInTheNext(t *testing.T) {
	var s Set
	late := 0
	var once sync.Once
	mustRegister(t, &s, Idle, 1, "first", func(int) Verdict {
		once.Do(func() {
			mustRegister(t, &s, Idle, 2, "late", func(int) Verdict { late++; return Busy })
		})
		return Quiet
	})
	if v := s.Fire(Idle, 0); v != Quiet || late != 0 {
		t.Errorf("first walk: %v, %d late calls", v, late)
	}
	if v := s.Fire(Idle, 0); v != Busy || late != 1 {
		t.Errorf("second walk: %v, %d late calls", v, late)
	}
}

// A walk that is under way and has the hook still before it must not call it
// after Unregister has returned.
func TestWalkUnderWaySkipsAnUnregisteredHook(t *testing.T) {
	var s Set
	inside, goOn := make(chan struct{}), make(chan struct{})
	mustRegister(t, &s, Idle, 1, "blocks", func(int) Verdict { close(inside); <-goOn; return Quiet })
	called := false
	h := mustRegister(t, &s, Idle, 2, "victim", func(int) Verdict { called = true; return Quiet })
	done := make(chan struct{})
	go func() { defer close(done); s.Fire(Idle, 0) }()
	<-inside
	h.Unregister()
	close(goOn)
	<-done
	if called {
		t.Error("called after Unregister had returned")
	}
}

// Unregister does not wait for a call in progress: the test would hang.
func TestUnregisterDoesNotWaitForACallInProgress(t *testing.T) {
	var s Set
	inside, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	h := mustRegister(t, &s, Timer, 1, "slow", func(int) Verdict { close(inside); <-goOn; return Quiet })
	go func() { defer close(done); s.Fire(Timer, 0) }()
	<-inside
	h.Unregister()
	close(goOn)
	<-done
}

// The stress behind "no call begins after Unregister returned". A hook of higher
// priority looks, in each walk, which victims have been unregistered for certain
// (the mark is set after Unregister returned). If the victim's turn comes later
// in that same walk, its call began after that. Nothing here depends on timing:
// without the mark in Hook this fails within milliseconds.
func TestNoCallBeginsAfterUnregisterReturned(t *testing.T) {
	const walkers, churners = 4, 3
	var s Set
	var stop atomic.Bool
	var walks, skipped, violations atomic.Int64

	type victim struct{ unregistered atomic.Bool }
	var current [churners]atomic.Pointer[victim]
	type view struct {
		seen [churners]*victim // unregistered for certain when this walk began its victims
		_    [128]byte
	}
	var views [walkers]view // written by the walker with that vp only

	mustRegister(t, &s, Idle, 0, "witness", func(vp int) Verdict {
		for c := range current {
			views[vp].seen[c] = nil
			if v := current[c].Load(); v != nil && v.unregistered.Load() {
				views[vp].seen[c] = v
				skipped.Add(1)
			}
		}
		return Quiet
	})
	// Gives the churners room between the slice being loaded and the call.
	mustRegister(t, &s, Idle, -1, "delay", func(int) Verdict { runtime.Gosched(); return Quiet })

	var all sync.WaitGroup
	for vp := range walkers {
		all.Add(1)
		go func() {
			defer all.Done()
			for !stop.Load() {
				s.Fire(Idle, vp)
				walks.Add(1)
			}
		}()
	}
	for c := range churners {
		all.Add(1)
		go func() {
			defer all.Done()
			for !stop.Load() {
				v := &victim{}
				h, err := s.Register(Idle, 1+c, "victim "+strconv.Itoa(c), func(vp int) Verdict {
					if views[vp].seen[c] == v {
						violations.Add(1)
					}
					return Quiet
				})
				if err != nil {
					t.Error(err)
					return
				}
				current[c].Store(v)
				runtime.Gosched()
				h.Unregister()
				v.unregistered.Store(true)
				runtime.Gosched()
			}
		}()
	}
	// Until enough happened, not for a time.
	for (walks.Load() < 50_000 || skipped.Load() < 10_000) && violations.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	stop.Store(true)
	all.Wait()
	if n := violations.Load(); n != 0 {
		t.Errorf("%d calls began after Unregister had returned (%d walks)", n, walks.Load())
	}
	if names := s.Registered(Idle); len(names) != 2 {
		t.Errorf("left registered: %v", names)
	}
}

// Whatever a set is told from many goroutines, in the end it holds exactly what
// was registered and not unregistered, in order.
func TestConcurrentChangesLoseNothing(t *testing.T) {
	const workers, each = 8, 300
	var s Set
	var all sync.WaitGroup
	kept := make([][]*Hook, workers)
	for w := range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range each {
				h, err := s.Register(Switch, i%7, strconv.Itoa(i%7), quiet)
				if err != nil {
					t.Error(err)
					return
				}
				if i%10 == 0 {
					kept[w] = append(kept[w], h)
				} else {
					go h.Unregister() // twice at once, too
					h.Unregister()
				}
				s.Fire(Switch, w)
			}
		}()
	}
	all.Wait()
	names := s.Registered(Switch)
	if len(names) != workers*each/10 {
		t.Fatalf("%d hooks left, want %d", len(names), workers*each/10)
	}
	for i := 1; i < len(names); i++ {
		if names[i-1] > names[i] {
			t.Fatalf("out of order: %v", names)
		}
	}
	for _, hs := range kept {
		for _, h := range hs {
			h.Unregister()
		}
	}
	if !s.Empty(Switch) {
		t.Errorf("left: %v", s.Registered(Switch))
	}
}

// The set against a plain sorted list, over random histories.
func TestSetFollowsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type entry struct {
			hook *Hook
			id   int
			prio int
		}
		var s Set
		var model [NumPoints][]entry
		var called []int
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"register": func(t *rapid.T) {
				p := Point(rapid.IntRange(0, int(NumPoints)-1).Draw(t, "point"))
				prio := rapid.IntRange(-2, 2).Draw(t, "priority")
				id := next
				next++
				h, err := s.Register(p, prio, strconv.Itoa(id), func(int) Verdict {
					called = append(called, id)
					return Verdict(id % 3)
				})
				if err != nil {
					t.Fatal(err)
				}
				at := len(model[p])
				for at > 0 && model[p][at-1].prio > prio {
					at--
				}
				model[p] = append(model[p], entry{})
				copy(model[p][at+1:], model[p][at:])
				model[p][at] = entry{h, id, prio}
			},
			"unregister": func(t *rapid.T) {
				p := Point(rapid.IntRange(0, int(NumPoints)-1).Draw(t, "point"))
				if len(model[p]) == 0 {
					return
				}
				i := rapid.IntRange(0, len(model[p])-1).Draw(t, "which")
				model[p][i].hook.Unregister()
				model[p] = append(model[p][:i:i], model[p][i+1:]...)
			},
			"": func(t *rapid.T) {
				for p := range NumPoints {
					called = nil
					got, want := s.Fire(p, 0), Quiet
					if s.Empty(p) != (len(model[p]) == 0) || len(called) != len(model[p]) {
						t.Fatalf("%v: %d hooks called, %d in the model", p, len(called), len(model[p]))
					}
					for i, e := range model[p] {
						want = max(want, Verdict(e.id%3))
						if called[i] != e.id {
							t.Fatalf("%v: called %v, hook %d was due at %d", p, called, e.id, i)
						}
					}
					if got != want {
						t.Fatalf("%v: %v, want %v", p, got, want)
					}
				}
			},
		})
	})
}
