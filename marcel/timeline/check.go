package timeline

import (
	"errors"
	"fmt"
)

// Check reports whether a file is one that Write could have written of a sound timeline: times are in order and not
// negative, slices of a row lie beside or inside of each other, asynchronous slices have a beginning before their end.
// It returns all that is wrong, joined. Arrows may have one end only: the other can be in another process's file, or
// lost.
func (t *Timeline) Check() error {
	var wrong []error
	complain := func(i int, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("event %d (%s %q): %s", i, t.Events[i].Phase, t.Events[i].Name, fmt.Sprintf(format, args...)))
	}
	type row struct{ pid, tid int }
	type key struct {
		cat, id string
		pid     int
	}
	enclosing := map[row][]Micros{} // ends of the slices that go on
	begun := map[key]Micros{}
	now := Micros(0)
	for i, e := range t.Events {
		if e.Phase == "M" {
			continue
		}
		if e.TS < now {
			complain(i, "at %d ns, after one at %d", e.TS, now)
		}
		now = e.TS
		switch e.Phase {
		case "X":
			r := row{e.PID, e.TID}
			open := enclosing[r]
			for len(open) > 0 && open[len(open)-1] <= e.TS {
				open = open[:len(open)-1]
			}
			end := e.TS + e.Dur
			if e.Dur < 0 {
				complain(i, "lasts %d ns", e.Dur)
			}
			if len(open) > 0 && end > open[len(open)-1] {
				complain(i, "ends at %d ns, after the one around it, which ends at %d", end, open[len(open)-1])
			}
			enclosing[r] = append(open, end)
		case "b":
			begun[key{e.Cat, e.ID, e.PID}] = e.TS
		case "e":
			k := key{e.Cat, e.ID, e.PID}
			if _, ok := begun[k]; !ok {
				complain(i, "has not begun")
			}
			delete(begun, k)
		case "s", "f", "i":
		default:
			complain(i, "no phase that is used here")
		}
	}
	for k := range begun {
		wrong = append(wrong, fmt.Errorf("asynchronous slice %s of process %d does not end", k.id, k.pid))
	}
	return errors.Join(wrong...)
}
