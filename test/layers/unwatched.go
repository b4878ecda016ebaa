package layers

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// noRace is the comment that takes a function out of the race detector's sight.
const noRace = "//go:norace"

// Unwatched looks at the functions marked go:norace of the packages. It returns each of them that has no comment, and
// each place in one at which the detector looks after all where the compiler does not inline, as in a build for a
// debugger: a function literal, and the call of a function that is not marked. readsNothing has those that may be
// called, by their names without module, and why; unused are its names that none calls.
func Unwatched(packages []*loaded, module string, readsNothing map[string]string) (found []Violation, unused []string) {
	marked := map[string]bool{} // of all functions with a body
	for _, p := range packages {
		for d := range p.functions() {
			marked[p.info.Defs[d.Name].(*types.Func).FullName()] = isMarked(d)
		}
	}
	used := map[string]bool{}
	for _, p := range packages {
		report := func(at ast.Node, format string, args ...any) {
			pos := p.fset.Position(at.Pos())
			found = append(found, Violation{fmt.Sprintf("%s:%d", filepath.Base(pos.Filename), pos.Line), fmt.Sprintf(format, args...)})
		}
		for d := range p.functions() {
			if !isMarked(d) {
				continue
			}
			if d.Doc.Text() == "" {
				report(d.Name, "%s is marked %s and does not say why that is right", d.Name.Name, noRace)
			}
			ast.Inspect(d.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					report(n, "a function literal in %s, to which the mark %s does not extend", d.Name.Name, noRace)
				case *ast.Ident:
					f, ok := p.info.Uses[n].(*types.Func)
					if !ok {
						break
					}
					name := f.Origin().FullName()
					isMarked, hasBody := marked[name]
					short := strings.Replace(name, module+"/", "", 1)
					if used[short] = true; hasBody && !isMarked && readsNothing[short] == "" {
						report(n, "%s is marked %s and calls %s, which is not", d.Name.Name, noRace, short)
					}
				}
				return true
			})
		}
	}
	slices.SortFunc(found, func(a, b Violation) int { return strings.Compare(a.String(), b.String()) })
	for _, name := range slices.Sorted(maps.Keys(readsNothing)) {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	return found, unused
}

func isMarked(d *ast.FuncDecl) bool {
	return d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool { return c.Text == noRace })
}
