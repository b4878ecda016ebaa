package figure

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/pm2-go/pm2/marcel/timeline"
)

// Window is the part of a timeline that a figure shows, in ns of the timeline's own time. The zero value: all of it.
type Window struct{ From, To int64 }

// Sizes in points.
const (
	laneHeight = 26
	laneGap    = 9
	thinHeight = 11 // of an asynchronous slice
	headHeight = 22 // of a process's name
	nameWidth  = 110
	chartWidth = 760
)

// lane is one row of the figure.
type lane struct {
	pid, tid int
	name     string
	async    int // 0: a VP's own; else the depth below it
	head     bool
	top      float64 // points from the top of the figure
	height   float64
	bars     []bar
}

type bar struct {
	from, to float64 // ns
	name     string
	color    color.NRGBA
	inner    bool
}

// Timeline draws the window of t into f: a row for each VP, below it what its threads did without it and the messages,
// arrows for what leads from row to row.
func Timeline(f *File, title string, t *timeline.Timeline, w Window) error {
	c := &chart{w: w}
	if err := c.arrange(t); err != nil {
		return err
	}
	height := c.lanes[len(c.lanes)-1].top + c.lanes[len(c.lanes)-1].height + 44
	return f.draw(vg.Points(nameWidth+chartWidth+24), vg.Points(height), func(canvas draw.Canvas) error {
		c.Canvas, c.full = canvas, height
		c.paint(title)
		return nil
	})
}

type chart struct {
	draw.Canvas
	w      Window
	full   float64
	lanes  []*lane
	arrows []arrow
}

type arrow struct {
	from, to *lane
	at, then float64
	name     string
}

// rowKey names a row of the file.
type rowKey struct{ pid, tid int }

// arrange sorts the events of the window into lanes.
func (c *chart) arrange(t *timeline.Timeline) error {
	last := int64(0)
	for _, e := range t.Events {
		last = max(last, int64(e.TS+e.Dur))
	}
	if c.w == (Window{}) {
		c.w.To = last
	}
	c.w.To = min(c.w.To, last)
	if c.w.From < 0 || c.w.From >= c.w.To {
		return fmt.Errorf("nothing to draw from %d to %d ns: the timeline lasts from 0 to %d ns", c.w.From, c.w.To, last)
	}
	names := map[int]string{}
	rows := map[rowKey]*lane{}
	var order []*lane
	for _, e := range t.Events {
		if e.Phase != "M" {
			continue
		}
		name, _ := e.Args["name"].(string)
		switch e.Name {
		case "process_name":
			names[e.PID] = name
		case "thread_name":
			l := &lane{pid: e.PID, tid: e.TID, name: name, height: laneHeight}
			rows[rowKey{e.PID, e.TID}] = l
			order = append(order, l)
		}
	}
	under := map[int][]*lane{} // asynchronous lanes by process
	type open struct {
		pid     int
		cat, id string
	}
	begun := map[open]timeline.Event{}
	type end struct {
		l  *lane
		at float64
	}
	starts := map[string]end{}
	for _, e := range t.Events {
		l := rows[rowKey{e.PID, e.TID}]
		from, to := float64(e.TS), float64(e.TS+e.Dur)
		switch e.Phase {
		case "X":
			if l != nil && to > float64(c.w.From) && from < float64(c.w.To) {
				l.bars = append(l.bars, bar{from, to, e.Name, tint(&e), e.Cat == "hook" || e.Cat == "ltask"})
			}
		case "b":
			begun[open{e.PID, e.Cat, e.ID}] = e
		case "e":
			b, ok := begun[open{e.PID, e.Cat, e.ID}]
			if !ok || float64(e.TS) <= float64(c.w.From) || float64(b.TS) >= float64(c.w.To) {
				continue
			}
			under[e.PID] = fit(under[e.PID], e.PID, bar{float64(b.TS), float64(e.TS), b.Name, tint(&b), false})
		case "s":
			if l != nil {
				starts[e.Cat+e.ID] = end{l, from}
			}
		case "f":
			s, ok := starts[e.Cat+e.ID]
			if ok && l != nil && s.l != l && s.at >= float64(c.w.From) && from <= float64(c.w.To) {
				c.arrows = append(c.arrows, arrow{from: s.l, to: l, at: s.at, then: from, name: e.Name})
			}
		}
	}
	told := map[*lane]bool{} // those that arrows lead to or from
	for _, a := range c.arrows {
		told[a.from], told[a.to] = true, true
	}
	for _, l := range order {
		if l.outside() {
			l.height = thinHeight
		}
	}
	shown := order[:0:0]
	for _, l := range order {
		if !l.outside() || len(l.bars) > 0 || told[l] {
			shown = append(shown, l)
		}
	}
	pid := -1
	top := 40.0
	add := func(l *lane, gap float64) {
		l.top = top
		top += l.height + gap
		c.lanes = append(c.lanes, l)
	}
	for i, l := range shown {
		if l.pid != pid {
			pid = l.pid
			add(&lane{pid: pid, name: names[pid], head: true, height: headHeight}, 0)
		}
		add(l, laneGap)
		if i+1 == len(shown) || shown[i+1].pid != pid {
			for _, a := range under[pid] {
				add(a, 3)
			}
			under[pid] = nil
			top += laneGap
		}
	}
	if len(c.lanes) == 0 {
		return errors.New("there is nothing to draw: the timeline has no rows")
	}
	return nil
}

