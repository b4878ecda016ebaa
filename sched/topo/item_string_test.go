package topo

import (
	"fmt"
	"testing"
)

// An item's name says which it is, not what the whole machine is like.
func TestItemString(t *testing.T) {
	m, err := Synthetic("numa:2 core:2 pu:1")
	if err != nil {
		t.Fatal(err)
	}
	pu := m.PUs()[3]
	if got := fmt.Sprint(m.Root, ", ", pu.Ancestor(NUMA), ", ", pu); got != "Machine 0, NUMA 1, PU 3" {
		t.Errorf("got %q", got)
	}
	if got := fmt.Sprint(pu.Ancestor(Die)); got != "no item" {
		t.Errorf("none: %q", got)
	}
}
