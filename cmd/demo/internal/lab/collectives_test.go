package lab

import (
	"testing"
)

// TestCollectiveRow: a row is of the rank that overlaps less, and the CPU time of a peer's operation is what both of
// its variants are measured by.
func TestCollectiveRow(t *testing.T) {
	// Alone, computation, total, wait, total and wait with MPI_Test, CPU time of the long computation, of it and the
	// operation, last wait.
	lines := [][]float64{
		{100, 100, 200, 100, 125, 1, 150, 175, 2},
		{100, 100, 160, 60, 125, 1, 150, 250, 2},
		{100, 100, 200, 100, 125, 1, 150, 175, 2},
		{100, 100, 160, 60, 125, 1, 150, 250, 2},
	}
	round, err := roundOf(lines, 2)
	if err != nil {
		t.Fatal(err)
	}
	c := collectiveCase{operation: "bcast", variants: []string{"plain", "tested"}, where: "here"}
	r := c.row(0, []collectiveRound{round})
	if r.Rank != 0 || r.Alone != 100 || r.Total != 200 || r.Wait != 100 || r.CPU != 25 || r.Overlap != 0.5 || r.Bound != 0.8 || r.Efficiency != 0.625 || r.Other != 1.25 || r.Samples != 2 || r.Late != 2 {
		t.Errorf("without tests: %+v", r)
	}
	if r := c.row(1, []collectiveRound{round}); r.Rank != 0 || r.Total != 125 || r.Wait != 1 || r.Efficiency != 1 || r.Other != 1.6 {
		t.Errorf("with tests: %+v", r)
	}
	for _, bad := range [][][]float64{lines[:3], {lines[0], lines[1], lines[2], {1, 2}}, {lines[0], lines[1], lines[2], {0, 1, 1, 1, 1, 1, 1, 1, 1}}} {
		if _, err := roundOf(bad, 2); err == nil {
			t.Errorf("%v is taken for a round", bad)
		}
	}
}

// TestSlowCollective: a case that came to no end once is not tried again.
func TestSlowCollective(t *testing.T) {
	tries := 0
	c := collectiveCase{measure: func() (collectiveRound, error) { tries++; return nil, errSlow }}
	for range 3 {
		if r, err := c.round(); r != nil || err != nil {
			t.Errorf("%v, %v", r, err)
		}
	}
	if tries != 1 || c.slow == nil {
		t.Errorf("%d tries, slow: %v", tries, c.slow)
	}
}
