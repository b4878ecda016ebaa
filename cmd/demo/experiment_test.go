package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// labrows FILE NAME: the document of an experiment, with complete and consistent rows.
func labrows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: labrows FILE NAME")
	}
	d := readDocument(ts, args[0], args[1])
	positive(ts, d.Parameters, "iters", "rounds")
	if d.Parameters["published"] == "" || d.Parameters["paper"] == "" {
		ts.Fatalf("what was published where is missing: %v", d.Parameters)
	}
	if len(d.Rows)+len(d.Skipped) == 0 {
		ts.Fatalf("there is neither a row nor a reason")
	}
	for _, s := range d.Skipped {
		if s.Name == "" || s.Why == "" {
			ts.Fatalf("skipped without a name or a reason: %+v", s)
		}
	}
	variants := map[any]bool{}
	for _, row := range d.Rows {
		variants[row["variant"]] = true
	}
	for _, row := range d.Rows {
		name := row["variant"]
		positive(ts, row, "best_ns", "q1_ns", "median_ns", "q3_ns", "average_ns", "p99_ns", "rounds", "samples")
		order := []string{"best_ns", "median_ns", "p99_ns"}
		for i := 1; i < len(order); i++ {
			if row[order[i-1]].(float64) > row[order[i]].(float64) {
				ts.Fatalf("%v: %s is above %s: %v", name, order[i-1], order[i], row)
			}
		}
		if row["q1_ns"].(float64) > row["median_ns"].(float64) || row["median_ns"].(float64) > row["q3_ns"].(float64) {
			ts.Fatalf("%v: quartiles around nothing: %v", name, row)
		}
		if row["where"] == "" || row["better"] != "lower" {
			ts.Fatalf("%v: under what conditions? %v", name, row)
		}
		base, _ := row["base"].(string)
		if base == "" != (row["added_ns"] == nil) || base == "" != (row["ratio"] == nil) {
			ts.Fatalf("%v: a comparison needs a base, a difference and a ratio: %v", name, row)
		}
		if base != "" && !variants[base] {
			ts.Fatalf("%v: its base %q is not among the rows", name, base)
		}
	}
}

// TestFoldAt: no line is too long, and none much shorter than the others.
func TestFoldAt(t *testing.T) {
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"", 10, ""},
		{"one line", 10, "one line"},
		{"spinning for 5 us before it blocks removes them", 42, "spinning for 5 us before\nit blocks removes them"},
		{"indistinguishable", 5, "indistinguishable"},
		{"a b c d e f", 3, "a b\nc d\ne f"},
	} {
		if got := foldAt(test.text, test.most); got != test.want {
			t.Errorf("%q at %d: %q, want %q", test.text, test.most, got, test.want)
		}
	}
}
