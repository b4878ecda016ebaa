package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Names returns the names in comments of the tree's Go files, in its pages and in its other texts, that are those of
// nothing. loaded are the packages whose types are known. foreign are names of what is not in the module; unused are
// those of them that no text has. Of pages see pages.go, of other texts places.go. A comment on a declaration begins
// with its name, or as a sentence does.
//
// A name is a file's; a word with a capital letter or an underscore inside, before a parenthesis that opens, or joined
// to another by a point; a word that begins with a capital letter within a sentence; and a variable of the environment.
// It must be in the code of the comment's package, tests and other systems included, or be exported by a package that
// this imports. What is joined must be a member of a type, or declared by a package; behind a variable a small letter
// must begin a field or method of the package, tests left out; a variable of the environment must be in some string of
// the module. Words in capitals, quotations and references to papers are passed over; so are, in indented lines, which
// are programs and drawings, calls and words that begin with a capital letter.
func Names(tree fs.FS, module string, loaded []*loaded, foreign []string) (found []Violation, unused []string, err error) {
	x := &names{
		module: module, fset: token.NewFileSet(), rooms: map[string]*room{}, files: map[string]bool{}, folders: map[string]bool{}, asked: map[string]bool{},
		foreign: map[string]bool{}, declared: map[string]map[string]bool{}, texts: map[string]string{}, others: map[string]bool{}, literals: map[string]bool{},
	}
	for _, name := range foreign {
		x.foreign[name] = false
	}
	if err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); strings.HasPrefix(base, ".") && name != "." {
				return fs.SkipDir
			}
			x.folders[name] = true
			return nil
		}
		x.files[name] = true
		if path.Ext(name) != ".go" {
			return x.readText(tree, name)
		}
		if slices.Contains(strings.Split(name, "/"), "testdata") {
			return nil
		}
		return x.read(tree, name)
	}); err != nil {
		return nil, nil, err
	}
	for _, p := range loaded {
		if r := x.rooms[strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")]; r != nil {
			r.types = p.types.Scope()
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(x.rooms)) {
		r := x.rooms[folder]
		for _, f := range r.files {
			for _, g := range f.Comments {
				x.comment(r, g)
			}
			x.titles(f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.texts)) {
		if path.Ext(name) == ".md" {
			x.page(name)
		} else {
			x.text(name)
		}
	}
	for _, name := range foreign {
		if !x.foreign[name] {
			unused = append(unused, name)
		}
	}
	return x.found, unused, nil
}

type names struct {
	module  string
	fset    *token.FileSet
	rooms   map[string]*room // by folder
	files   map[string]bool
	folders map[string]bool
	asked   map[string]bool // words of string literals that look like variables of the environment
	foreign map[string]bool // whether a text has it
	found   []Violation

	declared map[string]map[string]bool // functions, methods and types, by file
	texts    map[string]string          // pages and other texts, by file
	others   map[string]bool            // the words of other texts
	literals map[string]bool            // words of string literals, with hyphens
}

// A room is the names of one folder's Go files.
type room struct {
	folder   string
	name     string // of its package
	files    []*ast.File
	words    map[string]bool   // all identifiers
	tests    map[string]bool   // what tests and benchmarks are called, without that word
	declared map[string]bool   // those at the top level
	members  map[string]bool   // fields and methods, but for those of tests
	imports  map[string]string // paths by name
	types    *types.Scope      // nil: not known
}

func (x *names) read(tree fs.FS, name string) error {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(x.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	r := x.rooms[path.Dir(name)]
	if r == nil {
		r = &room{folder: path.Dir(name), words: map[string]bool{}, tests: map[string]bool{}, declared: map[string]bool{}, members: map[string]bool{}, imports: map[string]string{}}
		x.rooms[r.folder] = r
	}
	r.name = strings.TrimSuffix(f.Name.Name, "_test")
	r.files = append(r.files, f)
	here := map[string]bool{}
	x.declared[name] = here
	for _, i := range f.Imports {
		to, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		if to == "C" {
			continue
		}
		r.imports[path.Base(to)] = to
		if i.Name != nil {
			r.imports[i.Name.Name] = to
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			here[d.Name.Name] = true
			if d.Recv == nil {
				r.declared[d.Name.Name] = true
			}
			for _, kind := range []string{"Test", "Benchmark"} {
				if test, is := strings.CutPrefix(d.Name.Name, kind); is {
					r.tests[test] = true
				}
			}
		case *ast.GenDecl:
			if i, ok := d.Specs[0].(*ast.ImportSpec); ok && i.Path.Value == `"C"` {
				f.Comments = slices.DeleteFunc(f.Comments, func(g *ast.CommentGroup) bool { return g == d.Doc }) // it is C
			}
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					r.declared[s.Name.Name], here[s.Name.Name] = true, true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						r.declared[n.Name] = true
					}
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			r.words[n.Name] = true
		case *ast.FuncDecl:
			if n.Recv != nil && !isTest(name) {
				r.members[n.Name.Name] = true
			}
		case *ast.StructType:
			r.addMembers(name, n.Fields)
		case *ast.InterfaceType:
			r.addMembers(name, n.Methods)
		case *ast.BasicLit:
			for _, v := range variable.FindAllString(n.Value, -1) {
				x.asked[v] = true
			}
			for _, w := range tag.FindAllString(n.Value, -1) {
				r.words[w] = true
			}
			for _, w := range hyphened.FindAllString(n.Value, -1) {
				x.literals[w] = true
			}
		}
		return true
	})
	return nil
}

