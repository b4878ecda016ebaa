package lab

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/cmd/demo/internal/ep"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
)

// sink is one that only counts.
func sink(t *testing.T, rows *[]report.Row) *Sink {
	return &Sink{
		Warn:  t.Logf,
		Begin: func(...string) error { return nil },
		Row:   func(r report.Row) error { *rows = append(*rows, r); return nil },
		Skip:  func(name, why string) { t.Log(name, why) },
		Label: func(string) {},
		Step:  func(int, int) {},
	}
}

// TestRows: differences and ratios are those within the rounds, not of the medians; every
// other round goes back.
func TestRows(t *testing.T) {
	base, other := [][]float64{{10, 30, 20}, {100, 100, 100}, {1000, 1000, 1000}}, [][]float64{{25, 25, 25}, {106, 104, 105}, {1004, 1004, 1004}}
	polls, at := 0.0, 50.0
	play := func(rounds [][]float64) func() ([]float64, error) {
		return func() (samples []float64, err error) {
			samples, rounds = rounds[0], rounds[1:]
			polls += 7
			return samples, nil
		}
	}
	variants := []Variant{
		{Variant: "base", Where: "here", Measure: play(base)},
		{Variant: "other", Where: "here", Measure: play(other), Parameter: "period, us", Value: &at, Polls: &polls},
	}
	var written []report.Row
	all, err := measure(context.Background(), Options{Rounds: 3, CPUs: []int{0}}, sink(t, &written), variants)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || len(written) != 2 {
		t.Fatalf("%d rows, %d written", len(all), len(written))
	}
	b, r := all[0], all[1]
	if b.Base != "" || b.Added != nil || b.Ratio != nil || b.Median != 100 || b.Best != 10 || b.Q1 != 60 || b.Q3 != 550 || b.Polls != nil || b.ProbeNS != nil {
		t.Errorf("base: %+v", b)
	}
	if r.Base != "base" || *r.Added != 5 || *r.Ratio != 1.05 || r.Median != 105 || *r.Value != 50 || *r.Polls != 21 || r.Rounds != 3 || r.Samples != 3 {
		t.Errorf("other: %+v, added %v, ratio %v, polls %v", r, *r.Added, *r.Ratio, *r.Polls)
	}
	if line := r.Line(); !strings.Contains(line, "+5.0 ns") || !strings.Contains(line, "base: base; here") || !strings.Contains(line, " 21 ") {
		t.Error(line)
	}
}

// TestPairedRows: what was measured in turns is compared sample by sample, over all rounds.
func TestPairedRows(t *testing.T) {
	first, second := twin(func() (a, b []float64, err error) { return []float64{300, 100, 200}, []float64{303, 104, 202}, nil })
	variants := []Variant{{Variant: "off", Measure: first, Paired: true}, {Variant: "on", Measure: second, Paired: true}}
	var written []report.Row
	all, err := measure(context.Background(), Options{Rounds: 3, CPUs: []int{0}}, sink(t, &written), variants)
	if err != nil {
		t.Fatal(err)
	}
	r := all[1]
	if *r.Ratio != 1.01 || *r.Added != 3 || *r.RatioQ3 != 1.04 || *r.RatioLow != 1.01 || *r.RatioHigh != 1.04 || r.Median != 202 || r.Samples != 3 {
		t.Errorf("%+v: added %v, ratio %v [%v], interval %v to %v", r, *r.Added, *r.Ratio, *r.RatioQ3, *r.RatioLow, *r.RatioHigh)
	}
}

// TestChosen: what is asked for is measured with its base, and nothing else.
func TestChosen(t *testing.T) {
	ten := 10.0
	var measured []string
	play := func(name string) func() ([]float64, error) {
		return func() ([]float64, error) { measured = append(measured, name); return []float64{1}, nil }
	}
	variants := []Variant{
		{Name: "marcel", Variant: "off", Measure: play("0")},
		{Name: "marcel", Variant: "on", Base: 0, Parameter: "period, us", Value: &ten, Measure: play("1")},
		{Name: "threads", Variant: "off", Base: 2, Measure: play("2")},
		{Name: "threads", Variant: "on", Base: 2, Parameter: "period, us", Value: &ten, Measure: play("3")},
	}
	for text, want := range map[string]string{
		"":                         "0123",
		"THREADS: on":              "23",
		"on":                       "0123",
		"marcel: on, period 10 us": "01",
		"threads: off":             "2",
	} {
		measured = nil
		var written []report.Row
		all, err := measure(context.Background(), Options{Rounds: 1, CPUs: []int{0}, Only: text}, sink(t, &written), variants)
		if got := strings.Join(measured, ""); err != nil || got != want || len(all) != len(want) || len(written) != len(want) {
			t.Errorf("%q: measured %s in %d rows, %v; want %s", text, got, len(all), err, want)
			continue
		}
		if last := all[len(all)-1]; (last.Base == "") != (text == "threads: off") {
			t.Errorf("%q: the last row's base is %q", text, last.Base)
		}
	}
	var written []report.Row
	_, err := measure(context.Background(), Options{Rounds: 1, CPUs: []int{0}, Only: "nobody"}, sink(t, &written), variants)
	if !errors.Is(err, ErrNoVariant) || !strings.Contains(err.Error(), `"nobody"; there are: marcel: off; marcel: on, period 10 us;`) || len(written) != 0 {
		t.Errorf("%v, %d rows", err, len(written))
	}
}