// outside is the row of what happens without a VP.
func (l *lane) outside() bool { return strings.HasPrefix(l.name, "no VP") }

// fit puts b into the first of the asynchronous lanes in which it has room.
func fit(lanes []*lane, pid int, b bar) []*lane {
	for _, l := range lanes {
		if last := l.bars[len(l.bars)-1]; last.to <= b.from {
			l.bars = append(l.bars, b)
			return lanes
		}
	}
	if len(lanes) == 8 {
		return lanes // more at once than a figure can show
	}
	return append(lanes, &lane{pid: pid, async: len(lanes) + 1, height: thinHeight, bars: []bar{b}})
}

// x is where a moment is, in points from the left.
func (c *chart) x(ns float64) float64 {
	share := (ns - float64(c.w.From)) / float64(c.w.To-c.w.From)
	return nameWidth + chartWidth*min(max(share, 0), 1)
}

func (c *chart) style(size float64, col color.Color, x text.XAlignment) text.Style {
	return text.Style{
		Color: col, Handler: text.Plain{Fonts: font.DefaultCache},
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}, XAlign: x, YAlign: text.YCenter,
	}
}

// at turns points from the left and from the top into the canvas's.
func (c *chart) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Points(x), Y: vg.Points(c.full - y)}
}

func (c *chart) write(s text.Style, x, y float64, txt string) { c.FillText(s, c.at(x, y), txt) }

func (c *chart) box(col color.Color, x0, y0, x1, y1 float64) {
	c.FillPolygon(col, []vg.Point{c.at(x0, y0), c.at(x1, y0), c.at(x1, y1), c.at(x0, y1)})
}

func (c *chart) line(col color.Color, width float64, points ...vg.Point) {
	c.StrokeLines(draw.LineStyle{Color: col, Width: vg.Points(width)}, points)
}

func (c *chart) paint(title string) {
	c.box(color.White, 0, 0, nameWidth+chartWidth+24, c.full)
	heading := c.style(12, ink, text.XLeft)
	heading.Font.Weight = bold
	if c.w.From > 0 {
		title += fmt.Sprintf(" (from %s on)", duration(float64(c.w.From)))
	}
	c.write(heading, 10, 18, title)
	bottom := c.full - 34
	for _, at := range roundTimes(float64(c.w.To - c.w.From)) {
		at += float64(c.w.From)
		x := c.x(at)
		c.line(faint, 0.5, c.at(x, 36), c.at(x, bottom))
		c.write(c.style(8.5, ink, text.XCenter), x, bottom+10, "+"+duration(at-float64(c.w.From)))
	}
	for _, l := range c.lanes {
		c.lane(l)
	}
	for _, a := range c.arrows {
		c.arrow(&a)
	}
	c.legend(c.full - 10)
}