// addMembers adds the fields of a struct, or the methods of an interface, in that file.
func (r *room) addMembers(file string, fields *ast.FieldList) {
	for _, f := range fields.List {
		for _, n := range f.Names {
			r.members[n.Name] = r.members[n.Name] || !isTest(file)
		}
		if len(f.Names) == 0 { // embedded: the type's name
			ast.Inspect(f.Type, func(n ast.Node) bool {
				if i, ok := n.(*ast.Ident); ok {
					r.members[i.Name] = r.members[i.Name] || !isTest(file)
				}
				return true
			})
		}
	}
}

var (
	word      = regexp.MustCompile(`[\pL_][\pL\d_]*(?:\.[\pL_][\pL\d_]*)*\(?`)
	fileName  = regexp.MustCompile(`[\w./*-]*[\w*]\.(?:go|s|h|md|pml|svg|pgo|pprof|txt|json)\b`)
	ours      = regexp.MustCompile(`\.(?:go|s|h|md|pml)$`)
	inner     = regexp.MustCompile(`^(?:[a-z][a-z0-9]*[A-Z_]|[a-z0-9]+_|[A-Z]+[a-z][a-z0-9]*[A-Z])\w*$`)
	titled    = regexp.MustCompile(`^[A-Z][a-z]\w*$`)
	tag       = regexp.MustCompile(`\b[a-z0-9]+_\w+`)
	hyphened  = regexp.MustCompile(`[a-z][\w-]+`)
	variable  = regexp.MustCompile(`\b(?:PM2|PIOM)_[A-Z_]+\b`)
	aside     = regexp.MustCompile(`"[^"]*"|https?://\S+|\([^()]*\b(?:19|20)\d\d\b[^()]*\)`) // quotations, addresses, references to papers
	manual    = regexp.MustCompile(`^\d\)`)                                                  // the end of open(2)
	directive = regexp.MustCompile(`^[a-z]+:|^export |^line `)
	notBefore = "/-%#$0123456789" // a word behind one of these is an option, a number, or part of a path
)

// comment looks at one comment of r.
func (x *names) comment(r *room, g *ast.CommentGroup) {
	at := x.fset.Position(g.Pos())
	text := aside.ReplaceAllStringFunc(written(g), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	begins := true // the next word begins a sentence
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "Output:") {
			return
		}
		report := func(format string, args ...any) {
			x.found = append(x.found, Violation{fmt.Sprintf("%s:%d", at.Filename, at.Line+i), fmt.Sprintf(format, args...)})
		}
		line = fileName.ReplaceAllStringFunc(line, func(name string) string {
			if ours.MatchString(name) && !strings.Contains(name, "*") && !x.hasFile(r, name) {
				report("there is no file %s", name)
			}
			return "file"
		})
		for _, v := range variable.FindAllString(line, -1) {
			if !x.asked[v] {
				report("no program asks for %s", v)
			}
		}
		program := strings.HasPrefix(line, "\t")
		end := 0
		for _, m := range word.FindAllStringIndex(line, -1) {
			between := line[end:m[0]]
			begins = begins || strings.ContainsAny(between, ".:;?!(")
			end = m[1]
			name, call := strings.CutSuffix(line[m[0]:m[1]], "(")
			call = call && !manual.MatchString(line[end:])
			named := strings.Contains(name, ".") || inner.MatchString(name) || !program && (call || titled.MatchString(name) && !begins)
			begins = false
			if program && strings.HasSuffix(line[:m[0]], "func ") {
				continue // it declares that
			}
			inPath := between != "" && strings.ContainsAny(between[len(between)-1:], notBefore) || end < len(line) && line[end] == '/'
			if named && !inPath && strings.ToUpper(name) != name && (!x.resolves(r, name, program) || !program && !isTest(at.Filename) && x.lacksMember(r, name)) {
				report("there is no %s", name)
			}
		}
		begins = begins || line == "" || strings.ContainsAny(line[len(line)-1:], ".:")
	}
}

