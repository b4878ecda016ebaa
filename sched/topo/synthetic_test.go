package topo

import (
	"strings"
	"testing"
)

func TestSynthetic(t *testing.T) {
	m, err := Synthetic("numa:4 l3:1 core:4 pu:1")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.String(), "numa:4 l3:1 core:4 pu:1 NUMA:4 L3:4 Core:16 PU:16"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p := m.PUs()
	for _, c := range []struct {
		a, b  int
		kind  Kind
		index int
	}{{0, 0, PU, 0}, {0, 1, L3, 0}, {4, 7, L3, 1}, {3, 4, Machine, 0}, {15, 12, L3, 3}} {
		if got := m.Common(p[c.a], p[c.b]); got.Kind != c.kind || got.Index != c.index {
			t.Errorf("the common ancestor of PUs %d and %d is %v %d, want %v %d", c.a, c.b, got.Kind, got.Index, c.kind, c.index)
		}
	}
	for _, c := range []struct {
		set   CPUSet
		kind  Kind
		index int
	}{{CPUs(5), Core, 5}, {CPUs(4, 5), NUMA, 1}, {CPUs(4, 8), Machine, 0}, {CPUs(4, 5, 99), NUMA, 1}} {
		if got := m.Covering(c.set); got.Kind != c.kind || got.Index != c.index {
			t.Errorf("%v is covered by %v %d, want %v %d", c.set, got.Kind, got.Index, c.kind, c.index)
		}
	}
	if got := m.Covering(CPUs(99)); got != nil {
		t.Errorf("no CPU is covered by %v", got)
	}
	if got, want := m.Pruned().String(), "numa:4 l3:1 core:4 pu:1 NUMA:4 PU:16"; got != want {
		t.Errorf("pruned: got %s, want %s", got, want)
	}
}

func TestSyntheticErrors(t *testing.T) {
	for description, want := range map[string]string{
		"":                             "empty: write levels, such as",
		"core":                         `"core" has no number`,
		"core:x pu:1":                  "at least 1",
		"core:0 pu:1":                  "at least 1",
		"core:-3 pu:1":                 "at least 1",
		"box:2 pu:1":                   `no level is called "box": choose from package, numa,`,
		"machine:2 pu:1":               "no level is called",
		"core:2 numa:2 pu:1":           "numa cannot be inside core: the order is package, numa",
		"core:2 core:2 pu:1":           "core stands there twice",
		"numa:2 package:2 numa:2 pu:1": "numa stands there twice",
		"numa:2 core:4":                "add pu:1",
		"core:4096 pu:2":               "more than 4096 PUs",
		"core:99999999999999999999":    "at least 1",
		"pu:4294967296":                "more than 4096 PUs",
	} {
		if m, err := Synthetic(description); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v; want an error with %q", description, m, err, want)
		}
	}
}
