package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// tally counts rounds.
type tally struct {
	rounds, failed, void int
	moved, loaned        int
	drivers, actions     map[string]int
	kinds                map[kind]*row
	instead              map[kind]int
	close                time.Duration
}

// row is what there is to say of a kind of fault.
type row struct {
	rounds, failed, void, lost, aborted int
	last                                time.Duration
	longest                             map[string]time.Duration
}

func newTally() *tally {
	return &tally{drivers: map[string]int{}, actions: map[string]int{}, kinds: map[kind]*row{}, instead: map[kind]int{}}
}

func (y *tally) add(p *plan, v verdict) {
	y.rounds++
	y.moved += v.moved
	y.loaned += v.loaned
	for what, n := range v.actions {
		y.actions[what] += n
	}
	y.drivers[p.Driver]++
	y.close = max(y.close, v.close)
	if p.Instead != "" {
		y.instead[p.Instead]++
	}
	k := y.kinds[p.Kind]
	if k == nil {
		k = &row{longest: map[string]time.Duration{}}
		y.kinds[p.Kind] = k
	}
	k.rounds++
	switch {
	case v.void != "":
		y.void++
		k.void++
		return
	case len(v.bad) > 0:
		y.failed++
		k.failed++
	}
	if v.lost {
		k.lost++
	}
	if v.aborted {
		k.aborted++
	}
	k.last = max(k.last, v.last)
	for what, took := range v.longest {
		k.longest[what] = max(k.longest[what], took)
	}
}

// log writes the report.
func (y *tally) log(t *testing.T, took time.Duration) {
	t.Helper()
	t.Logf("%d rounds in %v: %d wrong, %d void for want of processors; %d messages verified, %d of them lent; longest Close of a survivor %v",
		y.rounds, took.Round(time.Second), y.failed, y.void, y.moved, y.loaned, y.close.Round(time.Millisecond))
	var mix []string
	for _, d := range slices.Sorted(maps.Keys(y.drivers)) {
		mix = append(mix, fmt.Sprintf("%s %d", d, y.drivers[d]))
	}
	t.Logf("drivers: %s", strings.Join(mix, "; "))
	var actions []string
	for _, what := range slices.Sorted(maps.Keys(y.actions)) {
		actions = append(actions, fmt.Sprintf("%d %s", y.actions[what], what))
	}
	t.Logf("themes: %s", strings.Join(actions, ", "))
	for _, name := range kinds {
		if n := y.instead[name]; n > 0 {
			t.Logf("%s: %d rounds were another fault, as this machine does not allow it", name, n)
		}
		k := y.kinds[name]
		if k == nil {
			continue
		}
		text := fmt.Sprintf("%-7s %3d rounds, %d wrong, %d void", name, k.rounds, k.failed, k.void)
		if k.lost > 0 {
			text += fmt.Sprintf(", %d lost the victim", k.lost)
		}
		if k.aborted > 0 {
			text += fmt.Sprintf(", %d did not start", k.aborted)
		}
		if k.last > 0 {
			text += fmt.Sprintf("; last error after at most %v:", k.last.Round(time.Millisecond))
			for _, what := range slices.Sorted(maps.Keys(k.longest)) {
				text += fmt.Sprintf(" %s %v", what, k.longest[what].Round(time.Millisecond))
			}
		}
		t.Log(text)
	}
}
