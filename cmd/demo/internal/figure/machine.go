package figure

import (
	"errors"
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/pm2-go/pm2/sched/topo"
)

// maxImage bounds PNG pictures, in square points: of 160 dots to the inch, some 50 million pixels.
const maxImage = 10e6

// shade is how a kind of items is drawn.
type shade struct{ fill, edge color.NRGBA }

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

var shades = map[topo.Kind]shade{
	topo.Machine: {rgb(0xffffff), rgb(0x444444)},
	topo.Package: {rgb(0xf8f2e4), rgb(0xb7a36f)},
	topo.NUMA:    {rgb(0xe4f1e4), rgb(0x77a877)},
	topo.Die:     {rgb(0xf1ecf5), rgb(0xa08cb4)},
	topo.L3:      {rgb(0x9fbbdc), rgb(0x5f83b0)},
	topo.Cluster: {rgb(0xf4f7f9), rgb(0x9aa7b3)},
	topo.L2:      {rgb(0xbfd3ea), rgb(0x7f9fc6)},
	topo.L1:      {rgb(0xdde8f5), rgb(0x9db5d3)},
	topo.Core:    {rgb(0xffffff), rgb(0x8a8a8a)},
	topo.PU:      {rgb(0xededed), rgb(0x9a9a9a)},
}

// classShades are the colors of PUs where there are several kinds, from the most economical to the fastest.
var classShades = []shade{
	{rgb(0xcfe8c4), rgb(0x7fa873)},
	{rgb(0xf6cf9c), rgb(0xc08a45)},
	{rgb(0xeea889), rgb(0xb86a47)},
}

// classShade is the color of one class of several: one of classShades, or between two.
func classShade(class, of int) shade {
	at := float64(class*(len(classShades)-1)) / float64(max(of-1, 1))
	low := min(int(at), len(classShades)-2)
	mix := func(a, b color.NRGBA) color.NRGBA {
		part := func(x, y uint8) uint8 { return uint8(float64(x) + (at-float64(low))*(float64(y)-float64(x))) }
		return color.NRGBA{R: part(a.R, b.R), G: part(a.G, b.G), B: part(a.B, b.B), A: 0xff}
	}
	x, y := classShades[low], classShades[low+1]
	return shade{mix(x.fill, y.fill), mix(x.edge, y.edge)}
}

// Machine draws a machine into f: boxes in boxes, caches as bars above those that share them, PUs with the system's
// numbers. The facts are written below.
func Machine(f *File, title string, t *topo.Topology, facts []string) error {
	m := newMachine(title, t, facts)
	if !f.svg && float64(m.width*m.height) > maxImage {
		return errors.New("the machine is too large for a PNG: let the figure's name end in .svg")
	}
	return f.draw(m.width, m.height, func(c draw.Canvas) error {
		m.canvas = c
		m.paint()
		return nil
	})
}

// machine is a picture of a machine.
type machine struct {
	canvas        draw.Canvas
	width, height vg.Length

	title         string
	heading, text text.Style
	root          *nest
	classes       int // of efficiency
	legend        []entry
	facts         []string
}

// entry is one of the legend.
type entry struct {
	shade
	text string
}

const margin = vg.Length(14)

func newMachine(title string, t *topo.Topology, facts []string) *machine {
	look := newPlot("", "", "")
	m := &machine{heading: look.Title.TextStyle, text: look.Legend.TextStyle, title: title}
	m.text.Font.Size = vg.Points(8)
	m.heading.XAlign, m.heading.YAlign = text.XLeft, text.YTop
	m.text.XAlign, m.text.YAlign = text.XLeft, text.YCenter
	for _, pu := range t.PUs() {
		m.classes = max(m.classes, pu.Efficiency+1)
	}
	m.legend = m.entries(t)

	m.root = newNest(t.Root, labelWidths(t, m.text.Width))
	w, h := m.root.w, m.root.h
	foot := vg.Length(0) // the row of memory without CPUs
	for _, it := range t.Outside {
		n := &nest{item: it, labels: labels(it), h: barHeight + gap}
		n.w = m.text.Width(n.labels[0]) + 2*pad
		m.root.spare = append(m.root.spare, n)
		w = max(w, n.w+2*pad)
	}
	w = max(w, vg.Points(300), m.heading.Width(title))
	x, y := pad, m.root.h
	for _, n := range m.root.spare {
		if x > pad && x+n.w > w-pad {
			x, y = pad, y+n.h+gap
		}
		n.x, n.y = margin+x, 2*margin+vg.Points(12)+y
		x += n.w + gap
		foot = y + n.h + pad - m.root.h
	}
	m.root.place(margin, 2*margin+vg.Points(12), w, h)
	m.root.h += foot

	m.width = w + 2*margin
	for _, fact := range facts {
		m.facts = append(m.facts, m.wrap(fact, w)...)
	}
	m.height = m.root.y + m.root.h + margin + m.legendHeight() + vg.Length(len(m.facts))*barHeight + margin
	return m
}

