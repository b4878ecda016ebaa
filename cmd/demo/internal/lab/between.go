package lab

import (
	"context"
	"errors"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
)

// between runs f with a second process.
func between(ctx context.Context, o Options, s *Sink, f func(p *duo.Pair) error) error {
	pair, err := duo.Start(ctx, o.CPUs, s.Warn)
	if err != nil {
		return err
	}
	pair.Driver = o.Driver
	err = f(pair)
	return errors.Join(err, pair.Close())
}

// allSkipped is the end of an experiment that cannot be made here at all.
func allSkipped(s *Sink, name, why string) error {
	s.Skip(name, why)
	if err := s.Begin(); err != nil || s.Plot == nil {
		return err
	}
	return errors.New("no figure was drawn: every row was skipped")
}

// measure measures the variants, or those of them that Options.Only asks for, and writes their rows.
func measure(ctx context.Context, o Options, s *Sink, variants []Variant, remarks ...string) ([]Row, error) {
	variants, err := chosen(variants, o.Only)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(remarks...); err != nil {
		return nil, err
	}
	all, err := rounds(ctx, o, s, variants)
	if err != nil {
		return nil, err
	}
	return all, put(s, all)
}

// measureSpreads is measure, and draws a line for each row.
func measureSpreads(ctx context.Context, o Options, s *Sink, conditions, axis string, variants []Variant, remarks ...string) error {
	all, err := measure(ctx, o, s, variants, remarks...)
	if err != nil {
		return err
	}
	return drawSpreads(s, conditions, axis, all)
}

// drawSpreads draws one line per row, if a figure is wanted.
func drawSpreads(s *Sink, conditions, axis string, all []Row) error {
	if s.Plot == nil {
		return nil
	}
	var lines []figure.Spread
	for _, r := range all {
		line := figure.Spread{Name: r.title(), Best: r.Best, Q1: r.Q1, Median: r.Median, Q3: r.Q3, P99: r.P99}
		if r.Added != nil {
			line.Remark = signed(r.Added)
		}
		lines = append(lines, line)
	}
	return figure.Spreads(s.Plot, s.Title(conditions), axis, lines)
}

// placeOf says where the two processes run.
func placeOf(p *duo.Pair) string {
	switch {
	case p.Far != "" && p.Apart:
		return "two processes, one core each, " + p.Far
	case p.Far != "":
		return "two processes " + p.Far
	case p.Shared():
		return "two processes, oversubscribed: one CPU"
	case p.Apart:
		return "two processes, one core each"
	}
	return "two processes, not bound"
}
