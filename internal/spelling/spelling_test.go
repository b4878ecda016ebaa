package spelling

import "testing"

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"shm", "shm", 0}, {"shm", "shn", 1}, {"tpc", "tcp", 2},
		{"kitten", "sitting", 3}, {"ROUND", "ROUNDS", 1}, {"POINTS", "PINTS", 1},
	} {
		if got := Edits(c.from, c.to); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.from, c.to, got, c.want)
		}
	}
}
