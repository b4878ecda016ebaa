package sched

import "testing"

// A thread may come back before the one that has taken its VP has said so: the LWP is not
// to be left as one that lost its VP, which the watchdog would report.
func TestLost(t *testing.T) {
	for _, test := range []struct {
		name  string
		steps string // l: lost, r: regained
		want  int64
	}{
		{"lost", "l", 7},
		{"and back", "lr", 0},
		{"back at once", "rl", 0},
		{"back at once, twice", "rrll", 0},
		{"back at once, then lost", "rll", 7},
		{"again", "lrl", 7},
	} {
		var l lwp
		for _, step := range test.steps {
			if step == 'l' {
				l.lost(7)
			} else {
				l.regained()
			}
		}
		if at := l.lostAt.Load(); at != test.want {
			t.Errorf("%s: %d, not %d", test.name, at, test.want)
		}
	}
}
