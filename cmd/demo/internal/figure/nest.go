package figure

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/pm2-go/pm2/sched/topo"
)

// A nest is an item of a machine with its place in the picture, in points. x and y are those of the upper left corner;
// y grows downwards.
type nest struct {
	item       *topo.Item
	labels     []string // from the longest to the shortest
	x, y, w, h vg.Length
	children   []*nest
	rows       [][]*nest // the children as they stand
	spare      []*nest   // of the machine: memory without CPUs, in a row at its foot
}

// Measures of the picture, in points.
const (
	pad       = vg.Length(5)  // between a box and what is in it
	gap       = vg.Length(4)  // between boxes
	barHeight = vg.Length(13) // of a cache, and of a line with a label
	puHeight  = vg.Length(17)
	puWidth   = vg.Length(22)
	aspect    = 1.6 // of width to height, as far as possible
)

// isBar reports whether an item is drawn as a bar above those that share it, rather than as a box around them.
func isBar(it *topo.Item) bool {
	return it.Kind == topo.L3 || it.Kind == topo.L2 || it.Kind == topo.L1
}

// labelWidths are the widths that the shortest labels of each kind need: the same for all of a kind, so that what is
// alike looks alike. width tells how wide a text is.
func labelWidths(t *topo.Topology, width func(string) vg.Length) map[topo.Kind]vg.Length {
	widths := map[topo.Kind]vg.Length{topo.PU: puWidth}
	t.Root.Walk(func(it *topo.Item) {
		l := labels(it)
		widths[it.Kind] = max(widths[it.Kind], width(l[len(l)-1])+2*gap)
	})
	return widths
}

// newNest measures an item and what is in it.
func newNest(it *topo.Item, widths map[topo.Kind]vg.Length) *nest {
	n := &nest{item: it, labels: labels(it)}
	if it.Kind == topo.PU {
		n.w, n.h = widths[topo.PU], puHeight
		return n
	}
	for _, c := range it.Children {
		n.children = append(n.children, newNest(c, widths))
	}
	n.arrange()
	n.w, n.h = n.around(extent(n.rows))
	n.w = max(n.w, widths[it.Kind])
	return n
}

// around is the size of the item when what is in it has that size.
func (n *nest) around(w, h vg.Length) (vg.Length, vg.Length) {
	if isBar(n.item) {
		return w, barHeight + gap + h
	}
	return w + 2*pad, barHeight + h + pad
}

// arrange breaks the children into rows: the whole should be a little wider than high, and its rows full.
func (n *nest) arrange() {
	best, limit := math.Inf(1), vg.Length(0)
	for i, c := range n.children {
		if limit += c.w; i > 0 {
			limit += gap
		}
		rows := pack(n.children, limit)
		inside, _ := extent(rows)
		w, h := n.around(extent(rows))
		empty := 0.0
		for _, row := range rows {
			empty += float64(1-rowWidth(row)/inside) / float64(len(rows))
		}
		score := math.Abs(math.Log(float64(w/h)/aspect)) + 4*empty
		if n.item.Kind == topo.Core && len(n.children) <= 4 {
			score = float64(len(rows)) // hardware threads stand side by side
		}
		if score < best-1e-9 {
			best, n.rows = score, rows
		}
	}
}

// pack fills rows up to a width, in order.
func pack(children []*nest, limit vg.Length) (rows [][]*nest) {
	first, at := 0, -gap
	for i, c := range children {
		if at += gap + c.w; i > first && at > limit+0.01 {
			rows = append(rows, children[first:i])
			first, at = i, c.w
		}
	}
	return append(rows, children[first:])
}

func rowWidth(row []*nest) vg.Length {
	w := -gap
	for _, c := range row {
		w += gap + c.w
	}
	return w
}

func rowHeight(row []*nest) (h vg.Length) {
	for _, c := range row {
		h = max(h, c.h)
	}
	return h
}

// extent is the size of all rows.
func extent(rows [][]*nest) (w, h vg.Length) {
	h = -gap
	for _, row := range rows {
		w = max(w, rowWidth(row))
		h += gap + rowHeight(row)
	}
	return w, h
}

// place puts the nest at a position and stretches it to a size, which is not smaller than it needs.
func (n *nest) place(x, y, w, h vg.Length) {
	n.x, n.y, n.w, n.h = x, y, w, h
	if len(n.children) == 0 {
		return
	}
	left, top, inside := x, y+barHeight+gap, w
	if !isBar(n.item) {
		left, top, inside = x+pad, y+barHeight, w-2*pad
	}
	widest, _ := extent(n.rows)
	for _, row := range n.rows {
		needed := rowWidth(row)
		space := inside
		if needed < 0.8*widest { // hardly begun: not drawn out
			space = needed * inside / widest
		}
		extra := (space - needed) / vg.Length(len(row))
		at, height := left, rowHeight(row)
		for _, c := range row {
			c.place(at, top, c.w+extra, height)
			at += c.w + gap // place has added the extra width
		}
		top += height + gap
	}
}

// walk calls visit for the nest and everything in it, outer ones first.
func (n *nest) walk(visit func(*nest)) {
	visit(n)
	for _, c := range n.children {
		c.walk(visit)
	}
	for _, s := range n.spare {
		visit(s)
	}
}

// labels are the texts that an item may carry.
func labels(it *topo.Item) []string {
	name := it.Kind.String()
	if it.Kind == topo.L1 {
		name = "L1d"
	}
	number := ""
	if it.OS >= 0 && !isBar(it) && it.Kind != topo.Machine {
		number = fmt.Sprintf(" %d", it.OS)
	}
	switch {
	case it.Kind == topo.PU:
		return []string{fmt.Sprint(it.OS)}
	case it.Size == 0:
		return []string{name + number}
	case isBar(it):
		size := topo.FormatSize(it.Size)
		short := strings.Replace(strings.TrimSuffix(size, "iB"), " ", "", 1)
		return []string{name + "  " + size, name + " " + short}
	}
	return []string{name + number + "   " + topo.FormatSize(it.Size), name + number}
}
