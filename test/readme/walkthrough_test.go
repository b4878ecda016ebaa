package readme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"
)

// place is a function, a method or a type that a page names with its file: "`nmad/gate.go: Gate.Isend`".
var place = regexp.MustCompile("`([\\w/.-]+\\.go): ([\\w.]+)`")

// again is a method that is named without its file.
var again = regexp.MustCompile("`([A-Za-z]\\w*\\.[A-Za-z]\\w*)`")

// TestWalkthrough: what docs/walkthrough.md names is in the file that it says.
func TestWalkthrough(t *testing.T) {
	page := read(t, "docs/walkthrough.md")
	for _, missing := range missingPlaces(page) {
		t.Error(missing)
	}
	if n := len(place.FindAllString(page, -1)); n < 50 {
		t.Errorf("the page names %d places only", n)
	}
}

func TestMissingPlacesAreSeen(t *testing.T) {
	good := "`nmad/gate.go: Gate.Isend` `sched/thread.go: Spawn` `sched/scheduler.go: Sleeper` `sched/bubble.go: Planner.Seek` and `Gate.Irecv` again"
	if missing := missingPlaces(good); len(missing) != 0 {
		t.Errorf("good ones are called missing: %v", missing)
	}
	bad := "`nmad/gate.go: Gate.Bsend` `nmad/gate.go: Isend` `sched/gate.go: Gate.Isend` `sched/bubble.go: Planner.Hide` and `Gate.Brecv` again"
	if missing := missingPlaces(bad); len(missing) != 5 {
		t.Errorf("found %v, want five", missing)
	}
}

// missingPlaces lists the places that the page names and that are not there.
func missingPlaces(page string) (missing []string) {
	files := map[string]map[string]bool{}
	for _, m := range place.FindAllStringSubmatch(page, -1) {
		name := m[1]
		if files[name] == nil {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, 0)
			if err != nil {
				missing = append(missing, err.Error())
				continue
			}
			files[name] = declared(file)
		}
		if !files[name][m[2]] {
			missing = append(missing, name+" has no "+m[2])
		}
	}
	for _, m := range again.FindAllStringSubmatch(page, -1) {
		there := false
		for _, names := range files {
			there = there || names[m[1]]
		}
		if !there {
			missing = append(missing, "no file that is named has "+m[1])
		}
	}
	return missing
}

// declared has the functions and types of a file, and methods as Type.Method, those of interfaces too.
func declared(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[receiver(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				s, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				names[s.Name.Name] = true
				if i, ok := s.Type.(*ast.InterfaceType); ok {
					for _, f := range i.Methods.List {
						for _, n := range f.Names {
							names[s.Name.Name+"."+n.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}

// receiver is the type of a method, and a point; of a function it is empty.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	x := d.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	if generic, ok := x.(*ast.IndexExpr); ok {
		x = generic.X
	}
	if name, ok := x.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
