package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRing(t *testing.T) {
	defer func(n int) { minRing = n }(minRing)
	minRing = 2
	rapid.Check(t, func(t *rapid.T) {
		var q threadRing
		q.head = rapid.Uint32().Draw(t, "head") // so that the counters wrap
		q.tail = q.head
		var model []*thread
		took := func(x, want *thread) {
			if x != want {
				t.Fatal("wrong order")
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				x := &thread{}
				q.push(x)
				model = append(model, x)
			},
			"pushOld": func(t *rapid.T) {
				x := &thread{}
				q.pushOld(x)
				model = slices.Insert(model, 0, x)
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					took(q.pop(), nil)
					return
				}
				took(q.pop(), model[0])
				model = model[1:]
			},
			"rotate": func(t *rapid.T) {
				if len(model) == 0 {
					took(q.oldest(), nil)
					return
				}
				took(q.oldest(), model[0])
				x := &thread{}
				q.rotate(x)
				model = append(model[1:], x)
			},
			"popYoung": func(t *rapid.T) {
				if len(model) == 0 {
					took(q.popYoung(), nil)
					return
				}
				last := len(model) - 1
				took(q.popYoung(), model[last])
				model = model[:last]
			},
			"withdraw": func(t *rapid.T) {
				i := rapid.IntRange(0, len(model)).Draw(t, "place")
				look := rapid.IntRange(0, 5).Draw(t, "look")
				x := &thread{} // not there
				if i < len(model) {
					x = model[i]
				}
				want := i < len(model) && (i < look || i >= len(model)-look)
				if got := q.withdraw(x, look); got != want {
					t.Fatalf("withdraw of place %d of %d, looking at %d: %v", i, len(model), look, got)
				}
				if want {
					model = slices.Delete(slices.Clone(model), i, i+1)
				}
			},
			"": func(t *rapid.T) {
				if q.len() != len(model) {
					t.Fatalf("length %d, want %d", q.len(), len(model))
				}
			},
		})
	})
}
