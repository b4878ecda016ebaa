package contexts

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// reserved are all ranges, in the order of their numbers.
var reserved = []struct {
	owner       string
	first, last int
}{
	{"the library", 0, Library},
	{"communicators", FirstCommunicator, LastCommunicator},
	{"windows", FirstWindow, LastWindow},
	{"nmad/rma", FirstWorld, LastWorld},
	{"nmad/am", FirstActive, LastActive},
	{"Config.Stall", Stall, Last},
}

// TestApart: no number is reserved twice, and each fits into the 16 bits of a header.
func TestApart(t *testing.T) {
	next, before := 0, "the lowest number"
	for _, r := range reserved {
		if r.first < next {
			t.Errorf("%s begins at %d, and %s ends at %d", r.owner, r.first, before, next-1)
		}
		if r.last < r.first || r.last >= 1<<16 {
			t.Errorf("%s has %d to %d, of 0 to %d", r.owner, r.first, r.last, 1<<16-1)
		}
		next, before = r.last+1, r.owner
	}
}

// TestPage: the page for programs names the ranges as they are.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../CONTEXTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		fmt.Sprintf("| %d to %d, %d to %d | `nmad/mpi`", FirstCommunicator, LastCommunicator, FirstWindow, LastWindow),
		fmt.Sprintf("| %d to %d | `nmad/rma`", FirstWorld, LastWorld),
		fmt.Sprintf("| %d to %d | `nmad/am`", FirstActive, LastActive),
		fmt.Sprintf("| %d | `Config.Stall`", Stall),
	} {
		if !strings.Contains(string(page), s) {
			t.Errorf("CONTEXTS.md does not say %q", s)
		}
	}
}
