package main

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pm2-go/pm2/marcel/timeline"
)

// isTimeline checks a timeline: timeline FILE ["PHASE NAME"...], which must occur. Of
// arrows of messages both ends must be there, in order, for most.
func isTimeline(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: timeline FILE [\"PHASE NAME\"...]")
	}
	t, err := timeline.Read(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(t.Check())
	seen := map[string]bool{}
	out := map[string]timeline.Micros{}
	pairs, late := 0, 0
	for _, e := range t.Events {
		seen[e.Phase+" "+e.Name] = true
		switch {
		case e.Name == "message" && e.Phase == "s":
			out[e.ID] = e.TS
		case e.Name == "message" && e.Phase == "f":
			if at, ok := out[e.ID]; ok && at < e.TS {
				pairs++
			} else {
				late++
			}
		}
	}
	for _, want := range args[1:] {
		if !seen[want] {
			ts.Fatalf("%s has no event %q", args[0], want)
		}
	}
	if late > pairs/4 {
		ts.Fatalf("%d messages arrive after they left, %d do not", pairs, late)
	}
}
