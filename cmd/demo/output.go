package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pm2-go/pm2/cmd/demo/internal/progress"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
)

// sheet is where one experiment's results go: the report, its writer on stdout, and the bar on stderr.
type sheet struct {
	report report.Report
	writer report.Writer
	bar    *progress.Bar
}

// newSheet starts a sheet whose bar has that many steps.
func (o *output) newSheet(experiment string, parameters any, steps int64) (*sheet, error) {
	s := &sheet{
		report: report.Report{Experiment: experiment, Parameters: parameters},
		bar:    progress.New(steps, os.Stdout, os.Stderr),
	}
	var err error
	format := o.Format
	if o.Wide && format == "table" {
		format = report.Wide
	}
	s.writer, err = report.New(format, s.bar)
	return s, err
}

// row adds one row.
func (s *sheet) row(r report.Row) error {
	s.report.Rows = append(s.report.Rows, r)
	return s.writer.Row(r)
}

// end writes what remains.
func (s *sheet) end() error {
	s.bar.Done()
	return s.writer.End(&s.report)
}

// warn says something on stderr that is no result and no failure.
func warn(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "demo: note: "+format+"\n", args...)
}

// oneLine is an error's text without line breaks; what several ranks say alike stands there once.
func oneLine(err error) string {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(slices.Compact(lines), "; ")
}
