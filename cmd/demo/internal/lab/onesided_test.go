package lab

import (
	"strings"
	"testing"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/am"
)

// TestMaskRow: the ratio is that of the slowest thread to the fastest within each round.
func TestMaskRow(t *testing.T) {
	r := MaskRow{Variant: "shared", Mask: maskOf(am.EachPoll)}
	r.summarize([][][]float64{
		{{100, 100, 100}, {400, 400, 400}, {200, 200, 200}, {150, 150, 150}},
		{{200, 200, 200}, {400, 400, 400}, {300, 300, 300}, {250, 250, 250}},
		{{100, 100, 100}, {300, 300, 300}, {100, 100, 100}, {100, 100, 100}},
	})
	if r.First != 100 || r.Slowest != 400 || *r.Ratio != 3 || r.Rounds != 3 || r.Samples != 3 || r.Mask != 0 || maskOf(511) != 511 {
		t.Errorf("%+v, ratio %v", r, *r.Ratio)
	}
	if line := r.Line(); !strings.Contains(line, "each: 100.0 ns 400.0 ns 200.0 ns 150.0 ns") {
		t.Error(line)
	}
}

// TestTogether: a search lasts from the first begin to the last end, and has met each node.
func TestTogether(t *testing.T) {
	all := []searched{{tally{Began: 1000, Ended: 5000}, 3, 0}, {tally{Began: 2000, Ended: 9000}, 4, 1}}
	ns, err := together(all, 7)
	if err != nil || len(ns) != 1 || ns[0] != float64(asm.Nanos(8000)) {
		t.Errorf("%v, %v", ns, err)
	}
	if _, err := together(all, 8); err == nil {
		t.Error("a node was not met, and that is no error")
	}
}

// TestLimitRow: a row says what was had, and what refused more.
func TestLimitRow(t *testing.T) {
	r := LimitRow{Domains: 24, Reached: 24, Largest: 4 << 40, Total: 56 << 40, Regions: 4000, Descriptors: 100, Where: "here", Stopped: "mmap", RegionsStop: "none"}
	for _, want := range []string{" 24 ", "4.00 TiB", "56.00 TiB", " 1.00 ", "stopped: mmap; regions: none"} {
		if !strings.Contains(r.Line(), want) {
			t.Errorf("%q lacks %q", r.Line(), want)
		}
	}
}
