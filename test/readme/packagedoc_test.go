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
var documented = []string{
	"asm", "hooks", "sched", "tasklet", "marcel", "pioman", "pioman/io", "nmad", "nmad/driver", "nmad/launch", "nmad/mpi",
}

const (
	maxProgram = 16 // lines
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
			if got := strings.Join(program, "\n"); !strings.Contains(example, got) {
				t.Errorf("%s begins with\n%s\nbut the package's Example is\n%s", doc, got, example)
			}
		})
	}
}

// firstProgram returns the first lines of a package comment that are code, a blank line between them included.
func firstProgram(text string) (program []string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		code, ok := strings.CutPrefix(line, "//\t")
		switch {
		case ok:
			program = append(program, code)
		case program != nil && line == "//" && strings.HasPrefix(lines[i+1], "//\tfunc "):
			program = append(program, "")
		case program != nil || !strings.HasPrefix(line, "//"):
			return program
		}
	}
	return program
}

// exampleOf returns the body of the package's Example, without what it is to print; where that has a file of its own,
// what the file has behind the imports, with main in place of Example.
func exampleOf(dir string) (string, error) {
	if text, err := os.ReadFile(filepath.Join(dir, "example_program_test.go")); err == nil {
		_, program, _ := strings.Cut(string(text), "\n)\n")
		program = strings.Replace(program, "func Example() {", "func main() {", 1)
		if before, _, ok := strings.Cut(program, "\n\t// Output:"); ok {
			program = before + "\n}\n"
		}
		return program, nil
	}
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
