package sched

import "testing"

// The window follows the waits: polling where they are short, sleeping at once where they are
// long, and no longer than what a sleep is worth in any case.
func TestEstimator(t *testing.T) {
	const spin = 1600
	for _, c := range []struct {
		name  string
		waits []int64
		want  int64
	}{
		{"nothing is known", nil, spin},
		{"short", []int64{10, 20, 30}, spin},
		{"longer than a sleep is worth", []int64{spin + 1}, 0},
		{"long", []int64{1 << 40}, 0},
		{"bursts: eleven close ones, then a pause", []int64{90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 1 << 30}, spin / 16},
	} {
		var e Estimator
		for range 50 {
			for _, w := range c.waits {
				e.Took(w, spin)
			}
		}
		if w := e.Window(spin); w != c.want {
			t.Errorf("%s: window %d, want %d (%v)", c.name, w, c.want, e.spread())
		}
	}
}

// What it has learned it forgets: after a few waits of another kind it chooses as one does that has seen no other.
func TestEstimatorForgets(t *testing.T) {
	const spin = 1600
	var e Estimator
	for turn := range 4 {
		wait, want := int64(10), int64(spin)
		if turn%2 == 0 {
			wait, want = 1<<30, 0
		}
		n := 0
		for ; n < 100 && (want == 0 && e.Window(spin) > spin/16 || want != 0 && e.Window(spin) < wait); n++ {
			e.Took(wait, spin)
		}
		if n > 12 {
			t.Errorf("turn %d: after %d waits of %d the window is %d", turn, n, wait, e.Window(spin))
		}
		for range 100 {
			e.Took(wait, spin)
		}
		if w := e.Window(spin); w != want {
			t.Errorf("turn %d: window %d, want %d (%v)", turn, w, want, e.spread())
		}
	}
}

// Shares never overflow into each other, whatever comes, and no choice is worse than both extremes.
func TestEstimatorShares(t *testing.T) {
	const spin = 1 << 20
	var e Estimator
	seed := uint64(1)
	for range 10_000 {
		seed = seed*6364136223846793005 + 1442695040888963407
		e.Took(int64(seed>>40)%(2*spin), spin)
		e.ProbeWindow(spin)
		sum := 0
		for _, s := range e.spread() {
			sum += s
		}
		if sum > 256 {
			t.Fatalf("shares of %d: %v", sum, e.spread())
		}
	}
}

// spread returns how many of 256 waits ended within each window that is not 0, and, last, after all of them.
func (e *Estimator) spread() (shares [6]int) {
	w := e.word.Load()
	for i := range shares {
		shares[i] = int(w >> (8 * i) & 255)
	}
	return shares
}
