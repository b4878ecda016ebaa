package figure

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point is one size of a ping-pong.
type Point struct {
	Size      int     // bytes
	Min       float64 // one way, us
	Median    float64
	P99       float64
	Bandwidth float64 // 10^6 bytes per second
}

// Latency draws one ping-pong into f. Points may come in any order; there must be at least one, and all figures must be
// positive, as logarithmic axes want.
func Latency(f *File, title string, points []Point) error {
	points = slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		return p.Size < 1 || !(p.Min > 0 && p.Median > 0 && p.P99 > 0 && p.Bandwidth > 0)
	})
	if len(points) == 0 {
		return errors.New("there is nothing to draw: no size was measured")
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Size, b.Size) })
	left, err := latencyPanel(points)
	if err != nil {
		return err
	}
	right, err := bandwidthPanel(points)
	if err != nil {
		return err
	}
	left.Title.Text = title
	left.Title.TextStyle.XAlign = draw.XCenter
	return f.draw(26*vg.Centimeter, 12*vg.Centimeter, func(c draw.Canvas) error {
		// One title over both panels: taken from the left plot and drawn by hand.
		style := left.Title.TextStyle
		left.Title.Text = ""
		style.YAlign = draw.YTop
		c.SetColor(left.BackgroundColor)
		c.Fill(c.Rectangle.Path())
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y - vg.Points(8)}, title)
		tiles := draw.Tiles{
			Rows: 1, Cols: 2, PadX: vg.Points(22),
			PadTop: vg.Points(30), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(16),
		}
		plots := [][]*plot.Plot{{left, right}}
		for i, where := range plot.Align(plots, tiles, c)[0] {
			plots[0][i].Draw(where)
		}
		return nil
	})
}

func latencyPanel(points []Point) (*plot.Plot, error) {
	p := newPlot("", "size of the message (bytes)", "one-way latency (us)")
	addGrid(p)
	low, high := math.Inf(1), 0.0
	median := make(plotter.XYs, len(points))
	ring := make(plotter.XYs, 2*len(points)) // along the minimum, back along the 99th percentile
	for i, q := range points {
		x := lg(float64(q.Size))
		median[i] = plotter.XY{X: x, Y: lg(q.Median)}
		ring[i] = plotter.XY{X: x, Y: lg(q.Min)}
		ring[len(ring)-1-i] = plotter.XY{X: x, Y: lg(q.P99)}
		low, high = min(low, q.Min), max(high, q.P99)
	}
	area, err := plotter.NewPolygon(ring)
	if err != nil {
		return nil, err
	}
	area.Color, area.LineStyle.Width = band, 0
	line, dots, err := plotter.NewLinePoints(median)
	if err != nil {
		return nil, err
	}
	dress(line, dots)
	p.Add(area, line, dots)
	p.Legend.Add("median", line, dots)
	p.Legend.Add("minimum to 99th percentile", area)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(8), vg.Points(-6)
	low, high = niceLog(low, high)
	logScale(&p.Y, low, high, decadeTicks)
	logScale(&p.X, float64(points[0].Size), float64(points[len(points)-1].Size), sizeTicks)
	return p, nil
}

func bandwidthPanel(points []Point) (*plot.Plot, error) {
	p := newPlot("", "size of the message (bytes)", "bandwidth: size / median latency (MB/s)")
	addGrid(p)
	low, high := math.Inf(1), 0.0
	xys := make(plotter.XYs, len(points))
	for i, q := range points {
		xys[i] = plotter.XY{X: lg(float64(q.Size)), Y: lg(q.Bandwidth)}
		low, high = min(low, q.Bandwidth), max(high, q.Bandwidth)
	}
	line, dots, err := plotter.NewLinePoints(xys)
	if err != nil {
		return nil, err
	}
	dress(line, dots)
	p.Add(line, dots)
	low, high = niceLog(low, high)
	logScale(&p.Y, low, high, decadeTicks)
	logScale(&p.X, float64(points[0].Size), float64(points[len(points)-1].Size), sizeTicks)
	return p, nil
}

func dress(line *plotter.Line, dots *plotter.Scatter) {
	line.Color, line.Width = blue, vg.Points(1.6)
	dots.Color, dots.Radius, dots.Shape = blue, vg.Points(2.6), draw.CircleGlyph{}
}
