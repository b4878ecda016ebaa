package layers

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Violation is one breach of the rules.
type Violation struct {
	Where string // the file, or the folder when a file is missing
	What  string // what is wrong and what would be right
}

// String joins the two for a test's report.
func (v Violation) String() string { return v.Where + ": " + v.What }

// Check reads the Go sources of the module in tree and returns the breaches, in the order of their paths. Folders named
// testdata or vendor, and those whose names begin with a dot or an underscore, hold no packages and are passed over. An
// error means that the tree could not be read or parsed.
func Check(tree fs.FS, module string) ([]Violation, error) {
	c := checker{tree: tree, module: module, packages: map[string]*folder{}}
	if err := fs.WalkDir(tree, ".", c.visit); err != nil {
		return nil, fmt.Errorf("check the layers of %s: %w", module, err)
	}
	for dir, f := range c.packages {
		c.checkFolder(dir, f)
	}
	slices.SortFunc(c.found, func(a, b Violation) int {
		return strings.Compare(a.String(), b.String())
	})
	return c.found, nil
}

// A folder is what Check must remember of one until it has seen all its files.
type folder struct {
	doc     bool // has doc.go
	comment bool // doc.go has a package comment
}

type checker struct {
	tree     fs.FS
	module   string
	packages map[string]*folder
	found    []Violation
}

func (c *checker) report(where, format string, args ...any) {
	c.found = append(c.found, Violation{where, fmt.Sprintf(format, args...)})
}

func (c *checker) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	base := entry.Name()
	if entry.IsDir() {
		hidden := strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
		if name == "build" || name != "." && (hidden || base == "testdata" || base == "vendor") {
			return fs.SkipDir
		}
		return nil
	}
	switch path.Ext(base) {
	case ".go", ".s", ".c", ".h":
	default:
		return nil
	}
	text, err := fs.ReadFile(c.tree, name)
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte("\n")); n > MaxLines && !made[name] {
		c.report(name, "has %d lines, more than %d: split it by its nouns", n, MaxLines)
	}
	if path.Ext(base) != ".go" {
		return nil
	}
	if _, may := inits[name]; !may && bytes.Contains(text, []byte("\nfunc init() ")) && !isTest(name) && !anyBelow(name, top) {
		c.report(name, "has an init function: have it called, or say in rules.go what it does")
	}
	for _, s := range sole {
		if bytes.Contains(text, []byte(s.word)) && !anyBelow(name, []string{s.room, "test/layers"}) {
			c.report(name, "says %s, as only %s may: say %s", s.word, s.room, s.instead)
		}
	}
	return c.checkFile(name, text)
}

func (c *checker) checkFile(name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	f := c.packages[dir]
	if f == nil {
		f = &folder{}
		c.packages[dir] = f
	}
	if path.Base(name) == "doc.go" {
		f.doc = true
		f.comment = file.Doc != nil && strings.TrimSpace(file.Doc.Text()) != ""
	}
	r := ruleOf(dir)
	if r == nil {
		return nil // checkFolder reports it once
	}
	for _, spec := range file.Imports {
		c.checkImport(name, r, spec)
	}
	return nil
}

func (c *checker) checkFolder(dir string, f *folder) {
	if ruleOf(dir) == nil {
		c.report(dir, "holds code, but no rule knows this folder: move it to one of %s", strings.Join(rooms(), ", "))
	}
	switch {
	case !f.doc:
		c.report(dir, "has no doc.go: add one with the package comment")
	case !f.comment:
		c.report(path.Join(dir, "doc.go"), "has no package comment")
	}
}

func (c *checker) checkImport(name string, r *rule, spec *ast.ImportSpec) {
	to, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		c.report(name, "import %s cannot be read: %v", spec.Path.Value, err)
		return
	}
	switch {
	case to == c.module || strings.HasPrefix(to, c.module+"/"):
		c.checkOurs(name, r, strings.TrimPrefix(strings.TrimPrefix(to, c.module), "/"))
	case strings.Contains(strings.SplitN(to, "/", 2)[0], "."):
		c.checkTheirs(name, r, to)
	}
}

// checkOurs judges the import of the folder to of this module.
func (c *checker) checkOurs(name string, r *rule, to string) {
	dir := path.Dir(name)
	for _, t := range top {
		if below(to, t) && !below(dir, t) {
			c.report(name, "imports %s: no package may import what lies under %s", to, t)
			return
		}
	}
	if anyBelow(to, support) && !isTest(name) && !anyBelow(dir, support) && !below(dir, "test") {
		c.report(name, "imports %s: only test files may, and what lies under test: it is there for tests", to)
		return
	}
	if isTest(name) || below(to, dir) || anyBelow(to, r.ours) {
		return
	}
	for pattern, more := range r.inFiles {
		if ok, _ := path.Match(pattern, path.Base(name)); ok && anyBelow(to, more) {
			return
		}
	}
	allowed := strings.Join(r.ours, ", ")
	if allowed == "" {
		allowed = "nothing of this module"
	}
	for pattern, more := range r.inFiles {
		allowed += fmt.Sprintf(", and in files named %s %s", pattern, strings.Join(more, ", "))
	}
	c.report(name, "imports %s: %s may import %s", to, r.folder, allowed)
}

// checkTheirs judges the import of a package of another module.
func (c *checker) checkTheirs(name string, r *rule, to string) {
	if anyBelow(to, r.theirs) {
		return
	}
	suite := isTest(name) || anyBelow(path.Dir(name), support)
	switch {
	case anyBelow(to, testOnly) && suite:
	case anyBelow(to, laboratory):
		c.report(name, "imports %s: only cmd may, the library stays light", to)
	case anyBelow(to, testOnly):
		c.report(name, "imports %s: only test files may, and what is there for them", to)
	case isTest(name) && anyBelow(to, []string{sys, ghw}):
	default:
		c.report(name, "imports %s: %s may import these modules of others: %s", to, r.folder, strings.Join(r.theirs, ", "))
	}
}

// ruleOf returns the rule for a folder, nil if there is none.
func ruleOf(dir string) *rule {
	var best *rule
	for i := range rules {
		if r := &rules[i]; below(dir, r.folder) && (best == nil || len(r.folder) > len(best.folder)) {
			best = r
		}
	}
	return best
}

// rooms are the folders that have rules.
func rooms() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.folder)
	}
	return names
}

// below reports whether p is the folder or lies below it; every p lies below "".
func below(p, folder string) bool {
	return folder == "" || p == folder || strings.HasPrefix(p, folder+"/")
}

func anyBelow(p string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return below(p, f) })
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }
