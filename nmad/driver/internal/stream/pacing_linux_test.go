package stream

import "testing"

// TestPacing: which polls of a message need no look.
func TestPacing(t *testing.T) {
	for _, c := range []struct {
		name  string
		looks [][2]int // bytes that a look brought, of so many
		next  int      // bytes that the next poll is for
		rests bool
	}{
		{"before the first bytes", [][2]int{{0, 1000}}, 1000, false},
		{"in the middle", [][2]int{{100, 1000}}, 900, true},
		{"in the middle, nothing new", [][2]int{{100, 1000}, {0, 900}}, 900, true},
		{"another message", [][2]int{{100, 1000}}, 1000, false},
		{"all of it", [][2]int{{1000, 1000}}, 1000, false},
		{"a full look", [][2]int{{maxMove, 3 * maxMove}}, 2 * maxMove, false},
		{"the rest of it", [][2]int{{100, 1000}, {900, 900}}, 900, false},
	} {
		p := pacing{pause: 1 << 60}
		for _, l := range c.looks {
			p.looked(l[0], l[1])
		}
		if got := p.paused(c.next); got != c.rests {
			t.Errorf("%s: rests %v, want %v", c.name, got, c.rests)
		}
		if p.until = 0; p.paused(c.next) {
			t.Errorf("%s: rests when restTime is over", c.name)
		}
	}
}
