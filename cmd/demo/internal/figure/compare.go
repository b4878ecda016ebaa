package figure

import (
	"errors"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Measure is a median with its quartiles.
type Measure struct{ Q1, Median, Q3 float64 }

// Pair is one row: ours beside a peer's, in ns. A peer of zeros was not measured.
type Pair struct {
	Name, PeerName string
	Ours, Peer     Measure
}

// PerOperation is what the rows of benchmarks measure.
const PerOperation = "time per operation"

// Sides are what the legend calls the two of each pair.
type Sides struct{ Ours, Peer string }

// OursBesidePeer are the sides of most comparisons.
var OursBesidePeer = Sides{"ours", "peer"}

// Compare draws the rows into f, the first on top. There must be at least one. what says what is measured.
func Compare(f *File, title, what string, sides Sides, pairs []Pair) error {
	if len(pairs) == 0 {
		return errors.New("there is nothing to draw: no row was measured")
	}
	p := newPlot(title, what+" (logarithmic): left is better", "")
	addGrid(p)
	low, high := math.Inf(1), 0.0
	var names []plot.Tick
	for i, r := range pairs {
		names = append(names, plot.Tick{Value: height(i, len(pairs)), Label: r.Name})
		for _, m := range []Measure{r.Ours, r.Peer} {
			if m.Median > 0 {
				low, high = min(low, m.Q1), max(high, m.Q3)
			}
		}
	}
	if !(low > 0) || high == 0 {
		return errors.New("there is nothing to draw: no row took any time")
	}
	d := &dumbbells{pairs: pairs}
	p.Add(d)
	p.Legend.Add(sides.Ours, thumb{draw.CircleGlyph{}, d})
	p.Legend.Add(sides.Peer, thumb{draw.BoxGlyph{}, d})
	low, high = niceLog(low/1.2, high*1.2)
	logScale(&p.X, low, high, timeTicks)
	p.Y.Min, p.Y.Max = 0, float64(len(pairs))
	p.Y.Tick.Marker = plot.ConstantTicks(names)
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	margin := vg.Points(ratioColumn + 24)
	for _, r := range pairs {
		margin = max(margin, vg.Points(ratioColumn+24)+p.X.Tick.Label.Width(r.remark()))
	}
	p.Legend.Top, p.Legend.XOffs, p.Legend.YOffs = true, margin-vg.Points(12), vg.Points(26)
	return f.draw(19*vg.Centimeter+margin, vg.Length(3.2+0.85*float64(len(pairs)))*vg.Centimeter, func(c draw.Canvas) error {
		c.SetColor(p.BackgroundColor)
		c.Fill(c.Rectangle.Path())
		p.Draw(draw.Crop(c, vg.Points(8), -margin, vg.Points(8), vg.Points(-8)))
		return nil
	})
}

// ratioColumn is how far right of the axis the ratios end, in points. Beside them stands the remark.
const ratioColumn = 56

// remark is what stands behind the ratio.
func (r *Pair) remark() string {
	if r.Peer.Median <= 0 {
		return "(" + duration(r.Ours.Median) + " : no peer)"
	}
	return "(" + duration(r.Ours.Median) + " : " + duration(r.Peer.Median) + ", " + r.PeerName + ")"
}

// ratio has two decimals, or two digits if it is small.
func (r *Pair) ratio() string {
	x := r.Ours.Median / r.Peer.Median
	if x < 0.01 {
		return strconv.FormatFloat(x, 'g', 2, 64) + "x"
	}
	return strconv.FormatFloat(x, 'f', 2, 64) + "x"
}

// height is where row i of n lies, counted from below.
func height(i, n int) float64 { return float64(n-i) - 0.5 }

// dumbbells draws each row as two marks on a line.
type dumbbells struct{ pairs []Pair }

// Plot implements plot.Plotter.
func (d *dumbbells) Plot(c draw.Canvas, p *plot.Plot) {
	toX, y := p.Transforms(&c)
	x := func(ns float64) vg.Length { return toX(lg(ns)) }
	ratio := p.X.Tick.Label
	ratio.YAlign, ratio.XAlign = -0.4, draw.XRight
	peer := ratio
	peer.XAlign = draw.XLeft
	for i := range d.pairs {
		r := &d.pairs[i]
		at := y(height(i, len(d.pairs)))
		if r.Peer.Median > 0 {
			rail := draw.LineStyle{Color: faint, Width: vg.Points(4)}
			c.StrokeLine2(rail, x(r.Ours.Median), at, x(r.Peer.Median), at)
			d.mark(c, x, at, r.Peer, draw.GlyphStyle{Color: orange, Radius: vg.Points(3.4), Shape: draw.BoxGlyph{}})
			c.FillText(ratio, vg.Point{X: c.Max.X + vg.Points(ratioColumn), Y: at}, r.ratio())
		}
		d.mark(c, x, at, r.Ours, draw.GlyphStyle{Color: blue, Radius: vg.Points(4), Shape: draw.CircleGlyph{}})
		c.FillText(peer, vg.Point{X: c.Max.X + vg.Points(ratioColumn+6), Y: at}, r.remark())
	}
}

func (d *dumbbells) mark(c draw.Canvas, x func(float64) vg.Length, at vg.Length, m Measure, g draw.GlyphStyle) {
	c.StrokeLine2(draw.LineStyle{Color: g.Color, Width: vg.Points(1.4)}, x(m.Q1), at, x(m.Q3), at)
	c.DrawGlyph(g, vg.Point{X: x(m.Median), Y: at})
}

// thumb is a mark of the legend.
type thumb struct {
	shape draw.GlyphDrawer
	owner *dumbbells
}

// Thumbnail implements plot.Thumbnailer.
func (t thumb) Thumbnail(c *draw.Canvas) {
	g := draw.GlyphStyle{Color: blue, Radius: vg.Points(4), Shape: t.shape}
	if _, box := t.shape.(draw.BoxGlyph); box {
		g.Color, g.Radius = orange, vg.Points(3.4)
	}
	c.DrawGlyph(g, c.Center())
}
