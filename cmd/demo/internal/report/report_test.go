package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type row struct {
	Name    string   `json:"name"`
	Size    int      `json:"size,omitempty"`
	NS      float64  `json:"median_ns"`
	ProbeNS *float64 `json:"probe_ns"`
}

func (row) Head() string   { return "# Name  Size" }
func (r row) Line() string { return "  " + r.Name }

func sample() *Report {
	probe := 57.25
	return &Report{
		Experiment: "sample",
		Machine:    Machine{CPU: "a CPU", Cores: 2, Kernel: "Linux 6", Go: "go1", ProbeNS: &probe, Commit: "c0ffee"},
		Parameters: struct {
			Driver string `json:"driver"`
		}{"shm"},
		Rows:    []Row{row{Name: "one, two", Size: 1, NS: 0.5, ProbeNS: &probe}, row{Name: "three", Size: 3, NS: 1e6}},
		Skipped: []Skip{{"four", "because"}},
	}
}

func write(t *testing.T, format string, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	w, err := New(format, &b)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin(r, "a remark"); err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if err := w.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		"table": `# demo sample
# a remark
# a CPU, 2 usable CPUs, Linux 6, go1, commit c0ffee, core to core 57.2 ns
# Name  Size
  one, two
  three
# skipped: four: because
`,
		"csv": `name,size,median_ns,probe_ns
"one, two",1,0.5,57.25
three,3,1000000,
`,
	} {
		if diff := cmp.Diff(want, write(t, format, sample())); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
}

func TestJSON(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal([]byte(write(t, "json", sample())), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"experiment": "sample",
		"machine": map[string]any{
			"cpu": "a CPU", "cores": 2.0, "kernel": "Linux 6", "go": "go1", "probe_ns": 57.25, "commit": "c0ffee",
		},
		"parameters": map[string]any{"driver": "shm"},
		"rows": []any{
			map[string]any{"name": "one, two", "size": 1.0, "median_ns": 0.5, "probe_ns": 57.25},
			map[string]any{"name": "three", "size": 3.0, "median_ns": 1e6, "probe_ns": nil},
		},
		"skipped": []any{map[string]any{"name": "four", "why": "because"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestEmpty: lists without members are lists.
func TestEmpty(t *testing.T) {
	text := write(t, "json", &Report{Experiment: "none"})
	for _, want := range []string{`"rows": []`, `"skipped": []`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// TestBroken: a full disk does not go unnoticed.
func TestBroken(t *testing.T) {
	r := sample()
	for _, format := range Formats {
		w, err := New(format, broken{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Begin(r), w.Row(r.Rows[0]), w.End(r)); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	if _, err := New("xml", nil); err == nil || !strings.Contains(err.Error(), "table, json, csv") {
		t.Error(err)
	}
}

func TestRounding(t *testing.T) {
	for x, want := range map[float64]float64{0: 0, 0.00123456: 0.001235, 0.99996: 1, 12345.6: 12350, 7: 7, -1.23456: -1.235, 4e20: 4e20} {
		if got := Significant(x); got != want {
			t.Errorf("Significant(%g) = %g, want %g", x, got, want)
		}
	}
	if Optional(0) != nil || Optional(-1) != nil || *Optional(57.126) != 57.13 {
		t.Error("Optional")
	}
}

func TestDetect(t *testing.T) {
	m := Detect(1, 0)
	if m.CPU == "" || m.Kernel == "" || m.Go == "" || m.Commit == "" || m.ProbeNS != nil {
		t.Errorf("%+v", m)
	}
	if s := m.String(); !strings.Contains(s, "1 usable CPU,") {
		t.Error(s)
	}
}

// long is a row with more columns than a table that is not wide has.
type long struct{ row }

func (long) Line() string { return strings.Repeat("column  ", 20) + "end" }
func (long) BriefHead() string {
	return "# A heading that says in more words than one line has what the columns are about, and how: " + strings.Repeat("word ", 10)
}
func (long) BriefLine() string   { return strings.Repeat("column  ", 15) + "end" }
func (r long) BriefNote() string { return "condition " + r.Name }

// TestColumns: no line of a table is longer than Columns unless it is wide; nothing of it is lost, and a note stands
// above the rows that share it.
func TestColumns(t *testing.T) {
	r := sample()
	r.Rows = []Row{long{row{Name: "1"}}, long{row{Name: "1"}}, long{row{Name: "2"}}}
	text := write(t, "table", r)
	for line := range strings.Lines(text) {
		if len(line) > Columns+1 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
	if n := strings.Count(text, "end\n"); n != 3 {
		t.Errorf("%d ends of rows:\n%s", n, text)
	}
	if strings.Count(text, "# condition 1\n") != 1 || strings.Count(text, "# condition 2\n") != 1 {
		t.Errorf("the notes are not there once each:\n%s", text)
	}
	if wide := write(t, Wide, r); !strings.Contains(wide, strings.Repeat("column  ", 20)+"end\n") {
		t.Errorf("wide:\n%s", wide)
	}
}

// TestFit: what is longer than Columns goes on below its last column, or on lines of its own; nothing else changes.
func TestFit(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("µs ", 40))
	for text, want := range map[string]string{
		"":                                     "",
		"short\n\n  lines":                     "short\n\n  lines",
		words + "\nnext\n":                     words[:4*33-1] + "\n      " + words[4*33:] + "\nnext\n",
		"name  on  " + words:                   "name  on  " + words[:4*30-1] + "\n          " + words[4*30:],
		strings.Repeat("x", 70) + "  " + words: strings.Repeat("x", 70) + "\n      " + words[:4*31-1] + "\n      " + words[4*31:],
	} {
		if got := Fit(text); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
