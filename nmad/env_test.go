package nmad

import (
	"os"
	"strings"
	"testing"
)

// The documentation lists the variables of the tables, all of them, and nothing else.
func TestDocumentationListsTheEnvironment(t *testing.T) {
	b, err := os.ReadFile("../docs/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	var want [2]strings.Builder
	for _, v := range Environment {
		table := &want[0]
		if v.Told {
			table = &want[1]
		}
		table.WriteString("| `" + v.Name + "` | " + v.Values + " | " + v.Default + " | " + v.Meaning + " |\n")
	}
	for i := range want {
		if !strings.Contains(string(b), want[i].String()) {
			t.Errorf("docs/environment.md does not have this table:\n%s", &want[i])
		}
	}
	text, _, _ := strings.Cut(string(b), "## For tests")
	if n := strings.Count(text, "\n| `"); n != len(Environment) {
		t.Errorf("docs/environment.md has %d variables, want %d", n, len(Environment))
	}
}
