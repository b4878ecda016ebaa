package marcel_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noExample lists what is for other libraries or speaks for itself.
var noExample = []string{"TraceMessage", "Tracing", "OneVP", "FullVPs"}

// parse reads the package's files, or its tests.
func parse(t *testing.T, tests bool) (found []*ast.File) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, f)
	}
	return found
}

var files = token.NewFileSet()

// documentation is what go doc says of the package.
func documentation(t *testing.T) *doc.Package {
	t.Helper()
	p, err := doc.NewFromFiles(files, parse(t, false), "github.com/pm2-go/pm2/marcel")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEachHasAnExample: each function and each type occurs in an Example, itself or
// by its constructor; unless the type is a name for one of sched's, or what a method
// returns.
func TestEachHasAnExample(t *testing.T) {
	shown := map[string]bool{}
	for _, f := range parse(t, true) {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Example") {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "marcel" {
						shown[s.Sel.Name] = true
					}
				}
				return true
			})
		}
	}
	p := documentation(t)
	if len(p.Types) < 10 || len(p.Funcs) < 20 || len(shown) < 20 {
		t.Fatalf("found %d types, %d functions, %d names in examples: is this the package?", len(p.Types), len(p.Funcs), len(shown))
	}
	want := func(name string, or ...string) {
		if !slices.ContainsFunc(append(or, name), func(n string) bool { return shown[n] }) && !slices.Contains(noExample, name) {
			t.Errorf("no Example uses %s", name)
		}
	}
	for _, f := range p.Funcs {
		want(f.Name)
	}
	returned := map[string]bool{}
	for _, x := range p.Types {
		for _, m := range x.Methods {
			if m.Decl.Type.Results == nil {
				continue
			}
			ast.Inspect(m.Decl.Type.Results, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					returned[id.Name] = true
				}
				return true
			})
		}
	}
	for _, x := range p.Types {
		var makers []string
		for _, f := range x.Funcs {
			want(f.Name)
			makers = append(makers, f.Name)
		}
		spec := x.Decl.Specs[0].(*ast.TypeSpec)
		if _, ok := spec.Type.(*ast.StructType); ok && len(x.Methods) > 0 && !returned[x.Name] {
			want(x.Name, makers...)
		}
	}
}
