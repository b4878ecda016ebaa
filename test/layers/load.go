package layers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// listed is what the go command says of a package.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles, CgoFiles       []string
	DepOnly                 bool
}

// A loaded package is one as the compiler sees it, without its tests.
type loaded struct {
	listed
	fset  *token.FileSet
	files []*ast.File // in the order of GoFiles and CgoFiles
	types *types.Package
	info  types.Info // Defs and Uses
}

// load reads the packages that the patterns name, as the go command run in dir understands them.
func load(dir string, patterns ...string) ([]*loaded, error) {
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,CgoFiles,DepOnly"}, patterns...)...)
	list.Dir = dir
	var complaints bytes.Buffer
	list.Stderr = &complaints
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list %v: %w: %s", patterns, err, complaints.Bytes())
	}
	exports := map[string]string{}
	fset := token.NewFileSet()
	var wanted []*loaded
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &loaded{fset: fset}
		if err := d.Decode(&p.listed); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("list %v: %w", patterns, err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			wanted = append(wanted, p)
		}
	}
	theirs := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range wanted {
		if err := p.check(theirs); err != nil {
			return nil, fmt.Errorf("types of %s: %w", p.ImportPath, err)
		}
	}
	return wanted, nil
}

func (p *loaded) check(theirs types.Importer) (err error) {
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		f, err := parser.ParseFile(p.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		p.files = append(p.files, f)
	}
	conf := types.Config{Importer: theirs, FakeImportC: true}
	p.info = types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	p.types, err = conf.Check(p.ImportPath, p.fset, p.files, &p.info)
	return err
}

// functions yields the functions and methods that have a body.
func (p *loaded) functions() iter.Seq[*ast.FuncDecl] {
	return func(yield func(*ast.FuncDecl) bool) {
		for _, f := range p.files {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && !yield(d) {
					return
				}
			}
		}
	}
}
