package pioman

import (
	"testing"

	"github.com/pm2-go/pm2/internal/job"
)

// Every transition of a task from every state that it can be in, as a job.
func TestTransitions(t *testing.T) {
	const scheduled, running, cancelled = job.Scheduled | job.Queued, job.Running, job.Killed
	const leaving, ending = job.Queued | job.Killed, job.Running | job.Killed // cancelled before, and after the first poll
	states := map[job.State]State{0: StateIdle, scheduled: StateScheduled, running: StateRunning, cancelled: StateCancelled,
		leaving: StateCancelling, ending: StateCancelling}
	for _, c := range []struct {
		name string
		do   func(*taskState) bool
		want map[job.State]job.State // where it leads, or stays, if it is granted; a state that is missing refuses
	}{
		{"schedule", (*taskState).schedule, map[job.State]job.State{0: scheduled, cancelled: scheduled}},
		{"take", (*taskState).take, map[job.State]job.State{scheduled: running, running: running}},
		{"cancel", (*taskState).cancel, map[job.State]job.State{scheduled: leaving, running: ending, leaving: leaving, ending: ending}},
	} {
		for from, is := range states {
			var s taskState
			s.Set(from)
			if s.state() != is || s.inactive() != is.Inactive() || s.cancelling() != from.Has(job.Killed) {
				t.Errorf("%#x: %v, inactive %v, cancelling %v", from, s.state(), s.inactive(), s.cancelling())
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
	for _, from := range []job.State{running, ending, leaving} { // the holder's
		var s taskState
		s.Set(from)
		if s.end(); s.state() != StateIdle {
			t.Errorf("end from %#x: %v", from, s.state())
		}
		s.Set(from)
		if s.drop(); s.state() != StateCancelled {
			t.Errorf("drop from %#x: %v", from, s.state())
		}
	}
}

func TestStateNames(t *testing.T) {
	for s := StateIdle; s <= StateCancelled+1; s++ {
		if s.String() == "" || (s.String() == "unknown") != (s > StateCancelled) {
			t.Errorf("state %d is called %q", s, s)
		}
	}
}