// written is the text of a comment with all its lines; directives are empty ones.
func written(g *ast.CommentGroup) string {
	var lines []string
	for _, c := range g.List {
		line, one := strings.CutPrefix(c.Text, "//")
		switch {
		case !one:
			lines = append(lines, strings.Split(strings.Trim(c.Text, "/*"), "\n")...)
		case directive.MatchString(line):
			lines = append(lines, "")
		default:
			lines = append(lines, strings.TrimPrefix(line, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// hasFile looks beside the comment, at the root, and for the end of a path.
func (x *names) hasFile(r *room, name string) bool {
	if x.files[path.Join(r.folder, name)] || x.files[name] {
		return true
	}
	foreign := x.isForeign(name)
	for f := range x.files {
		foreign = foreign || strings.Contains(name, "/") && strings.HasSuffix(f, "/"+name)
	}
	return foreign
}

// isForeign reports whether a name is one of foreign, and notes that a text has it.
func (x *names) isForeign(name string) bool {
	_, ok := x.foreign[name]
	if ok {
		x.foreign[name] = true
	}
	return ok
}

// resolves reports whether a comment of r may use the name.
func (x *names) resolves(r *room, name string, program bool) bool {
	parts := strings.Split(name, ".")
	if x.isForeign(name) || x.isForeign(parts[0]) {
		return true
	}
	if len(parts) == 1 {
		return x.knows(r, name)
	}
	if to, ok := r.imports[parts[0]]; ok && !strings.HasPrefix(to, x.module) {
		return true
	}
	for _, other := range x.rooms {
		if other.name == parts[0] && other.declared[parts[1]] {
			return member(other.types, parts[1:], func() bool { return x.know(other, parts[2:]) })
		}
	}
	if program && !ast.IsExported(parts[0]) { // it may declare that itself
		return x.know(r, parts[1:])
	}
	return member(r.types, parts, func() bool { return x.know(r, parts) })
}

// lacksMember reports whether the name is a variable with what is no field or method of r's types behind it: where a
// field has got another name, its old one may still be that of some variable.
func (x *names) lacksMember(r *room, name string) bool {
	parts := strings.Split(name, ".")
	if len(parts) < 2 || ast.IsExported(parts[0]) || x.isForeign(name) || x.isForeign(parts[0]) || r.imports[parts[0]] != "" {
		return false
	}
	for _, other := range x.rooms {
		if other.name == parts[0] {
			return false
		}
	}
	return slices.ContainsFunc(parts[1:], func(part string) bool {
		return !ast.IsExported(part) && !r.members[part] && !r.members[strings.TrimSuffix(part, "s")]
	})
}

// member reports whether the first of the names is a type of the scope that has the second as a field or method, and so
// on. Where it is no type there, the answer is otherwise's.
func member(scope *types.Scope, names []string, otherwise func() bool) bool {
	if scope == nil {
		return otherwise()
	}
	t, ok := scope.Lookup(names[0]).(*types.TypeName)
	if !ok {
		return otherwise()
	}
	in := t.Type()
	for _, name := range names[1:] {
		o, _, _ := types.LookupFieldOrMethod(in, true, t.Pkg(), name)
		if o == nil {
			return false
		}
		in = o.Type()
	}
	return true
}

func (x *names) know(r *room, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !x.knows(r, w) })
}

// knows reports whether the word is in r's code, or exported to it, or in Go itself; an s at its end may be one too
// many.
func (x *names) knows(r *room, word string) bool {
	if r.words[word] || token.IsKeyword(word) || types.Universe.Lookup(word) != nil {
		return true
	}
	for _, to := range r.imports {
		if other := x.rooms[strings.TrimPrefix(to, x.module+"/")]; other != nil && ast.IsExported(word) && other.words[word] {
			return true
		}
	}
	one, more := strings.CutSuffix(word, "s")
	return more && x.knows(r, one)
}
