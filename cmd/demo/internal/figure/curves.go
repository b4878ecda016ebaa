package figure

import (
	"errors"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is a figure's line: a value, in ns or as Panel.Y says, at each of the panel's places.
type Curve struct {
	Name      string
	Y         []float64 // NaN: nothing there
	Low, High []float64 // nil, or a band around Y
	Dashed    bool
}

// Panel is one graph: curves over a few places of the horizontal axis, which lie at equal distances and carry labels,
// for parameters such as 0, 10, 100 have no scale.
type Panel struct {
	X, Y   string   // what the axes show
	Places []string // labels along X
	Curves []Curve
	Times  bool // Y is in ns, on a logarithmic axis; else it is linear
	Zero   bool // a linear axis shows its zero
}

// Add appends a value with its band.
func (c *Curve) Add(y, low, high float64) {
	c.Y, c.Low, c.High = append(c.Y, y), append(c.Low, low), append(c.High, high)
}

// Curve returns the curve with that name. It appends one if there is none. The curve is valid until the next is
// appended.
func (p *Panel) Curve(name string) *Curve {
	i := slices.IndexFunc(p.Curves, func(c Curve) bool { return c.Name == name })
	if i < 0 {
		i = len(p.Curves)
		p.Curves = append(p.Curves, Curve{Name: name})
	}
	return &p.Curves[i]
}

// palette are the colors of curves, in their order.
var palette = []color.NRGBA{
	blue, orange,
	{R: 0x2c, G: 0x8c, B: 0x4a, A: 0xff},
	{R: 0x8e, G: 0x44, B: 0xad, A: 0xff},
	{R: 0x7a, G: 0x7a, B: 0x7a, A: 0xff},
	{R: 0xb0, G: 0x1e, B: 0x2d, A: 0xff},
	{R: 0x00, G: 0x9c, B: 0xa8, A: 0xff},
	{R: 0xc8, G: 0x4f, B: 0x9b, A: 0xff},
	{R: 0x8a, G: 0x6d, B: 0x1f, A: 0xff},
	{R: 0x3d, G: 0x3d, B: 0x3d, A: 0xff},
}

// mostInside is how many curves a legend may have that stands in a panel. A longer one would lie
// upon them: it stands beside the panels.
const mostInside = 1

// key says which curve has which color: those of one name the same in all panels, and each name once.
type key struct {
	names  []string
	legend plot.Legend // for a place beside the panels
	shown  map[string]bool
}

func newKey(panels []Panel) *key {
	k := &key{legend: newPlot("", "", "").Legend, shown: map[string]bool{}}
	k.legend.Top, k.legend.Left = true, true
	for i := range panels {
		for _, c := range panels[i].Curves {
			if !slices.Contains(k.names, c.Name) {
				k.names = append(k.names, c.Name)
			}
		}
	}
	return k
}

func (k *key) color(name string) color.NRGBA {
	return palette[slices.Index(k.names, name)%len(palette)]
}

// beside says that the legend stands beside the panels.
func (k *key) beside() bool { return len(k.names) > mostInside }

// add puts a curve of a panel's into the legend.
func (k *key) add(inside *plot.Legend, name string, thumbs ...plot.Thumbnailer) {
	switch {
	case !k.beside():
		inside.Add(name, thumbs...)
	case !k.shown[name]:
		k.shown[name] = true
		k.legend.Add(name, thumbs...)
	}
}

// column is how much room the legend needs beside the panels.
func (k *key) column() (width vg.Length) {
	if !k.beside() {
		return 0
	}
	for name := range k.shown {
		width = max(width, k.legend.TextStyle.Width(name))
	}
	return width + k.legend.ThumbnailWidth + vg.Points(20)
}

// Curves draws the panels side by side into f, under one title.
func Curves(f *File, title string, panels ...Panel) error {
	if len(panels) == 0 {
		return errors.New("there is nothing to draw: no panel")
	}
	row, k := make([]*plot.Plot, len(panels)), newKey(panels)
	for i := range panels {
		p, err := panels[i].plot(k)
		if err != nil {
			return err
		}
		row[i] = p
	}
	style := newPlot(title, "", "").Title.TextStyle
	top := vg.Points(30) + style.Font.Size*vg.Length(strings.Count(title, "\n"))*1.25
	column := k.column()
	return f.draw(vg.Length(4+13*float64(len(panels)))*vg.Centimeter+column, 12*vg.Centimeter, func(c draw.Canvas) error {
		style.XAlign, style.YAlign = draw.XCenter, draw.YTop
		c.SetColor(row[0].BackgroundColor)
		c.Fill(c.Rectangle.Path())
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y - vg.Points(8)}, title)
		tiles := draw.Tiles{
			Rows: 1, Cols: len(row), PadX: vg.Points(22),
			PadTop: top, PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(16) + column,
		}
		if k.beside() {
			k.legend.Draw(draw.Crop(c, c.Max.X-c.Min.X-column, 0, 0, -top))
		}
		for i, where := range plot.Align([][]*plot.Plot{row}, tiles, c)[0] {
			row[i].Draw(where)
		}
		return nil
	})
}

