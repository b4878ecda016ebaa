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

// Panel is one graph: curves over a few places of the horizontal axis, which lie at
// equal distances and carry labels, for parameters such as 0, 10, 100 have no scale.
type Panel struct {
	X, Y   string   // what the axes show
	Places []string // labels along X
	Curves []Curve
	Times  bool // Y is in ns, on a logarithmic axis; else it is linear
	Zero   bool // a linear axis shows its zero
}

// palette are the colours of curves, in their order.
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

// mostInside is how many curves a legend may have that stands in its panel. A longer one would lie
// upon them: it stands beside the panels, once.
const mostInside = 1

// Curves draws the panels side by side into f, under one title.
func Curves(f *File, title string, panels ...Panel) error {
	if len(panels) == 0 {
		return errors.New("there is nothing to draw: no panel")
	}
	row := make([]*plot.Plot, len(panels))
	for i := range panels {
		p, err := panels[i].plot()
		if err != nil {
			return err
		}
		row[i] = p
	}
	style := newPlot(title, "", "").Title.TextStyle
	top := vg.Points(30) + style.Font.Size*vg.Length(strings.Count(title, "\n"))*1.25
	legend, column := beside(panels, row)
	return f.draw(vg.Length(4+13*float64(len(panels)))*vg.Centimeter+column, 12*vg.Centimeter, func(c draw.Canvas) error {
		style.XAlign, style.YAlign = draw.XCenter, draw.YTop
		c.SetColor(row[0].BackgroundColor)
		c.Fill(c.Rectangle.Path())
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y - vg.Points(8)}, title)
		tiles := draw.Tiles{
			Rows: 1, Cols: len(row), PadX: vg.Points(22),
			PadTop: top, PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(16) + column,
		}
		if legend != nil {
			legend.Draw(draw.Crop(c, c.Max.X-c.Min.X-column, 0, 0, -top))
		}
		for i, where := range plot.Align([][]*plot.Plot{row}, tiles, c)[0] {
			row[i].Draw(where)
		}
		return nil
	})
}

// beside takes the legends out of the plots, if they are long and all the same, and returns one for
// all and the width that it needs; else nil and 0.
func beside(panels []Panel, row []*plot.Plot) (legend *plot.Legend, width vg.Length) {
	first := panels[0].Curves
	if len(first) <= mostInside {
		return nil, 0
	}
	for i := range panels {
		if !slices.EqualFunc(panels[i].Curves, first, func(a, b Curve) bool { return a.Name == b.Name }) {
			return nil, 0
		}
	}
	shared := row[0].Legend
	shared.Top, shared.Left, shared.XOffs, shared.YOffs = true, true, 0, 0
	for _, k := range first {
		width = max(width, shared.TextStyle.Width(k.Name))
	}
	for _, p := range row {
		p.Legend = newPlot("", "", "").Legend
	}
	return &shared, width + shared.ThumbnailWidth + vg.Points(20)
}

func (g *Panel) plot() (*plot.Plot, error) {
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
		if err := g.Curves[i].add(p, palette[i%len(palette)], scale, g.Times); err != nil {
			return nil, err
		}
	}
	var ticks []plot.Tick
	for i, label := range g.Places {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: label})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Min, p.X.Max = -0.3, float64(len(g.Places))-0.7
	if g.Times {
		low, high = niceLog(low, high*1.5) // room for the legend
		logScale(&p.Y, low, high, timeTicks)
	} else {
		if g.Zero {
			low, high = min(low, 0), max(high, 0)
		}
		room := (high - low) * 0.08
		if room == 0 {
			room = max(math.Abs(high)*0.1, 1)
		}
		p.Y.Min, p.Y.Max = low-room, high+4*room // room for the legend
		p.Y.Tick.Marker = plot.ConstantTicks(linearTicks(p.Y.Min, p.Y.Max))
	}
	p.Legend.Top, p.Legend.Left = true, false
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(-6), vg.Points(-4)
	return p, nil
}

// add draws one curve, in pieces where values are missing.
func (k *Curve) add(p *plot.Plot, c color.NRGBA, scale func(float64) float64, positive bool) error {
	usable := func(v float64) bool { return !math.IsNaN(v) && (!positive || v > 0) }
	var line, ring plotter.XYs
	for i, v := range k.Y {
		if usable(v) {
			line = append(line, plotter.XY{X: float64(i), Y: scale(v)})
		}
		if k.Low != nil && usable(k.Low[i]) && usable(k.High[i]) {
			ring = append(ring, plotter.XY{X: float64(i), Y: scale(k.Low[i])})
		}
	}
	if len(ring) > 1 {
		for i := len(k.Y) - 1; i >= 0; i-- {
			if usable(k.Low[i]) && usable(k.High[i]) {
				ring = append(ring, plotter.XY{X: float64(i), Y: scale(k.High[i])})
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
	if k.Dashed {
		l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	p.Add(l)
	if k.Dashed {
		p.Legend.Add(k.Name, l)
		return nil
	}
	dots.Color, dots.Radius, dots.Shape = c, vg.Points(2.4), draw.CircleGlyph{}
	p.Add(dots)
	p.Legend.Add(k.Name, l, dots)
	return nil
}
