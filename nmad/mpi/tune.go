package mpi

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
)

// EnvTable is the environment variable that names a file of Tuning: it says from how many bytes on collective
// operations take another route. All processes of a job name files with the same table. `demo tune --save FILE` writes
// one.
const EnvTable = "PM2_MPI_TABLE"

// Tuning is the result of Tune.
type Tuning struct {
	Table *plan.Table `json:"table"` // the routes of operations by their sizes
	Ranks int         `json:"ranks"` // how many ranks the communicator had
	Rows  []TuneRow   `json:"rows"`  // what was measured
}

// TuneRow is a size at which both routes of an operation were measured.
type TuneRow struct {
	Choice string  `json:"choice"`   // a field of the table
	Bytes  int     `json:"bytes"`    // the size
	Below  float64 `json:"below_us"` // us with the route for smaller sizes
	Above  float64 `json:"above_us"` // us with the route for larger sizes
}

// Changes returns a line of text for each choice that was measured: from how many bytes on the table has the second
// route, and why.
func (tu *Tuning) Changes() (lines []string) {
	for _, c := range choices {
		at, found := *c.field(tu.Table), false
		var last TuneRow // the first row of the second route; if there is none, the last row of the first
		for _, r := range tu.Rows {
			if r.Choice == c.name && !found {
				last, found = r, r.Bytes >= at
			}
		}
		switch {
		case last.Choice == "":
		case found:
			lines = append(lines, fmt.Sprintf("%s: %d bytes, since at %d bytes the second route takes %.2f us, the first %.2f", c.name, at, last.Bytes, last.Above, last.Below))
		default:
			lines = append(lines, fmt.Sprintf("%s: the first route for all sizes, since at %d bytes it takes %.2f us, the second %.2f", c.name, last.Bytes, last.Below, last.Above))
		}
	}
	return lines
}

// loadTable reads the table that EnvTable names; nil: it names none.
func loadTable() (*plan.Table, error) {
	name := os.Getenv(EnvTable)
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", EnvTable, err)
	}
	x := Tuning{}
	if err = json.Unmarshal(text, &x); err == nil && x.Table != nil {
		return x.Table, nil
	} else if err == nil {
		err = errors.New("it has no table")
	}
	return nil, fmt.Errorf("mpi: %s=%q is no file that demo tune has written: %w", EnvTable, name, err)
}

// choice is a field of the table, and an operation whose route it chooses.
type choice struct {
	name  string
	field func(t *plan.Table) *int
	upTo  bool                                  // the field is the largest size of the first route; else the smallest of the second
	ranks int                                   // how many ranks must be there for the choice to matter
	run   func(c *Comm, bytes int) func() error // returns the operation for a size
}

// never as a field of the table is larger than all sizes.
const never = 1 << 40

// longest is the largest size that Tune measures, in bytes.
var longest = 1 << 20

var choices = []choice{
	{"SharedParts", func(t *plan.Table) *int { return &t.SharedParts }, false, 3, func(c *Comm, n int) func() error {
		in, out := make([]byte, n), make([]byte, n)
		return func() error { return Allreduce(c, Max, in, out) }
	}},
	{"Halving", func(t *plan.Table) *int { return &t.Halving }, false, 2, func(c *Comm, n int) func() error {
		in, out := make([]byte, n), make([]byte, n)
		return func() error { _, err := Allreduce(c.Immediate(), Max, in, out).Wait(); return err }
	}},
	{"PartedBcast", func(t *plan.Table) *int { return &t.PartedBcast }, false, 4, func(c *Comm, n int) func() error {
		b := make([]byte, n)
		return func() error { _, err := Bcast(c.Immediate(), b, 0).Wait(); return err }
	}},
	{"PartedReduce", func(t *plan.Table) *int { return &t.PartedReduce }, false, 4, func(c *Comm, n int) func() error {
		in, out := make([]byte, n), make([]byte, n)
		return func() error { _, err := Reduce(c.Immediate(), Max, in, out, 0).Wait(); return err }
	}},
	{"ShortGather", func(t *plan.Table) *int { return &t.ShortGather }, true, 3, func(c *Comm, n int) func() error {
		in, out := make([]byte, n/c.Size()), make([]byte, n/c.Size()*c.Size())
		return func() error { _, err := Allgather(c.Immediate(), in, out).Wait(); return err }
	}},
	{"ShortBlock", func(t *plan.Table) *int { return &t.ShortBlock }, true, 8, func(c *Comm, n int) func() error {
		in, out := make([]byte, n*c.Size()), make([]byte, n*c.Size())
		return func() error { _, err := Alltoall(c.Immediate(), in, out).Wait(); return err }
	}},
}

// Tune measures among the processes of c from how many bytes on which route of a collective operation is faster; from
// then on the job uses that table. All processes of c call it, with nothing else under way, and get the same result. It
// takes some seconds. A choice that needs more ranks than c has stays as it is.
func Tune(c *Comm) (*Tuning, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	table := plan.Default
	if c.job.table != nil {
		table = *c.job.table
	}
	result := &Tuning{Table: &table, Ranks: c.Size()}
	defer func() { c.job.table = &table }()
	for _, x := range choices {
		if c.Size() < x.ranks {
			continue
		}
		var rows []TuneRow
		for bytes := 64; bytes <= longest; bytes *= 4 {
			below, above := table, table
			*x.field(&below), *x.field(&above) = never, 0
			row := TuneRow{Choice: x.name, Bytes: bytes}
			for _, route := range []struct {
				table *plan.Table
				us    *float64
			}{{&below, &row.Below}, {&above, &row.Above}} {
				us, err := c.measure(route.table, x.run(c, bytes))
				if err != nil {
					return nil, fmt.Errorf("mpi: tune %s, %d bytes: %w", x.name, bytes, err)
				}
				*route.us = us
			}
			rows = append(rows, row)
		}
		*x.field(&table) = x.crossing(rows)
		result.Rows = append(result.Rows, rows...)
	}
	return result, nil
}

// crossing returns the value of the field: the smallest size from which on the second route is always faster.
func (ch *choice) crossing(rows []TuneRow) int {
	from := never
	for i := len(rows) - 1; i >= 0 && rows[i].Above < rows[i].Below; i-- {
		from = rows[i].Bytes
	}
	if ch.upTo {
		return from - 1
	}
	return from
}

// measure returns how long an operation takes with a table, in us: the least of some rounds' means at the slowest rank.
func (c *Comm) measure(table *plan.Table, operation func() error) (us float64, err error) {
	const rounds, maxCalls, enough = 5, 200, 4 * time.Millisecond
	if err := c.Barrier(); err != nil {
		return 0, err
	}
	c.job.table = table
	best, calls := float64(never), 2
	for round := range rounds + 1 {
		began := time.Now()
		for range calls {
			if err := operation(); err != nil {
				return 0, err
			}
		}
		took := []float64{float64(time.Since(began).Nanoseconds()) / float64(calls) / 1e3}
		if err := Allreduce(c, Max, nil, took); err != nil {
			return 0, err
		}
		if round == 0 { // the first one warms up, and says how many calls are enough
			calls = max(min(int(float64(enough.Microseconds())/took[0]), maxCalls), 1)
			continue
		}
		best = min(best, took[0])
	}
	return best, nil
}