// plot draws a panel, and puts its curves into the legend.
func (g *Panel) plot(legend *key) (*plot.Plot, error) {
	p := newPlot("", g.X, g.Y)
	addGrid(p)
	low, high := math.Inf(1), math.Inf(-1)
	scale := func(v float64) float64 { return v }
	if g.Times {
		scale = lg
	}
	see := func(v float64) {
		if !math.IsNaN(v) && (!g.Times || v > 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	for i := range g.Curves {
		k := &g.Curves[i]
		if len(k.Y) != len(g.Places) || k.Low != nil && (len(k.Low) != len(k.Y) || len(k.High) != len(k.Y)) {
			return nil, errors.New("a curve has another number of points than the axis: " + k.Name)
		}
		for j, v := range k.Y {
			see(v)
			if k.Low != nil {
				see(k.Low[j])
				see(k.High[j])
			}
		}
	}
	if low > high {
		return nil, errors.New("there is nothing to draw: no value was measured")
	}
	for i := range g.Curves {
		if err := g.Curves[i].add(p, legend, scale, g.Times); err != nil {
			return nil, err
		}
	}
	var ticks []plot.Tick
	for i, label := range g.Places {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: label})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Min, p.X.Max = -0.3, float64(len(g.Places))-0.7
	above, rooms := 1.0, 1.0
	if !legend.beside() { // it stands there
		above, rooms = 1.5, 4
	}
	if g.Times {
		low, high = niceLog(low, high*above)
		logScale(&p.Y, low, high, timeTicks)
	} else {
		if g.Zero {
			low, high = min(low, 0), max(high, 0)
		}
		room := (high - low) * 0.08
		if room == 0 {
			room = max(math.Abs(high)*0.1, 1)
		}
		p.Y.Min, p.Y.Max = low-room, high+rooms*room
		p.Y.Tick.Marker = plot.ConstantTicks(linearTicks(p.Y.Min, p.Y.Max))
	}
	p.Legend.Top, p.Legend.Left = true, false
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(-6), vg.Points(-4)
	return p, nil
}

// add draws one curve, in pieces where values are missing.
func (cv *Curve) add(p *plot.Plot, legend *key, scale func(float64) float64, positive bool) error {
	c := legend.color(cv.Name)
	usable := func(v float64) bool { return !math.IsNaN(v) && (!positive || v > 0) }
	var line, ring plotter.XYs
	for i, v := range cv.Y {
		if usable(v) {
			line = append(line, plotter.XY{X: float64(i), Y: scale(v)})
		}
		if cv.Low != nil && usable(cv.Low[i]) && usable(cv.High[i]) {
			ring = append(ring, plotter.XY{X: float64(i), Y: scale(cv.Low[i])})
		}
	}
	if len(ring) > 1 {
		for i := len(cv.Y) - 1; i >= 0; i-- {
			if usable(cv.Low[i]) && usable(cv.High[i]) {
				ring = append(ring, plotter.XY{X: float64(i), Y: scale(cv.High[i])})
			}
		}
		area, err := plotter.NewPolygon(ring)
		if err != nil {
			return err
		}
		pale := c
		pale.A = 0x26
		area.Color, area.LineStyle.Width = pale, 0
		p.Add(area)
	}
	if len(line) == 0 {
		return nil
	}
	l, dots, err := plotter.NewLinePoints(line)
	if err != nil {
		return err
	}
	l.Color, l.Width = c, vg.Points(1.6)
	if cv.Dashed {
		l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	p.Add(l)
	if cv.Dashed {
		legend.add(&p.Legend, cv.Name, l)
		return nil
	}
	dots.Color, dots.Radius, dots.Shape = c, vg.Points(2.4), draw.CircleGlyph{}
	p.Add(dots)
	legend.add(&p.Legend, cv.Name, l, dots)
	return nil
}
