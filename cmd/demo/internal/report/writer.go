package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strconv"
	"strings"
)

// A Writer writes one report in one format. Not safe for concurrent use.
type Writer interface {
	// Begin announces the experiment; lines are remarks for the table's reader.
	Begin(r *Report, lines ...string) error
	// Row writes one more row.
	Row(row Row) error
	// End writes what remains, the skipped rows among it.
	End(r *Report) error
}

// Formats lists the names that New knows for rows of any kind, BenchmarkFormats those for rows that are Benchmarks.
var (
	Formats          = []string{"table", "json", "csv"}
	BenchmarkFormats = append(Formats[:len(Formats):len(Formats)], "go")
)

// A Benchmark is a row that benchstat can compare, in the text format of Go's benchmarks.
type Benchmark interface {
	// Benchmarks has a line for each repetition, of ours and of the peer.
	Benchmarks() []string
}

// New returns the writer of that format.
func New(format string, out io.Writer) (Writer, error) {
	switch format {
	case "table":
		return &tableWriter{out: out}, nil
	case "json":
		return &jsonWriter{out: out}, nil
	case "csv":
		return &csvWriter{out: csv.NewWriter(out)}, nil
	case "go":
		return &goWriter{out: out}, nil
	}
	return nil, fmt.Errorf("unknown format %q: choose one of %s", format, strings.Join(Formats, ", "))
}

type tableWriter struct {
	out  io.Writer
	head bool
}

func (w *tableWriter) Begin(r *Report, lines ...string) error {
	return w.print("# demo " + r.Experiment + "\n# " + strings.Join(append(lines, r.Machine.String()), "\n# ") + "\n")
}

func (w *tableWriter) Row(row Row) error {
	text := row.Line() + "\n"
	if !w.head {
		w.head = true
		text = row.Head() + "\n" + text
	}
	return w.print(text)
}

func (w *tableWriter) End(r *Report) error {
	var b strings.Builder
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "# skipped: %s: %s\n", s.Name, s.Why)
	}
	return w.print(b.String())
}

func (w *tableWriter) print(text string) error { return writeText(w.out, text) }

func writeText(out io.Writer, text string) error {
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

// jsonWriter waits for the end: a document is whole or not there.
type jsonWriter struct{ out io.Writer }

func (*jsonWriter) Begin(*Report, ...string) error { return nil }
func (*jsonWriter) Row(Row) error                  { return nil }

func (w *jsonWriter) End(r *Report) error {
	// Readers iterate: empty lists rather than null.
	whole := *r
	if whole.Rows == nil {
		whole.Rows = []Row{}
	}
	if whole.Skipped == nil {
		whole.Skipped = []Skip{}
	}
	e := json.NewEncoder(w.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(whole); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

type csvWriter struct {
	out  *csv.Writer
	head bool
}

func (*csvWriter) Begin(*Report, ...string) error { return nil }

func (w *csvWriter) Row(row Row) error {
	names, cells := fields(row)
	if !w.head {
		w.head = true
		if err := w.out.Write(names); err != nil {
			return fmt.Errorf("write the results: %w", err)
		}
	}
	err := w.out.Write(cells)
	if err == nil {
		w.out.Flush() // a reader sees each row as soon as it is measured
		err = w.out.Error()
	}
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

func (*csvWriter) End(*Report) error { return nil }

// fields lists the keys of a row's JSON form and its values as text.
func fields(row Row) (names, cells []string) {
	v := reflect.Indirect(reflect.ValueOf(row))
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		names = append(names, name)
		cells = append(cells, cell(v.Field(i)))
	}
	return names, cells
}

func cell(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Float64 {
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

// goWriter writes what `go test -bench` would.
type goWriter struct{ out io.Writer }

func (w *goWriter) Begin(r *Report, lines ...string) error {
	return writeText(w.out, fmt.Sprintf("goos: %s\ngoarch: %s\npkg: demo %s\ncpu: %s\n", runtime.GOOS, runtime.GOARCH, r.Experiment, r.Machine.CPU))
}

func (w *goWriter) Row(row Row) error {
	b, ok := row.(Benchmark)
	if !ok {
		return nil
	}
	return writeText(w.out, strings.Join(b.Benchmarks(), "\n")+"\n")
}

func (*goWriter) End(*Report) error { return nil }
