package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	_ "image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// points is a run over shared memory as it might be.
func points() []Point {
	var ps []Point
	for size := 1; size <= 4<<20; size *= 2 {
		median := 0.12 + float64(size)/30e3
		ps = append(ps, Point{size, median * 0.8, median, median*1.3 + 1, float64(size) / median})
	}
	return ps
}

func pairs() []Pair {
	return []Pair{
		{"yield, 1 VP", "runtime.Gosched, P=1", Measure{58, 60, 64}, Measure{80, 82, 85}},
		{"spawn+join one by one, 1 VP", "go + WaitGroup, P=1", Measure{100, 120, 140}, Measure{280, 300, 330}},
		{"spawn+join 1000, 1 VP", "go + WaitGroup, P=1", Measure{40, 46, 50}, Measure{160, 178, 190}},
		{"mutex contended, 8 on 2 VPs", "sync.Mutex, P=2", Measure{110, 150, 230}, Measure{90, 120, 160}},
		{"self", "", Measure{2.8, 2.9, 3.1}, Measure{}},
		{"spawn parallel, 100 x 100 us, 2 VPs over 1", "the same on 1 VP", Measure{5.1e6, 5.2e6, 5.4e6}, Measure{1e7, 1.01e7, 1.1e7}},
	}
}

func lines() []Spread {
	return []Spread{
		{"no engine: bare driver, polled directly", 40, 64, 65, 75, 95, ""},
		{"engine with hooks", 70, 95, 100, 125, 185, "+35 ns"},
	}
}

// panels have a logarithmic and a linear axis, a band, a gap, and a flat line.
func panels() []Panel {
	places, none := []string{"0", "1", "10", "100"}, math.NaN()
	return []Panel{
		{X: "idle polling period (us)", Y: "one-way latency", Places: places, Times: true, Curves: []Curve{
			{Name: "median", Y: []float64{300, 120, 100, 100}, Low: []float64{200, 110, 90, 95}, High: []float64{900, 130, 110, 105}},
			{Name: "best", Y: []float64{90, none, 88, 0}, Dashed: true},
		}},
		{X: "idle polling period (us)", Y: "time added (%)", Places: places, Zero: true, Curves: []Curve{
			{Name: "EP", Y: []float64{-0.3, 0.1, 0.2, 0.1}},
			{Name: "published bound", Y: []float64{0.5, 0.5, 0.5, 0.5}, Dashed: true},
		}},
	}
}

// TestCurvesRefused: what cannot be drawn is an error.
func TestCurvesRefused(t *testing.T) {
	f, err := Claim(filepath.Join(t.TempDir(), "curves.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for name, panel := range map[string]Panel{
		"no values":  {Places: []string{"0"}, Curves: []Curve{{Name: "none", Y: []float64{math.NaN()}}}},
		"too few":    {Places: []string{"0", "1"}, Curves: []Curve{{Name: "one", Y: []float64{1}}}},
		"no curve":   {Places: []string{"0", "1"}},
		"zero times": {Places: []string{"0"}, Times: true, Curves: []Curve{{Name: "zero", Y: []float64{0}}}},
	} {
		if Curves(f, name, panel) == nil {
			t.Errorf("%s was drawn", name)
		}
	}
	if Curves(f, "nothing") == nil || Spreads(f, "nothing", "time", nil) == nil {
		t.Error("nothing was drawn")
	}
}

// TestKey: a legend of several curves has each name once and stands right of all panels, also if these have different
// curves, of which those of one name have one color.
func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.svg")
	f, err := Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) (p Panel) {
		p.Places = []string{"0", "1"}
		for _, n := range names {
			p.Curves = append(p.Curves, Curve{Name: n, Y: []float64{1, 2}})
		}
		return p
	}
	draw := []Panel{at("latency"), at("bandwidth", "latency")}
	if err := Curves(f, "title", draw...); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rightmost := func(pattern string) (most float64) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			x, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, x)
		}
		return most
	}
	last := rightmost(` x="([0-9.]+)"[^>]*>1</text>`) // the label of the last place
	for _, name := range []string{"latency", "bandwidth"} {
		if n := strings.Count(string(text), ">"+name+"</text>"); n != 1 {
			t.Errorf("%s stands there %d times", name, n)
		}
		if x := rightmost(` x="([0-9.]+)"[^>]*>` + name + `</text>`); x <= last {
			t.Errorf("%s is at %g, among the curves: the last place is at %g", name, x, last)
		}
	}
	k := newKey(draw)
	if k.color("latency") != palette[0] || k.color("bandwidth") != palette[1] {
		t.Error("the colors do not follow the names")
	}
}

func TestLinearTicks(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		want      string
	}{
		{-0.3, 1.1, "-0.2 0 0.2 0.4 0.6 0.8 1"}, {-28, 19, "-20 -10 0 10"}, {0, 1, "0 0.2 0.4 0.6 0.8 1"}, {5, 5, "5"},
	} {
		var labels []string
		for _, tick := range linearTicks(test.low, test.high) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != test.want {
			t.Errorf("%g to %g: %s, want %s", test.low, test.high, got, test.want)
		}
	}
}