// entries lists what the legend explains.
func (m *machine) entries(t *topo.Topology) (list []entry) {
	words := map[topo.Kind]string{
		topo.Package: "package", topo.NUMA: "NUMA node", topo.Die: "die", topo.L3: "L3 cache", topo.Cluster: "cluster",
		topo.L2: "L2 cache", topo.L1: "L1 data cache", topo.Core: "core", topo.PU: "PU (hardware thread), by its CPU number",
	}
	for _, k := range topo.Kinds()[1:] {
		switch {
		case len(t.At(k)) == 0 && (k != topo.NUMA || len(t.Outside) == 0):
		case k == topo.PU && m.classes > 1:
			for class := range m.classes {
				text := fmt.Sprintf("PU of class %d", class)
				switch class {
				case 0:
					text += ", the most economical"
				case m.classes - 1:
					text += ", the fastest"
				}
				list = append(list, entry{classShade(class, m.classes), text})
			}
		default:
			list = append(list, entry{shades[k], words[k]})
		}
	}
	return list
}

// swatch is the width of a legend's sample.
const swatch = vg.Length(14)

// layLegend calls visit with the place of each entry, from the picture's upper left corner, and returns the height of
// all.
func (m *machine) layLegend(visit func(e entry, x, y vg.Length)) vg.Length {
	x, y := vg.Length(0), vg.Length(0)
	for _, e := range m.legend {
		w := swatch + gap + m.text.Width(e.text) + 3*gap
		if x > 0 && x+w > m.width-2*margin {
			x, y = 0, y+barHeight+gap
		}
		visit(e, x, y)
		x += w
	}
	return y + barHeight + margin
}

func (m *machine) legendHeight() vg.Length { return m.layLegend(func(entry, vg.Length, vg.Length) {}) }

// wrap breaks a text into lines that are not wider than w, if it has spaces enough.
func (m *machine) wrap(s string, w vg.Length) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case m.text.Width(line+" "+word) > w:
			lines = append(lines, line)
			line = "    " + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

func (m *machine) paint() {
	m.rectangle(0, 0, m.width, m.height, shade{rgb(0xffffff), rgb(0xffffff)}, false)
	m.write(m.heading, margin, margin, m.title)
	m.root.walk(m.box)
	y := m.root.y + m.root.h + margin
	h := m.layLegend(func(e entry, x, dy vg.Length) {
		m.rectangle(margin+x, y+dy, swatch, barHeight-3, e.shade, false)
		m.write(m.text, margin+x+swatch+gap, y+dy+(barHeight-3)/2, e.text)
	})
	for i, fact := range m.facts {
		style := m.text
		if strings.HasPrefix(fact, "forbidden") || strings.HasPrefix(fact, "offline") {
			style.Color = orange
		}
		m.write(style, margin, y+h+barHeight*(vg.Length(i)+0.5), fact)
	}
}

// box draws one item.
func (m *machine) box(n *nest) {
	s := shades[n.item.Kind]
	style, x, h := m.text, n.x+pad, n.h
	switch {
	case n.item.Kind == topo.PU:
		if m.classes > 1 {
			s = classShade(n.item.Efficiency, m.classes)
		}
	case isBar(n.item):
		h = barHeight
	}
	m.rectangle(n.x, n.y, n.w, h, s, n.item.Kind != topo.PU && len(n.children) == 0)
	label := n.labels[0]
	for _, shorter := range n.labels {
		label = shorter
		if style.Width(label)+2*gap <= n.w {
			break
		}
	}
	middle := n.y + barHeight/2
	if n.item.Kind == topo.PU || len(n.children) == 0 {
		middle = n.y + n.h/2
	}
	if n.item.Kind == topo.PU || isBar(n.item) {
		style.XAlign, x = text.XCenter, n.x+n.w/2
	}
	m.write(style, x, middle, label)
}

// rectangle draws a box whose y grows downwards.
func (m *machine) rectangle(x, y, w, h vg.Length, s shade, dashed bool) {
	top, bottom := m.canvas.Max.Y-y, m.canvas.Max.Y-y-h
	left, right := m.canvas.Min.X+x, m.canvas.Min.X+x+w
	corners := []vg.Point{{X: left, Y: top}, {X: right, Y: top}, {X: right, Y: bottom}, {X: left, Y: bottom}, {X: left, Y: top}}
	m.canvas.FillPolygon(s.fill, corners[:4])
	line := draw.LineStyle{Color: s.edge, Width: vg.Points(0.7)}
	if dashed {
		line.Dashes = []vg.Length{vg.Points(3), vg.Points(2)}
	}
	m.canvas.StrokeLines(line, corners)
}

// write puts a text at a place whose y grows downwards.
func (m *machine) write(s text.Style, x, y vg.Length, txt string) {
	m.canvas.FillText(s, vg.Point{X: m.canvas.Min.X + x, Y: m.canvas.Max.Y - y}, txt)
}
