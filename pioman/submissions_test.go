package pioman

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"
)

func drained(s *submissions) (names []string) {
	for t := s.takeAll(); t != nil; t = t.next {
		names = append(names, t.name)
	}
	return names
}

// One thread: the list is a queue that is emptied at once.
func TestSubmissionsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s submissions
		var model []string
		n := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(*rapid.T) {
				n++
				s.push(&Task{name: fmt.Sprint(n)})
				model = append(model, fmt.Sprint(n))
			},
			"takeAll": func(t *rapid.T) {
				if got := drained(&s); !slices.Equal(got, model) {
					t.Fatalf("took %v, want %v", got, model)
				}
				model = nil
			},
			"": func(t *rapid.T) {
				if s.empty() != (len(model) == 0) {
					t.Fatalf("empty: %v with %d pushed", s.empty(), len(model))
				}
			},
		})
	})
}

// Several producers and consumers: every history is one that a queue, whose takeAll is
// atomic, could have had.
func TestSubmissionsAreLinearizable(t *testing.T) {
	type input struct {
		take bool
		name string
	}
	model := porcupine.Model{
		Init: func() any { return []string{} },
		Step: func(state, in, out any) (bool, any) {
			have := state.([]string)
			if i := in.(input); !i.take {
				return true, append(slices.Clone(have), i.name)
			}
			return slices.Equal(have, out.([]string)), []string{}
		},
		Equal: func(a, b any) bool { return slices.Equal(a.([]string), b.([]string)) },
	}
	const producers, each = 3, 4
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for round := range rounds {
		var s submissions
		var mu sync.Mutex
		var history []porcupine.Operation
		var clock int64
		now := func() int64 { mu.Lock(); defer mu.Unlock(); clock++; return clock }
		record := func(client int, in input, f func() any) {
			call := now()
			out := f()
			end := now()
			mu.Lock()
			history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
			mu.Unlock()
		}
		var wg sync.WaitGroup
		for p := range producers {
			wg.Go(func() {
				for i := range each {
					name := fmt.Sprintf("%d.%d", p, i)
					task := &Task{name: name}
					record(p, input{name: name}, func() any { s.push(task); return nil })
					if i%2 == 0 {
						runtime.Gosched()
					}
				}
			})
		}
		wg.Go(func() {
			for range each {
				record(producers, input{take: true}, func() any { return drained(&s) })
				runtime.Gosched()
			}
		})
		wg.Wait()
		record(producers, input{take: true}, func() any { return drained(&s) })
		if !porcupine.CheckOperations(model, history) {
			t.Fatalf("round %d: not linearizable: %+v", round, history)
		}
	}
}

// No task gets lost or comes twice, and each producer's come in order, with
// more producers than VPs.
func TestSubmissionsStress(t *testing.T) {
	const producers = 8
	each := 20000
	if testing.Short() {
		each = 2000
	}
	var s submissions
	var wg sync.WaitGroup
	tasks := make([][]Task, producers)
	for p := range producers {
		tasks[p] = make([]Task, each)
		wg.Go(func() {
			for i := range each {
				tasks[p][i].roundNo, tasks[p][i].bits = uint32(i), uint32(p)
				s.push(&tasks[p][i])
			}
		})
	}
	var next [producers]uint32
	finishes(t, "draining", func() {
		for total := 0; total < producers*each; {
			for x := s.takeAll(); x != nil; x = x.next {
				if x.roundNo != next[x.bits] {
					t.Errorf("producer %d: got %d, want %d", x.bits, x.roundNo, next[x.bits])
					return
				}
				next[x.bits]++
				total++
			}
			runtime.Gosched()
		}
	})
	wg.Wait()
	if !s.empty() {
		t.Error("something is left")
	}
}
