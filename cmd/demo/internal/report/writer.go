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
	"unicode/utf8"
)

// A Writer writes one report in one format. It is not safe for concurrent use.
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

// Wide is the format of a table with all columns, however long its lines are; that of "table" keeps to Columns.
const Wide = "wide table"

// Columns is how long the lines of a table are at most.
const Columns = 100

// Brief is a row that has fewer columns than its Line for tables that are not wide.
type Brief interface {
	BriefHead() string
	BriefLine() string
	// BriefNote is what the columns that were left out say in words, such as the conditions. It stands above the row
	// unless it stood above the one before; empty: nothing.
	BriefNote() string
}

// New returns the writer of that format.
func New(format string, out io.Writer) (Writer, error) {
	switch format {
	case "table", Wide:
		return &tableWriter{out: out, wide: format == Wide}, nil
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
	wide bool   // lines may be longer than Columns
	head bool   // the heading has been written
	note string // the last BriefNote
}

func (w *tableWriter) Begin(r *Report, lines ...string) error {
	var b strings.Builder
	for _, line := range append(append([]string{"demo " + r.Experiment}, lines...), r.Machine.String()) {
		b.WriteString(w.remark(line))
	}
	return writeText(w.out, b.String())
}

func (w *tableWriter) Row(row Row) error {
	head, line, text := row.Head(), row.Line(), ""
	if brief, ok := row.(Brief); ok && !w.wide {
		head, line = brief.BriefHead(), brief.BriefLine()
		if note := brief.BriefNote(); note != w.note {
			w.note, text = note, w.remark(note)
		}
	}
	if !w.head {
		w.head = true
		for one := range strings.Lines(head + "\n") {
			if one = strings.TrimSuffix(one, "\n"); strings.Contains(one, "  ") { // columns
				text += w.fold(one, "#   ")
			} else {
				text += w.remark(strings.TrimPrefix(one, "# "))
			}
		}
	}
	for one := range strings.SplitSeq(line, "\n") {
		text += w.fold(one, "      ")
	}
	return writeText(w.out, text)
}

func (w *tableWriter) End(r *Report) error {
	var b strings.Builder
	for _, s := range r.Skipped {
		b.WriteString(w.remark("skipped: " + s.Name + ": " + s.Why))
	}
	return writeText(w.out, b.String())
}

// remark is a text for the table's reader, in lines that begin with a #.
func (w *tableWriter) remark(text string) string {
	if w.wide || len(text) <= Columns-2 {
		return "# " + text + "\n"
	}
	return Wrap(text, "# ", "#   ") + "\n"
}

// Wrap breaks a text between its words into lines of at most Columns, of which the first begins with first, the others
// with rest.
func Wrap(text, first, rest string) string {
	var b strings.Builder
	b.WriteString(first)
	used, begun := utf8.RuneCountInString(first), false
	for _, word := range strings.Fields(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case !begun:
		case used+1+width > Columns:
			b.WriteString("\n" + rest)
			used = utf8.RuneCountInString(rest)
		default:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used, begun = used+width, true
	}
	return b.String()
}

// Fit breaks the lines of a text that are longer than Columns between their words. What follows stands below the
// beginning of the last column, or, where that leaves it little room, on lines of its own.
func Fit(text string) string {
	const indent, narrow = "      ", 40 // fewer letters than that are little room
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		if utf8.RuneCountInString(line) > Columns {
			first, last := "", line
			if at := strings.LastIndex(line, "  "); at >= 0 {
				first, last = line[:at+2], line[at+2:]
			}
			if below := utf8.RuneCountInString(first); below <= Columns-narrow {
				line = Wrap(last, first, strings.Repeat(" ", max(below, len(indent))))
			} else {
				line = strings.TrimRight(first, " ") + "\n" + Wrap(last, indent, indent)
			}
		}
		b.WriteString(line)
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// fold breaks a line of columns where two of them meet, as far to the right as is allowed; what follows goes behind
// begin in the next line.
func (w *tableWriter) fold(line, begin string) string {
	if w.wide || len(line) <= Columns {
		return line + "\n"
	}
	at := strings.LastIndex(strings.TrimRight(line[:Columns], " "), "  ")
	if at <= len(begin) {
		return line + "\n"
	}
	return strings.TrimRight(line[:at], " ") + "\n" + w.fold(begin+strings.TrimLeft(line[at:], " "), begin)
}

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
