package layers

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// purposes are the parts of docs/rooms.md whose packages name theirs, by what they say.
var purposes = map[string]string{
	"For programs that come from Marcel, PIOMan and NewMadeleine": "is there for programs that come from",
	"For an experiment":                 "is there for an experiment",
	"For tests, and authors of drivers": "is there for tests",
}

// TestRooms: docs/rooms.md has each package that programs can import, and each command, once; what is no product says
// what it is for.
func TestRooms(t *testing.T) {
	root := os.DirFS("../..")
	page, err := fs.ReadFile(root, "docs/rooms.md")
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{} // by folder: what the documentation says
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
		case name == "test", path.Base(name) == "internal", path.Base(name) == "testdata", name != "." && strings.HasPrefix(path.Base(name), "."):
			return fs.SkipDir
		default:
			if text, ok := documented(t, root, name); ok {
				packages[name] = text
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 30 {
		t.Fatalf("only %d packages are found", len(packages))
	}
	var listed []string
	for part := range strings.SplitSeq(string(page), "\n## ") {
		title, body, _ := strings.Cut(part, "\n")
		for line := range strings.SplitSeq(body, "\n") {
			for _, m := range inBackticks.FindAllStringSubmatch(line, -1) {
				text, there := packages[m[1]]
				if !there {
					continue
				}
				listed = append(listed, m[1])
				if says := purposes[title]; !strings.Contains(text, says) && !strings.HasPrefix(m[1], "cmd/") {
					t.Errorf("docs/rooms.md has %s under %q, but its documentation does not say that it %s", m[1], title, says)
				} else if says == "" {
					for _, other := range purposes {
						if strings.Contains(text, other) {
							t.Errorf("docs/rooms.md has %s under %q, but its documentation says that it %s", m[1], title, other)
						}
					}
				}
			}
		}
	}
	for name := range packages {
		if n := len(slices.DeleteFunc(slices.Clone(listed), func(s string) bool { return s != name })); n != 1 {
			t.Errorf("docs/rooms.md has %s %d times, not once", name, n)
		}
	}
}

// documented is the documentation of the package in a folder, in one line.
func documented(t *testing.T, root fs.FS, folder string) (text string, ok bool) {
	files, err := fs.Glob(root, path.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ok = true
		if f.Doc != nil {
			text += strings.Join(strings.Fields(f.Doc.Text()), " ") + " "
		}
	}
	return text, ok
}