// TestRoundsFail: what fails, measures nothing, or is interrupted is no row.
func TestRoundsFail(t *testing.T) {
	broken := errors.New("broken")
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(broken)
	for name, x := range map[string]struct {
		ctx     context.Context
		measure func() ([]float64, error)
		want    string
	}{
		"fails":       {context.Background(), func() ([]float64, error) { return nil, broken }, "it: broken"},
		"nothing":     {context.Background(), func() ([]float64, error) { return nil, nil }, "nothing was measured"},
		"interrupted": {ended, func() ([]float64, error) { return []float64{1}, nil }, "broken"},
	} {
		var written []report.Row
		_, err := measure(x.ctx, Options{Rounds: 1, CPUs: []int{0}}, sink(t, &written), []Variant{{Variant: "it", Measure: x.measure}})
		if err == nil || !strings.Contains(err.Error(), x.want) || len(written) != 0 {
			t.Errorf("%s: %v, %d rows", name, err, len(written))
		}
	}
}

// pipe is a wire to pong in memory; it damages message number damage.
type pipe struct {
	to, from chan []byte
	damage   int
	sent     int
	tags     map[uint64]int
}

func (p *pipe) Send(tag uint64, buf []byte) error {
	b := append([]byte(nil), buf...)
	if p.sent++; p.sent == p.damage {
		b[0]++
	}
	if p.tags != nil {
		p.tags[tag]++
	}
	p.to <- b
	return nil
}

func (p *pipe) Recv(_ uint64, buf []byte) (int, error) { return copy(buf, <-p.from), nil }

func TestPing(t *testing.T) {
	for _, x := range []struct {
		size, iters, damage int
		want                string
	}{{1, 40, 0, ""}, {4, 1, 0, ""}, {3, 40, 17, "answer 16 is damaged"}} {
		there, back := make(chan []byte, 1), make(chan []byte, 1)
		ended := make(chan error, 1)
		go func() { ended <- pong(&pipe{to: back, from: there}, latencyTag, x.size) }()
		samples, err := ping(&pipe{to: there, from: back, damage: x.damage}, x.size, x.iters)
		if x.want != "" {
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%+v: %v", x, err)
			}
			there <- make([]byte, x.size+1) // lets pong end
		} else if err != nil || len(samples) != x.iters {
			t.Errorf("%+v: %d samples, %v", x, len(samples), err)
		}
		for _, s := range samples {
			if !(s > 0) {
				t.Errorf("%+v: a message took %g ns", x, s)
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestPingMany: each of the receivers gets its share, and its end.
func TestPingMany(t *testing.T) {
	there, back := make(chan []byte, 1), make(chan []byte, 1)
	ends := make(chan bool)
	go func() {
		for n := 0; n < 3; {
			b := <-there
			if len(b) > 1 {
				n++
				continue
			}
			back <- b
		}
		close(ends)
	}()
	p := &pipe{to: there, from: back, tags: map[uint64]int{}}
	warmed := 0
	samples, err := pingMany(p, fanTag, 3, 1, 50, func() { warmed++ })
	if err != nil || len(samples) != 50 || warmed != 1 {
		t.Fatalf("%d samples, warm %d times, %v", len(samples), warmed, err)
	}
	<-ends
	if len(p.tags) != 3 || p.tags[fanTag] != 21 || p.tags[fanTag+2] != 21 {
		t.Errorf("messages by tag: %v", p.tags)
	}
}

// TestVerify: a computation that came to something else is found out.
func TestVerify(t *testing.T) {
	c := newComputation(2)
	of := []ep.Sums{ep.Batch(0), ep.Batch(1)}
	for range 2 {
		if err := c.verify(of); err != nil {
			t.Error(err)
		}
	}
	of[1].Y += 1e-9
	if c.verify(of) == nil {
		t.Error("other sums pass")
	}
	whole := newComputation(1 << 30)
	if whole.batches != 256 || whole.String() != "EP class S" || c.String() == whole.String() {
		t.Errorf("%d batches: %s; %s", whole.batches, whole, c)
	}
	if whole.verify(of) == nil {
		t.Error("two batches pass for class S")
	}
}

func TestLookup(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range All() {
		if seen[x.Name] || x.Title == "" || x.Paper == "" || x.Published == "" || x.Iters < 1 || x.Rounds < 5 && x.Name != causes.Name && x.Name != memoryLimits.Name || x.Run == nil {
			t.Errorf("%+v", x)
		}
		seen[x.Name] = true
		if y, err := Lookup(strings.ToLower(x.Name)); err != nil || y.Name != x.Name {
			t.Errorf("%s: %v", x.Name, err)
		}
		if o := x.Resolve(Options{Rounds: 2}); o.Iters != x.Iters || o.Rounds != 2 {
			t.Errorf("%s: %+v", x.Name, o)
		}
	}
	if _, err := Lookup("E99"); err == nil || !strings.Contains(err.Error(), "E16") {
		t.Error(err)
	}
}
