package nas

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/nmad/mpi"
)

// childVariable tells this program, started by one of its tests, which kernel to run.
const childVariable = "NAS_TEST"

func TestMain(m *testing.M) {
	if what := os.Getenv(childVariable); what != "" {
		kernel, class, _ := strings.Cut(what, " ")
		mpi.Main(func(world *mpi.Comm) error {
			r, err := Run(world, kernel, class)
			if err == nil && class == Classes[0] {
				err = inTurns(world, kernel, class)
			}
			if err == nil && world.Rank() == 0 {
				fmt.Printf("%s %s %d: %s\n", r.Kernel, r.Class, r.Ranks, r.Value)
			}
			return err
		})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// inTurns takes two runs of a kernel through their steps in turns, each step twice from where the run stood: neither
// sees the other one.
func inTurns(c *mpi.Comm, kernel, class string) error {
	k, err := New(c, kernel, class)
	if err != nil {
		return err
	}
	runs, again := []*Course{k.Begin(), k.Begin()}, k.Begin()
	values := make([]string, len(runs))
	for runs[1].Left() > 0 {
		for i, r := range runs {
			again.Set(r)
			if err := again.Step(); err != nil {
				return err
			}
			if err := r.Step(); err != nil {
				return err
			}
			if r.Left() > 0 {
				if _, err := r.Verify(); err == nil {
					return fmt.Errorf("%s: %d steps are left, and the result is as published", kernel, r.Left())
				}
				continue
			}
			if values[i], err = r.Verify(); err != nil {
				return err
			}
			if err := r.Step(); err == nil {
				return fmt.Errorf("%s: there is a step after the last one", kernel)
			}
		}
	}
	if values[0] != values[1] || values[0] == "" {
		return fmt.Errorf("%s: the runs came to %q", kernel, values)
	}
	return nil
}

// TestKernels: the results are as published, on one process and on several, also of two runs in turns. Each batch of EP
// is computed alike whichever rank has it: more ranks than two are for kernels that share out more than that. On one
// and on eight processes, and class W, and A, with -long.
func TestKernels(t *testing.T) {
	classes := Classes[:1]
	if effort.Long() {
		classes = Classes
	}
	for _, kernel := range Kernels {
		for _, class := range classes {
			for _, n := range []int{1, 2, 4, 8} {
				if n != 2 && (testing.Short() || !effort.Long() && (n != 4 || kernel == "ep")) {
					continue
				}
				t.Run(fmt.Sprintf("%s, class %s, %d ranks", kernel, class, n), func(t *testing.T) {
					var mu sync.Mutex
					var text strings.Builder
					w := writer(func(b []byte) (int, error) {
						mu.Lock()
						defer mu.Unlock()
						return text.Write(b)
					})
					j, err := launch.Start(launch.Spec{
						N: n, Grace: 10 * time.Second, Env: []string{childVariable + "=" + kernel + " " + class},
						Stdout: func(int) io.Writer { return w }, Stderr: func(int) io.Writer { return w },
					})
					if err != nil {
						t.Fatal(err)
					}
					defer j.Kill()
					err = j.Wait()
					mu.Lock()
					defer mu.Unlock()
					if want := fmt.Sprintf("%s %s %d:", strings.ToUpper(kernel), class, n); err != nil || !strings.Contains(text.String(), want) {
						t.Errorf("%v; it says %s", err, text.String())
					}
				})
			}
		}
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
