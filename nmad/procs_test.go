package nmad

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/pm2-go/pm2/pioman"
)

// TestSpareProc: while sessions are open a process has a second P, and one that has two gets no third; afterwards it has
// what it had.
func TestSpareProc(t *testing.T) {
	if os.Getenv("SPARE_TEST") == "" { // a process without the schedulers of other tests
		c := exec.Command(os.Args[0], "-test.run=^TestSpareProc$", "-test.count=1")
		c.Env = append(os.Environ(), "SPARE_TEST=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	e := pioman.New(pioman.Config{})
	defer e.Close()
	for _, procs := range []int{1, 2} {
		runtime.GOMAXPROCS(procs)
		var open [2]*Session
		for i := range open {
			var err error
			if open[i], err = Open(context.Background(), Config{Size: 1, Engine: e}); err != nil {
				t.Fatal(err)
			}
			if got := runtime.GOMAXPROCS(0); got != 2 {
				t.Errorf("%d Ps, %d sessions: %d Ps, want 2", procs, i+1, got)
			}
		}
		if _, err := Open(context.Background(), Config{Size: 1, Engine: e, Strategy: "none such"}); err == nil {
			t.Error("a wrong configuration is taken")
		}
		for i, s := range open {
			if got := runtime.GOMAXPROCS(0); got != 2 {
				t.Errorf("%d Ps, %d sessions left: %d Ps, want 2", procs, len(open)-i, got)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if got := runtime.GOMAXPROCS(0); got != procs {
			t.Errorf("%d Ps, no session left: %d Ps", procs, got)
		}
	}
}
