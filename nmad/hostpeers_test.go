package nmad

import (
	"fmt"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/roster"
)

func TestHostPeers(t *testing.T) {
	on := func(host string, pid int, cpus string) roster.Card {
		return roster.Card{Host: host, PID: pid, CPUs: cpus}
	}
	for i, c := range []struct {
		cards []roster.Card
		rank  int
		want  hostPeers
	}{
		{[]roster.Card{on("a/1", 1, "0-1"), on("a/1", 2, "0-1")}, 1, hostPeers{1, 2, true, false}},
		{[]roster.Card{on("a/1", 1, "0-1"), on("a/1", 2, "0-1"), on("a/1", 3, "0-1")}, 0, hostPeers{0, 3, true, true}},
		// Bound by a launcher: alone, or two on each.
		{[]roster.Card{on("a/1", 1, "0"), on("a/1", 2, "1")}, 0, hostPeers{0, 2, false, false}},
		{[]roster.Card{on("a/1", 1, "0"), on("a/1", 2, "0"), on("a/1", 3, "1"), on("a/1", 4, "1")}, 2, hostPeers{2, 4, false, true}},
		// One has two processors to itself, though two share the others.
		{[]roster.Card{on("a/1", 1, "0-1"), on("a/1", 2, "2"), on("a/1", 3, "2")}, 0, hostPeers{0, 3, false, false}},
		{[]roster.Card{on("a/1", 1, "0-1"), on("a/1", 2, "2"), on("a/1", 3, "2")}, 1, hostPeers{1, 3, false, true}},
		// Other hosts, in turns; their processors have the same numbers.
		{[]roster.Card{on("a/1", 1, "0"), on("b/1", 1, "0"), on("a/1", 2, "1"), on("b/1", 2, "1")}, 3, hostPeers{1, 2, false, false}},
		// Two containers of one host: a pid says nothing there.
		{[]roster.Card{on("a/1", 1, "0"), on("a/2", 1, "0")}, 1, hostPeers{1, 2, true, true}},
		// Two sessions of one process are one process.
		{[]roster.Card{on("a/1", 1, "0"), on("a/1", 1, "0"), on("a/1", 1, "0")}, 2, hostPeers{0, 1, true, false}},
		// What is not known, or wrong, has no neighbors, and is none that may use the same processors.
		{[]roster.Card{on("a/1", 1, ""), on("a/1", 2, "0")}, 0, hostPeers{0, 1, false, false}},
		{[]roster.Card{on("a/1", 1, "0"), on("a/1", 2, "")}, 0, hostPeers{0, 2, false, false}},
		{[]roster.Card{on("a/1", 1, "0"), on("a/1", 2, "0-99999999999")}, 0, hostPeers{0, 2, false, false}},
		{[]roster.Card{on("/1", 1, "0"), on("/1", 2, "0")}, 0, hostPeers{0, 1, false, false}},
	} {
		if got := hostPeersOf(c.cards, c.rank); got != c.want {
			t.Errorf("case %d: %+v, want %+v", i, got, c.want)
		}
	}
	if text := ownCPUs(); text == "" {
		t.Error("no processors of this process")
	}
	many := fmt.Sprintf("%0*d", roster.MaxCPUs+1, 0)
	if got := hostPeersOf([]roster.Card{on("a/1", 1, many)}, 0); got.oversubscribed {
		t.Errorf("%+v", got)
	}
}