// keep copies a figure to the folder named by PM2_KEEP_FIGURES, for looking at it.
func keep(t *testing.T, path string) {
	dir := os.Getenv("PM2_KEEP_FIGURES")
	if dir == "" {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFigures(t *testing.T) {
	dir := t.TempDir()
	for name, draw := range map[string]func(*File) error{
		"latency":    func(f *File) error { return Latency(f, "demo pingpong: shm, hooks", points()) },
		"one size":   func(f *File) error { return Latency(f, "one size only", points()[3:4]) },
		"few, mixed": func(f *File) error { return Latency(f, "few sizes", []Point{points()[9], points()[3], points()[6]}) },
		"compare":    func(f *File) error { return Compare(f, "demo bench", PerOperation, OursBesidePeer, pairs()) },
		"spreads": func(f *File) error {
			return Spreads(f, "demo experiment E16: 1 byte over shm", "one-way latency", lines())
		},
		"curves": func(f *File) error {
			return Curves(f, "demo experiment E13: idle polling period", panels()...)
		},
		"compare one": func(f *File) error { return Compare(f, "demo bench", PerOperation, OursBesidePeer, pairs()[:1]) },
	} {
		for _, ext := range []string{".png", ".svg"} {
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+ext)
			f, err := Claim(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is there before it was drawn", path)
			}
			if err := draw(f); err != nil {
				t.Errorf("%s%s: %v", name, ext, err)
				continue
			}
			keep(t, path)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if ext == ".svg" {
				checkSVG(t, name, text)
			} else {
				checkPNG(t, name, text)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func checkPNG(t *testing.T, name string, text []byte) {
	img, format, err := image.Decode(bytes.NewReader(text))
	if err != nil || format != "png" {
		t.Errorf("%s: %s, %v", name, format, err)
		return
	}
	if b := img.Bounds(); b.Dx() < 1000 || b.Dy() < 200 {
		t.Errorf("%s: only %v", name, b)
	}
	colors := map[any]bool{}
	for x := 0; x < img.Bounds().Dx(); x += 3 {
		for y := 0; y < img.Bounds().Dy(); y += 3 {
			colors[img.At(x, y)] = true
		}
	}
	if len(colors) < 10 {
		t.Errorf("%s: %d colors: nothing was drawn", name, len(colors))
	}
}

func checkSVG(t *testing.T, name string, text []byte) {
	var words strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if c, ok := token.(xml.CharData); ok {
			words.Write(c)
			words.WriteByte('\n')
		}
	}
	want := []string{"size of the message (bytes)", "one-way latency (us)", "(MB/s)", "median"}
	if strings.HasPrefix(name, "compare") {
		want = []string{"ours", "peer", "(logarithmic)", "0.73x", "yield, 1 VP"}
	}
	switch name {
	case "spreads":
		want = []string{"best to 99th percentile", "(logarithmic)", "engine with hooks", "+35 ns"}
	case "curves":
		want = []string{"idle polling period (us)", "published bound", "best", "100"}
	}
	for _, w := range want {
		if !strings.Contains(words.String(), w) {
			t.Errorf("%s: no %q in the figure", name, w)
		}
	}
}

func TestClaim(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x.png"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"figure":                 ".svg or .png",
		"figure.pdf":             ".svg or .png",
		dir + "/none/figure.svg": "choose a folder that exists",
		dir + "/x.png":           "is a directory",
		"/proc/figure.png":       "choose a folder that exists",
	} {
		_, err := Claim(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Claim(%q): %v, want one line that says %q", path, err, want)
		}
	}
	if _, err := Claim(filepath.Join(dir, "UPPER.SVG")); err != nil {
		t.Error(err)
	}
}

func TestNothing(t *testing.T) {
	f, err := Claim(filepath.Join(t.TempDir(), "x.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if Latency(f, "", nil) == nil || Latency(f, "", []Point{{Size: 1}}) == nil || Compare(f, "", "", OursBesidePeer, nil) == nil {
		t.Error("a figure without data was drawn")
	}
}

// TestSVGTexts: each text of an SVG says how wide it is, and names fonts that a viewer has if it lacks ours.
func TestSVGTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.svg")
	f, err := Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Compare(f, "a title\nof two lines", PerOperation, OursBesidePeer, []Pair{{Name: "a row", PeerName: "p", Ours: Measure{1, 2, 3}, Peer: Measure{4, 5, 6}}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Count(string(text), "<text ")
	if n := strings.Count(string(text), `<text textLength="`); texts < 8 || n != texts {
		t.Errorf("%d of %d texts say how wide they are", n, texts)
	}
	if n := strings.Count(string(text), "font-family:"+families+";"); n != texts {
		t.Errorf("%d of %d texts name other fonts", n, texts)
	}
}
