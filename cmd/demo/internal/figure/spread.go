package figure

import (
	"errors"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Spread is what is drawn of one variant, in ns: the best, the quartiles, and the 99th percentile of its times.
type Spread struct {
	Name                      string
	Best, Q1, Median, Q3, P99 float64
	Remark                    string // right of it, such as what it adds
}

// Spreads draws one row per variant into f, the first on top: a hairline from the best to the 99th percentile, a bar
// over the quartiles, a dot at the median.
func Spreads(f *File, title, axis string, rows []Spread) error {
	low, high := math.Inf(1), 0.0
	var names []plot.Tick
	for i, r := range rows {
		names = append(names, plot.Tick{Value: height(i, len(rows)), Label: r.Name})
		low, high = min(low, r.Best), max(high, r.P99)
	}
	if !(low > 0) || high == 0 {
		return errors.New("there is nothing to draw: no row took any time")
	}
	p := newPlot(title, axis+" (logarithmic): left is better", "")
	addGrid(p)
	p.Add(spreads(rows))
	low, high = niceLog(low/1.05, high*1.05)
	logScale(&p.X, low, high, timeTicks)
	p.Y.Min, p.Y.Max = 0, float64(len(rows))
	p.Y.Tick.Marker = plot.ConstantTicks(names)
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	margin := vg.Points(20)
	for _, r := range rows {
		margin = max(margin, vg.Points(24)+p.X.Tick.Label.Width(r.Remark))
	}
	return f.draw(21*vg.Centimeter+margin, vg.Length(4.0+0.85*float64(len(rows)))*vg.Centimeter, func(c draw.Canvas) error {
		c.SetColor(p.BackgroundColor)
		c.Fill(c.Rectangle.Path())
		p.Draw(draw.Crop(c, vg.Points(8), -margin, vg.Points(24), vg.Points(-8)))
		at := vg.Points(16)
		for i, text := range []string{"best to 99th percentile", "quartiles of the rounds", "median"} {
			entry := p.Legend
			entry.Add(text, spreadThumb(i))
			entry.Top, entry.Left = false, true
			entry.Draw(draw.Crop(c, at, 0, vg.Points(5), 0))
			at += entry.TextStyle.Width(text) + vg.Points(50)
		}
		return nil
	})
}

type spreads []Spread

// Plot implements plot.Plotter.
func (sp spreads) Plot(c draw.Canvas, p *plot.Plot) {
	toX, y := p.Transforms(&c)
	x := func(ns float64) vg.Length { return toX(lg(ns)) }
	remark := p.X.Tick.Label
	remark.YAlign, remark.XAlign = -0.4, draw.XLeft
	for i, r := range sp {
		at := y(height(i, len(sp)))
		c.StrokeLine2(draw.LineStyle{Color: orange, Width: vg.Points(1)}, x(r.Best), at, x(r.P99), at)
		for _, end := range []float64{r.Best, r.P99} {
			c.StrokeLine2(draw.LineStyle{Color: orange, Width: vg.Points(1)}, x(end), at-vg.Points(3), x(end), at+vg.Points(3))
		}
		c.StrokeLine2(draw.LineStyle{Color: band, Width: vg.Points(9)}, x(r.Q1), at, x(r.Q3), at)
		c.DrawGlyph(draw.GlyphStyle{Color: blue, Radius: vg.Points(3.6), Shape: draw.CircleGlyph{}}, vg.Point{X: x(r.Median), Y: at})
		c.FillText(remark, vg.Point{X: c.Max.X + vg.Points(10), Y: at}, r.Remark)
	}
}

// spreadThumb is a mark of the legend.
type spreadThumb int

// Thumbnail implements plot.Thumbnailer.
func (st spreadThumb) Thumbnail(c *draw.Canvas) {
	mid := c.Center()
	switch st {
	case 0:
		c.StrokeLine2(draw.LineStyle{Color: orange, Width: vg.Points(1)}, c.Min.X, mid.Y, c.Max.X, mid.Y)
	case 1:
		c.StrokeLine2(draw.LineStyle{Color: band, Width: vg.Points(9)}, c.Min.X, mid.Y, c.Max.X, mid.Y)
	case 2:
		c.DrawGlyph(draw.GlyphStyle{Color: blue, Radius: vg.Points(3.6), Shape: draw.CircleGlyph{}}, mid)
	}
}
