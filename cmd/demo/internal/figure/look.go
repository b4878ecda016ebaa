package figure

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/pm2-go/pm2/cmd/demo/internal/size"
)

var (
	blue   = color.NRGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff}
	band   = color.NRGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0x30}
	orange = color.NRGBA{R: 0xd9, G: 0x6b, B: 0x0b, A: 0xff}
	ink    = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	faint  = color.NRGBA{R: 0xd8, G: 0xd8, B: 0xd8, A: 0xff}
)

// bold is the weight of that name in the fonts' own scale (0 is regular).
const bold = 3

// newPlot is an empty plot in the look of all figures.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle,
		&p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		style.Font.Variant = "Sans"
		style.Font.Size = vg.Points(10)
		style.Color = ink
	}
	p.Title.TextStyle.Font.Size = vg.Points(12)
	p.Title.TextStyle.Font.Weight = bold
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = ink, ink
		axis.Label.Padding = vg.Points(5)
		axis.Padding = 0
	}
	p.Legend.Padding = vg.Points(3)
	p.Legend.ThumbnailWidth = vg.Points(22)
	return p
}

// addGrid draws faint lines at the labeled ticks; first of all, below the data.
func addGrid(p *plot.Plot) {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = faint, faint
	g.Horizontal.Width, g.Vertical.Width = vg.Points(0.5), vg.Points(0.5)
	p.Add(g)
}

// lg is where a value lies on a logarithmic axis. The axes are linear and carry logarithms: the plot library places the
// label of a logarithmic axis as if it were linear, and reserves room for it at the wrong end.
func lg(v float64) float64 { return math.Log10(v) }

// logScale lets an axis run from low to high, which may be equal; ticks gets and returns plain values.
func logScale(a *plot.Axis, low, high float64, ticks func(low, high float64) []plot.Tick) {
	if low == high {
		low, high = low/2, high*2
	}
	a.Min, a.Max = lg(low), lg(high)
	marks := ticks(low, high)
	for i := range marks {
		marks[i].Value = lg(marks[i].Value)
	}
	a.Tick.Marker = plot.ConstantTicks(marks)
}

// sizeTicks labels every power of two, or every third if there are many.
func sizeTicks(low, high float64) []plot.Tick {
	every := 1
	if math.Log2(high/low) > 9 {
		every = 3
	}
	var ticks []plot.Tick
	for e := int(math.Ceil(math.Log2(low) - 1e-9)); float64(e) <= math.Log2(high)+1e-9; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if e >= 0 && e%every == 0 {
			t.Label = size.Format(1 << e)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// decadeTicks labels powers of ten; on short ranges also their double and fivefold. The values between get minor ticks.
func decadeTicks(low, high float64) []plot.Tick {
	short := math.Log10(high/low) < 2.5
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(low))); float64(e) <= math.Log10(high); e++ {
		for m := 1; m <= 9; m++ {
			v := float64(m) * math.Pow10(e)
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || short && (m == 2 || m == 5) {
				t.Label = plain(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// linearTicks labels some five multiples of 1, 2 or 5 times a power of ten, zero among them if it is in the range.
func linearTicks(low, high float64) []plot.Tick {
	if !(high > low) {
		return []plot.Tick{{Value: low, Label: plain(low)}}
	}
	step := math.Pow10(int(math.Floor(math.Log10((high - low) / 5))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (high-low)/(m*step) <= 7 {
			step *= m
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		v := i*step + 0 // never -0
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 4, 64)})
	}
	return ticks
}

// plain writes a number without an exponent as long as a person can read it.
func plain(v float64) string {
	if v >= 1e6 || v < 1e-4 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// timeTicks labels powers of ten of nanoseconds with the unit a person would use.
func timeTicks(low, high float64) []plot.Tick {
	ticks := decadeTicks(low, high)
	for i, t := range ticks {
		if t.Label != "" {
			ticks[i].Label = duration(t.Value)
		}
	}
	return ticks
}

// duration writes nanoseconds with up to three digits.
func duration(ns float64) string {
	for _, u := range []struct {
		ns   float64
		unit string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if ns >= u.ns*(1-1e-9) {
			return strconv.FormatFloat(ns/u.ns, 'g', 3, 64) + " " + u.unit
		}
	}
	return strconv.FormatFloat(ns, 'g', 3, 64) + " ns"
}

// niceLog widens a range to the next 1, 2 or 5 times a power of ten.
func niceLog(low, high float64) (float64, float64) {
	down, up := math.Pow10(int(math.Floor(math.Log10(low)))), math.Pow10(int(math.Ceil(math.Log10(high))))
	for _, m := range []float64{2, 5} {
		if v := m * math.Pow10(int(math.Floor(math.Log10(low)))); v <= low {
			down = v
		}
		if v := up / m; v >= high {
			up = math.Min(up, v)
		}
	}
	if up/down < 10 {
		up = 10 * down
	}
	return down, up
}
