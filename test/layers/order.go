package layers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// An Order is the files of a package in the order that reads best: each file uses what stands
// in files before it, but for the references that no order gets rid of.
type Order struct {
	Files      []string // base names, the ones that use nothing first
	References int      // from one file of the package to another
	Against    int      // of these, to a file that stands later
	Worst      []Arrow  // the references against the order, by file, most first
}

// An Arrow is the references of one file to one other.
type Arrow struct {
	From, To string
	Count    int
	Names    []string // what is referred to, each once
}

// What TestOrder asks for. Of a handful of references a tenth is none.
const (
	MaxAgainst    = 10.0 // references in a hundred that may be against the order
	MinReferences = 50   // of a package, for that to be asked
)

// worst lists the n files with the most references against the order.
func (o *Order) worst(n int) string {
	var b strings.Builder
	for _, a := range o.Worst[:min(n, len(o.Worst))] {
		fmt.Fprintf(&b, "%4d %s -> %s: %s\n", a.Count, a.From, a.To, strings.Join(a.Names, ", "))
	}
	return b.String()
}

// Share is how many references in a hundred are against the order.
func (o *Order) Share() float64 {
	if o.References == 0 {
		return 0
	}
	return 100 * float64(o.Against) / float64(o.References)
}

// listed is what the go command says of a package.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// Orders returns the order of the files of each package that the patterns name, as the go command run in
// dir understands them, by import path. Test files do not count.
func Orders(dir string, patterns ...string) (map[string]*Order, error) {
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,DepOnly"}, patterns...)...)
	list.Dir = dir
	var complaints bytes.Buffer
	list.Stderr = &complaints
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list %v: %w: %s", patterns, err, complaints.Bytes())
	}
	exports := map[string]string{}
	var wanted []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("list %v: %w", patterns, err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			wanted = append(wanted, p)
		}
	}
	orders := map[string]*Order{}
	fset := token.NewFileSet()
	theirs := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range wanted {
		uses, err := usesOf(&p, fset, theirs)
		if err != nil {
			return nil, fmt.Errorf("order of %s: %w", p.ImportPath, err)
		}
		orders[p.ImportPath] = uses.order()
	}
	return orders, nil
}

// uses has the references between the files of one package: from the first to the second.
type uses struct {
	files []string
	count [][]int
	names map[[2]int][]string
}

func usesOf(p *listed, fset *token.FileSet, theirs types.Importer) (*uses, error) {
	u := &uses{files: p.GoFiles, names: map[[2]int][]string{}}
	var parsed []*ast.File
	index := map[string]int{}
	for i, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
		index[name] = i
		u.count = append(u.count, make([]int, len(p.GoFiles)))
	}
	conf := types.Config{Importer: theirs}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := conf.Check(p.ImportPath, fset, parsed, info)
	if err != nil {
		return nil, err
	}
	at := func(pos token.Pos) int { return index[filepath.Base(fset.Position(pos).Filename)] }
	for ident, object := range info.Uses {
		if object.Pkg() != pkg || !object.Pos().IsValid() {
			continue
		}
		from, to := at(ident.Pos()), at(object.Pos())
		if from != to {
			u.count[from][to]++
			u.names[[2]int{from, to}] = append(u.names[[2]int{from, to}], ident.Name)
		}
	}
	return u, nil
}

// tries is how many orders are begun with; the same ones each time.
const tries = 30

// order looks for the order with the fewest references against it. It begins with some order and moves single files to
// where they do best as long as that helps, several times; the first begins with the files that are used more than they use.
func (u *uses) order() *Order {
	n := len(u.files)
	order, balance := make([]int, n), make([]int, n)
	for i := range order {
		order[i] = i
		for j := range n {
			balance[i] += u.count[j][i] - u.count[i][j]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(balance[b], balance[a]) })
	var best []int
	random := rand.New(rand.NewPCG(1, 2))
	for range tries {
		for better := true; better; {
			better = false
			for i := range n {
				better = u.move(order, i) || better
			}
		}
		if best == nil || u.against(order) < u.against(best) {
			best = slices.Clone(order)
		}
		random.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return u.report(best)
}

// against counts the references to files that stand later.
func (u *uses) against(order []int) (n int) {
	for at, i := range order {
		for _, j := range order[at:] {
			n += u.count[i][j]
		}
	}
	return n
}

func (u *uses) report(order []int) *Order {
	o := &Order{Against: u.against(order)}
	for at, i := range order {
		o.Files = append(o.Files, u.files[i])
		for later, j := range order {
			c := u.count[i][j]
			if o.References += c; later > at && c > 0 {
				names := slices.Clone(u.names[[2]int{i, j}])
				slices.Sort(names)
				o.Worst = append(o.Worst, Arrow{u.files[i], u.files[j], c, slices.Compact(names)})
			}
		}
	}
	slices.SortStableFunc(o.Worst, func(a, b Arrow) int { return cmp.Compare(b.Count, a.Count) })
	return o
}

// move puts the file at place from to where the fewest references are against the order, and tells whether these are fewer now.
func (u *uses) move(order []int, from int) bool {
	x := order[from]
	to, least := from, 0
	change := 0
	for at := from - 1; at >= 0; at-- { // before y
		y := order[at]
		if change += u.count[x][y] - u.count[y][x]; change < least {
			to, least = at, change
		}
	}
	change = 0
	for at := from + 1; at < len(order); at++ { // behind y
		y := order[at]
		if change += u.count[y][x] - u.count[x][y]; change < least {
			to, least = at, change
		}
	}
	if to < from {
		copy(order[to+1:from+1], order[to:from])
	} else {
		copy(order[from:to], order[from+1:to+1])
	}
	order[to] = x
	return least < 0
}
