package readme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// documented are the packages whose documentation begins with a program that is their Example, too.
var documented = []string{"asm", "hooks", "sched", "tasklet", "pioman"}

const (
	maxProgram = 15 // lines
	maxDoc     = 90 // lines of doc.go: what one reads in two minutes
)

// TestPackagePrograms: go doc of a package begins with a short program, and that compiles and runs.
func TestPackagePrograms(t *testing.T) {
	for _, dir := range documented {
		t.Run(dir, func(t *testing.T) {
			doc := filepath.Join("..", "..", dir, "doc.go")
			text, err := os.ReadFile(doc)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "\n"); n > maxDoc {
				t.Errorf("%s has %d lines, more than %d: leave the protocols to the README beside it", doc, n, maxDoc)
			}
			program := firstProgram(string(text))
			if n := len(program); n == 0 || n > maxProgram {
				t.Errorf("%s begins with a program of %d lines, not 1 to %d", doc, n, maxProgram)
			}
			example, err := exampleOf(filepath.Join("..", "..", dir))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(program, "\n") != example {
				t.Errorf("%s begins with\n%s\nbut the package's Example is\n%s", doc, strings.Join(program, "\n"), example)
			}
		})
	}
}

// firstProgram returns the first lines of a package comment that are code.
func firstProgram(text string) (program []string) {
	for line := range strings.SplitSeq(text, "\n") {
		code, ok := strings.CutPrefix(line, "//\t")
		switch {
		case ok:
			program = append(program, code)
		case program != nil || !strings.HasPrefix(line, "//"):
			return program
		}
	}
	return program
}

// exampleOf returns the body of the package's Example, without what it is to print.
func exampleOf(dir string) (string, error) {
	name := filepath.Join(dir, "example_test.go")
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, 0)
	if err != nil {
		return "", err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "Example" {
			continue
		}
		body := string(text[fset.Position(f.Body.Lbrace).Offset+2 : fset.Position(f.Body.Rbrace).Offset])
		if i := strings.Index(body, "\t// Output:"); i >= 0 {
			body = body[:i]
		}
		return strings.TrimPrefix(strings.TrimRight(strings.ReplaceAll(body, "\n\t", "\n"), "\n"), "\t"), nil
	}
	return "", os.ErrNotExist
}