func (c *chart) lane(l *lane) {
	if l.head {
		s := c.style(10, ink, text.XLeft)
		s.Font.Weight = bold
		c.write(s, 10, l.top+headHeight/2, l.name)
		return
	}
	if l.async == 0 {
		c.write(c.style(9, ink, text.XRight), nameWidth-8, l.top+l.height/2, l.name)
		c.box(color.NRGBA{R: 0xfa, G: 0xfa, B: 0xfa, A: 0xff}, nameWidth, l.top, nameWidth+chartWidth, l.top+l.height)
	} else if l.async == 1 {
		c.write(c.style(8, ink, text.XRight), nameWidth-8, l.top+l.height/2, "without VP, messages")
	}
	last := math.Inf(-1)
	for _, b := range l.bars {
		x0, x1 := c.x(b.from), c.x(b.to)
		if x1-x0 < 0.35 { // many thin ones: no more than the eye can tell apart
			if x1 <= last {
				continue
			}
			x1 = x0 + 0.35
		}
		top, low := l.top, l.top+l.height
		if b.inner {
			top = low - 8
		} else {
			last = x1
		}
		c.box(b.color, x0, top, x1, low)
		if x1-x0 > 3 && !b.inner {
			c.line(color.White, 0.4, c.at(x1, top), c.at(x1, low))
		}
		c.label(l, &b, x0, x1)
	}
}

// label writes the name of a slice inside of it, where it fits.
func (c *chart) label(l *lane, b *bar, x0, x1 float64) {
	size, y, col := 8.5, l.top+l.height/2-1, color.Color(color.White)
	switch {
	case b.inner:
		size, y = 6, l.top+l.height-4
	case l.async != 0:
		size, y, col = 7, l.top+l.height/2, ink
	case b.color == paleIdle || b.color == paleSleep:
		col = color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff}
	}
	s := c.style(size, col, text.XCenter)
	if float64(s.Width(b.name)) < x1-x0-3 {
		c.write(s, (x0+x1)/2, y, b.name)
	}
}

// arrow leads from the edge of one lane to the near edge of the other.
func (c *chart) arrow(a *arrow) {
	col, width := wakeInk, 0.5
	if a.name == "message" || a.name == "steal" {
		col, width = arrowInk, 0.9
	}
	y0, y1 := a.from.top+a.from.height, a.to.top
	if a.from.top > a.to.top {
		y0, y1 = a.from.top, a.to.top+a.to.height
	}
	x0, x1 := c.x(a.at), c.x(a.then)
	c.line(col, width, c.at(x0, y0), c.at(x1, y1))
	angle := math.Atan2(y1-y0, x1-x0)
	const head = 4.5
	tip := func(turn float64) vg.Point {
		return c.at(x1-head*math.Cos(angle+turn), y1-head*math.Sin(angle+turn))
	}
	c.FillPolygon(col, []vg.Point{c.at(x1, y1), tip(0.4), tip(-0.4)})
}

func (c *chart) legend(y float64) {
	x := float64(nameWidth)
	s := c.style(8, ink, text.XLeft)
	for _, e := range []struct {
		col  color.Color
		text string
	}{
		{threadHue[0], "thread (a color each)"}, {paleIdle, "looking for work"}, {paleSleep, "asleep, free"}, {hookTint, "hook"},
		{taskTint, "ltask"}, {waitTint, "thread without its VP"}, {mailTint, "request"}, {arrowInk, "message, steal"}, {wakeInk, "wake, spawn"},
	} {
		c.box(e.col, x, y-4, x+9, y+4)
		c.write(s, x+12, y, e.text)
		x += 12 + float64(s.Width(e.text)) + 12
	}
}

// roundTimes are about eight round moments from 0 to span.
func roundTimes(span float64) (times []float64) {
	step := math.Pow10(int(math.Floor(math.Log10(span / 8))))
	for _, m := range []float64{1, 2, 5, 10} {
		if span/(m*step) <= 9 {
			step *= m
			break
		}
	}
	for at := 0.0; at <= span; at += step {
		times = append(times, at)
	}
	return times
}
