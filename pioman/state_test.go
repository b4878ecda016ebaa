package pioman

import "testing"

// Every transition from every state.
func TestTransitions(t *testing.T) {
	const no = StateUnset // "refused", together with an unchanged state
	all := []State{StateUnset, StateReady, StateScheduled, StateRunning, StateCancelling, StateEnded, StateCancelled}
	for _, c := range []struct {
		name string
		do   func(*taskState) bool
		want map[State]State // where it leads; a state that is missing refuses
		stay map[State]bool  // granted, without a change
	}{
		{"ready", (*taskState).ready, map[State]State{StateUnset: StateReady, StateEnded: StateReady, StateCancelled: StateReady}, map[State]bool{StateReady: true}},
		{"schedule", (*taskState).schedule, map[State]State{StateReady: StateScheduled, StateEnded: StateScheduled, StateCancelled: StateScheduled}, nil},
		{"take", (*taskState).take, map[State]State{StateScheduled: StateRunning}, map[State]bool{StateRunning: true}},
		{"cancel", (*taskState).cancel, map[State]State{StateScheduled: StateCancelling, StateRunning: StateCancelling}, map[State]bool{StateCancelling: true}},
		{"end", func(s *taskState) bool { s.end(); return true }, map[State]State{StateRunning: StateEnded}, nil},
		{"drop", func(s *taskState) bool { s.drop(); return true }, map[State]State{StateCancelling: StateCancelled}, nil},
	} {
		for _, from := range all {
			if (c.name == "end" || c.name == "drop") && c.want[from] == no {
				continue // the holder's, which calls them in that one state only
			}
			var s taskState
			s.w.Store(uint32(from))
			want, granted := from, c.stay[from]
			if to := c.want[from]; to != no {
				want, granted = to, true
			}
			if got := c.do(&s); got != granted || s.load() != want {
				t.Errorf("%s from %v: %v, now %v; want %v, %v", c.name, from, got, s.load(), granted, want)
			}
		}
	}
}

func TestInactiveStates(t *testing.T) {
	inactive := map[State]bool{StateReady: true, StateEnded: true, StateCancelled: true}
	for s := StateUnset; s <= StateCancelled+1; s++ {
		if s.Inactive() != inactive[s] {
			t.Errorf("%v inactive: %v", s, s.Inactive())
		}
		if s.String() == "" || (s.String() == "unknown") != (s > StateCancelled) {
			t.Errorf("state %d is called %q", s, s)
		}
	}
}
