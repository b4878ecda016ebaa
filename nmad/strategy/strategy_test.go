package strategy

import "testing"

// Only a greater priority overtakes, and only under Priority: equal ones keep their order.
func TestOvertakes(t *testing.T) {
	for _, s := range []Strategy{Default, Aggregation, SplitBalance, SplitEqual, Priority} {
		for _, c := range []struct {
			started, waiting int8
			overtakes        bool
		}{{0, 0, false}, {1, 1, false}, {-1, 0, false}, {1, 0, true}, {127, -128, true}, {-128, 127, false}} {
			got := s.Overtakes(Item{Priority: c.started}, Item{Priority: c.waiting})
			if want := c.overtakes && s == Priority; got != want {
				t.Errorf("%s: %d overtakes %d: %v, want %v", s.Name(), c.started, c.waiting, got, want)
			}
		}
	}
}
