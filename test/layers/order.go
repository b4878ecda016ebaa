package layers

import (
	"cmp"
	"fmt"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
)

// An Order is the files of a package in the order that reads best: each file uses what stands in files before it, but
// for the references that no order gets rid of.
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

// Orders returns the order of the files of each of the packages, by import path. Test files do not count.
func Orders(packages []*loaded) map[string]*Order {
	orders := map[string]*Order{}
	for _, p := range packages {
		orders[p.ImportPath] = usesOf(p).order()
	}
	return orders
}

// uses has the references between the files of one package: from the first to the second.
type uses struct {
	files []string
	count [][]int
	names map[[2]int][]string
}

func usesOf(p *loaded) *uses {
	u := &uses{files: p.GoFiles, names: map[[2]int][]string{}}
	index := map[string]int{}
	for i, name := range p.GoFiles {
		index[name] = i
		u.count = append(u.count, make([]int, len(p.GoFiles)))
	}
	at := func(pos token.Pos) int { return index[filepath.Base(p.fset.Position(pos).Filename)] }
	for ident, object := range p.info.Uses {
		if object.Pkg() != p.types || !object.Pos().IsValid() {
			continue
		}
		from, to := at(ident.Pos()), at(object.Pos())
		if from != to {
			u.count[from][to]++
			u.names[[2]int{from, to}] = append(u.names[[2]int{from, to}], ident.Name)
		}
	}
	return u
}

// tries is how many orders are begun with; the same ones each time.
const tries = 30

// order looks for the order with the fewest references against it. It begins with some order and moves single files to
// where they do best as long as that helps, several times; the first begins with the files that are used more than they
// use.
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

// move puts the file at place from to where the fewest references are against the order, and reports whether these are
// fewer now.
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
