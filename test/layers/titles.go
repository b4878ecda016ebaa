package layers

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

var firstWord = regexp.MustCompile(`^[a-z]\w*`)

// titles looks at the first word of the comments on declarations: one that begins with a small letter is the name of
// what is declared. Tests are told of in sentences of any kind.
func (x *names) titles(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !strings.HasPrefix(d.Name.Name, "Test") && !strings.HasPrefix(d.Name.Name, "Benchmark") && !strings.HasPrefix(d.Name.Name, "Example") {
				x.title(d.Doc, d.Name)
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT || len(d.Specs) > 1 {
				continue
			}
			switch s := d.Specs[0].(type) {
			case *ast.TypeSpec:
				x.title(d.Doc, s.Name)
			case *ast.ValueSpec:
				x.title(d.Doc, s.Names...)
			}
		}
	}
}

func (x *names) title(doc *ast.CommentGroup, declared ...*ast.Ident) {
	first := firstWord.FindString(doc.Text())
	for _, n := range declared {
		if first == "" || first == n.Name {
			return
		}
	}
	at := x.fset.Position(doc.Pos())
	x.found = append(x.found, Violation{fmt.Sprintf("%s:%d", at.Filename, at.Line), fmt.Sprintf("begins with %s, and is on %s", first, declared[0].Name)})
}
