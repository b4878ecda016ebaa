package layers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOrder: the files of a package can be read one after the other.
func TestOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the library")
	}
	orders := Orders(loadLibrary(t))
	if len(orders) < 20 {
		t.Fatalf("only %d packages", len(orders))
	}
	for name, o := range orders {
		if t.Logf("%s: %.1f %%", name, o.Share()); o.References < MinReferences || o.Share() <= MaxAgainst {
			continue
		}
		t.Errorf("%s: of %d references between its files %.1f %% are against the best order, %v allowed.\n"+
			"Move what is used by all to files at the bottom, or what uses all to one at the top. The order:\n%s\nagainst it:\n%s",
			name, o.References, o.Share(), MaxAgainst, strings.Join(o.Files, " "), o.worst(12))
	}
}

// TestOrderFound: in a small package, the order and what is against it.
func TestOrderFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.org/small\n\ngo 1.26\n",
		"a.go":      "package small\n\nfunc top() { middle(); middle(); bottom() }\n",
		"b.go":      "package small\n\nfunc middle() { bottom(); bottom() }\n",
		"c.go":      "package small\n\nvar _ = top\n\ntype inner struct{ n int }\n\nfunc bottom() { var x inner; x.n = len(\"own references do not count\") }\n",
		"z_test.go": "package small\n\nfunc proves() { top(); top(); top() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := load(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	o := Orders(packages)["example.org/small"]
	if o == nil || !slices.Equal(o.Files, []string{"c.go", "b.go", "a.go"}) || o.References != 6 || o.Against != 1 {
		t.Fatalf("found %+v", o)
	}
	if want := (Arrow{"c.go", "a.go", 1, []string{"top"}}); len(o.Worst) != 1 || o.Worst[0].From != want.From || o.Worst[0].To != want.To || !slices.Equal(o.Worst[0].Names, want.Names) {
		t.Errorf("against the order is %v, want %v", o.Worst, want)
	}
	if _, err := load(dir, "./nowhere"); err == nil {
		t.Error("a package that is not there was loaded")
	}
}
