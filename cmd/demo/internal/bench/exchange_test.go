package bench

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
)

// TestTogether: rows that differ in their sizes alone have the same processes, and others have their own.
func TestTogether(t *testing.T) {
	rows := callerRows()
	groups := 0
	for rest := rows; len(rest) > 0; groups++ {
		n := together(rest)
		for _, x := range rest[1:n] {
			if x.Exchange.flags != rest[0].Exchange.flags || x.Exchange.env != rest[0].Exchange.env || x.Exchange.others != rest[0].Exchange.others {
				t.Errorf("%q is measured with %q", x.Name, rest[0].Name)
			}
		}
		rest = rest[n:]
	}
	if groups > len(rows)/3 {
		t.Errorf("%d rows are measured in %d groups", len(rows), groups)
	}
	if n := together(All()); n != 1 {
		t.Errorf("%d rows of threads are measured in the same processes", n)
	}
}

// TestBetween: what lies between two sizes is compared with what a line through theirs says.
func TestBetween(t *testing.T) {
	e := exchange{sizes: []int{1024, 2048}, between: 1536}
	run := map[int]sample{1024: {ns: 100, p90: 200, p99: 1000}, 2048: {ns: 300, p90: 400, p99: 2000}}
	if got, want := e.of(run), (sample{ns: 200, p90: 300, p99: 1500}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	e.between = 1024
	if got := e.of(run); got != run[1024] {
		t.Errorf("%+v at the lower size", got)
	}
	if r := newRun(&e, &exchange{sizes: []int{8, 2048}}); !slices.Equal(r.sizes, []int{8, 1024, 2048}) {
		t.Errorf("sizes %v of a run", r.sizes)
	}
}

// TestNoCompiler: rows that call from C are left out, with the reason, where nothing can be compiled.
func TestNoCompiler(t *testing.T) {
	cpus := binding.Allowed()
	if len(cpus) < 2 {
		t.Skip("one CPU: they are skipped for that")
	}
	t.Setenv("CC", "no-such-compiler")
	rows := callerRows()
	i := slices.IndexFunc(rows, func(x Experiment) bool { return x.Exchange.at("caller") == "--caller c" })
	all, err := Measure(context.Background(), rows[i:], Options{Reps: LeastReps, CPUs: cpus})
	if err != nil || len(all) < 2 {
		t.Fatalf("%d outcomes, %v", len(all), err)
	}
	for k, o := range all {
		if o.Row != nil || o.Skip.Name != rows[i+k].Name || !strings.Contains(o.Skip.Why, "no-such-compiler") {
			t.Errorf("%+v", o)
		}
	}
}
