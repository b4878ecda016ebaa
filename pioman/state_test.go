package pioman

import (
	"testing"

	"github.com/pm2-go/pm2/internal/serial"
)

// Every transition of a task from every state that it can be in, as a serial function.
func TestTransitions(t *testing.T) {
	const scheduled, running, canceled = serial.Scheduled | serial.Queued, serial.Running, serial.Killed
	const leaving, ending = serial.Queued | serial.Killed, serial.Running | serial.Killed // canceled before, and after the first poll
	states := map[serial.State]State{0: StateIdle, scheduled: StateScheduled, running: StateRunning, canceled: StateCanceled,
		leaving: StateCanceling, ending: StateCanceling}
	for _, c := range []struct {
		name string
		do   func(*taskState) bool
		want map[serial.State]serial.State // where it leads, or stays, if it is granted; a state that is missing refuses
	}{
		{"schedule", (*taskState).schedule, map[serial.State]serial.State{0: scheduled, canceled: scheduled}},
		{"take", (*taskState).take, map[serial.State]serial.State{scheduled: running, running: running}},
		{"cancel", (*taskState).cancel, map[serial.State]serial.State{scheduled: leaving, running: ending, leaving: leaving, ending: ending}},
	} {
		for from, is := range states {
			var s taskState
			s.Set(from)
			if s.state() != is || s.inactive() != is.Inactive() || s.canceling() != from.Has(serial.Killed) {
				t.Errorf("%#x: %v, inactive %v, canceling %v", from, s.state(), s.inactive(), s.canceling())
			}
			want, granted := c.want[from]
			if !granted {
				want = from
			}
			if c.name == "take" && s.inactive() {
				continue // no queue has it
			}
			if got := c.do(&s); got != granted || s.Load() != want {
				t.Errorf("%s from %v: %v, now %#x; want %v, %#x", c.name, is, got, s.Load(), granted, want)
			}
		}
	}
	for _, from := range []serial.State{running, ending, leaving} { // the holder's
		var s taskState
		s.Set(from)
		if s.end(); s.state() != StateIdle {
			t.Errorf("end from %#x: %v", from, s.state())
		}
		s.Set(from)
		if s.drop(); s.state() != StateCanceled {
			t.Errorf("drop from %#x: %v", from, s.state())
		}
	}
}

func TestStateNames(t *testing.T) {
	for s := StateIdle; s <= StateCanceled+1; s++ {
		if s.String() == "" || (s.String() == "unknown") != (s > StateCanceled) {
			t.Errorf("state %d is called %q", s, s)
		}
	}
}
