package mpi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad/mpi/internal/plan"
)

// TestTune: what is measured is the same table at all ranks, which each job can read that is told of its file, and
// goes by; and results stay right.
func TestTune(t *testing.T) {
	name := filepath.Join(t.TempDir(), "table.json")
	var all [8]*Tuning
	defer func(was int) { longest = was }(longest)
	longest = 4 << 10
	each(t, 8, func(c *Comm) error {
		x, err := Tune(c)
		if err != nil {
			return err
		}
		all[c.Rank()] = x
		if c.Rank() == 0 {
			text, err := json.Marshal(x)
			if err != nil {
				return err
			}
			if err := os.WriteFile(name, text, 0o600); err != nil {
				return err
			}
		}
		return collectives(c, 3000, 1)
	})
	if t.Failed() {
		return
	}
	for rank, x := range all {
		if *x.Table != *all[0].Table || len(x.Rows) != 4*len(choices) {
			t.Errorf("rank %d: %+v, %d rows; rank 0 has %+v", rank, x.Table, len(x.Rows), all[0].Table)
		}
	}
	t.Setenv(EnvTable, name)
	each(t, 3, func(c *Comm) error {
		if *c.job.table != *all[0].Table {
			t.Errorf("the table is %+v, in the file is %+v", c.job.table, all[0].Table)
		}
		return collectives(c, 3000, 1)
	})
	for text, want := range map[string]string{"no json": "no file that demo tune has written", "{}": "no table"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadTable(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	t.Setenv(EnvTable, name+".none")
	if _, err := loadTable(); err == nil {
		t.Error("a file that is not there is read")
	}
}

// TestCrossing: the way above is taken from where it stays the faster one.
func TestCrossing(t *testing.T) {
	rows := func(above ...float64) (all []TuneRow) {
		for i, us := range above {
			all = append(all, TuneRow{Bytes: 64 << i, Below: 10, Above: us})
		}
		return all
	}
	for _, x := range []struct {
		rows []TuneRow
		upTo bool
		want int
	}{
		{rows(5, 12, 9, 8), false, 256},
		{rows(5, 12, 9, 8), true, 255},
		{rows(5, 5, 5), false, 64},
		{rows(5, 5, 11), false, never},
	} {
		if got := (&choice{upTo: x.upTo}).crossing(x.rows); got != x.want {
			t.Errorf("%v: %d, want %d", x.rows, got, x.want)
		}
	}
	if plan.Default.Halving == 0 {
		t.Error("no defaults")
	}
}
