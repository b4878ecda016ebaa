//go:build !race

// What is built here knows nothing of the race detector.

package tutorials

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/pm2-go/pm2/nmad/mpi" // a test that has passed is run again when that changes
)

// programs are the ports, with their arguments and the lines that a job of some ranks prints, in any order.
var programs = []struct {
	name  string
	args  []string
	lines func(ranks int) []string
}{
	{"randomwalk", nil, func(ranks int) []string {
		return []string{fmt.Sprintf("%d walkers are where they end alone: true", 25*ranks)}
	}},
	{"average", []string{"250"}, func(ranks int) []string {
		return append(ofEach(ranks, func(rank int) string {
			return fmt.Sprintf("rank %d has the average of %d numbers: true", rank, 250*ranks)
		}), "gathered at the root it is the same: true")
	}},
	{"parallelrank", nil, func(ranks int) []string {
		return ofEach(ranks, func(rank int) string {
			return fmt.Sprintf("rank %d knows its place: true of float32, true of int, string is no datatype: true", rank)
		})
	}},
	{"heat2d", nil, func(int) []string {
		return []string{"400 points after 100 steps are as computed alone: true"}
	}},
	{"groups", nil, func(ranks int) []string {
		lines := ofEach(ranks, func(rank int) string {
			return fmt.Sprintf("rank %d of %d is rank %d of %d in its row, the sum is right: true", rank, ranks, rank%2, min(2, ranks-rank/2*2))
		})
		for rank := 1; rank < ranks; rank++ { // up to three all but rank 0 are in the group
			lines = append(lines, fmt.Sprintf("rank %d of %d is rank %d of %d primes, the sum is right: true", rank, ranks, rank-1, ranks-1))
		}
		return lines
	}},
}

// ofEach is a line of each rank.
func ofEach(ranks int, line func(rank int) string) (lines []string) {
	for rank := range ranks {
		lines = append(lines, line(rank))
	}
	return lines
}

// TestTutorials builds each port and runs it as jobs of one to four processes: what these compute together is right.
func TestTutorials(t *testing.T) {
	out := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", out+"/", "../../cmd/demo", "./...")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	for _, p := range programs {
		for ranks := 1; ranks <= 4; ranks++ {
			t.Run(fmt.Sprintf("%s/%d", p.name, ranks), func(t *testing.T) {
				args := append([]string{"run", "--plain", "-np", fmt.Sprint(ranks), "--", filepath.Join(out, p.name)}, p.args...)
				text, err := exec.CommandContext(t.Context(), filepath.Join(out, "demo"), args...).CombinedOutput()
				got, want := strings.Split(strings.TrimSpace(string(text)), "\n"), p.lines(ranks)
				slices.Sort(got)
				slices.Sort(want)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v; it prints\n%s\nand should print\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}
