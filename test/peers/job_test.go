package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestParseJob(t *testing.T) {
	j, err := parseJob([]string{"-dir", "/d", "-iface", "veth0", "-subnet", "10.0.0.0/24", "-enter", "nsenter --net=/n", "openmpi-tcp", "overlap_mpi", "both", "-s", "1"})
	if err != nil || j.compiler != "mpicc.openmpi" || j.dir != "/d" || len(j.enter) != 2 || j.program != "overlap_mpi" || len(j.args) != 3 {
		t.Errorf("%+v, %v", j, err)
	}
	for line, why := range map[string]string{
		"":                                "name a setting",
		"openmpi":                         "name a setting",
		"lam threads_mpi":                 `no setting "lam"`,
		"mpich nothing":                   `no program "nothing"`,
		"-iface veth0 mpich threads_mpi":  "belong together",
		"-subnet 1.2.3.4/8 mpich overlap": "belong together",
		"-cpu 1 mpich threads_mpi":        "-cpu",
	} {
		if _, err := parseJob(strings.Fields(line)); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v; want one about %s", line, err, why)
		}
	}
}

// TestJob: each program prints a line per N, per factor, or per rank, under whichever MPI is here, and
// leaves what it built for the next job.
func TestJob(t *testing.T) {
	if testing.Short() {
		t.Skip("each launcher takes seconds")
	}
	t.Parallel() // most of it is waiting for launchers
	peers := filepath.Join(t.TempDir(), "peers")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", peers, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := t.TempDir()
	for _, x := range []struct {
		setting, line string
		each          int // words of each line
	}{
		{"openmpi-yield", "threads_mpi fan -n 1,2 -s 3 -i 4 -t 60 -c 0,0", 2 + 4},
		{"openmpi-ucx-yield", "threads_mpi pairs -n 1,2 -s 1 -i 4 -t 60 -c 0,0", 2 + 4},
		{"mpich", "threads_mpi exchange -n 1,2 -s 8 -i 4 -t 60 -c 0,0", 2 + 4},
		{"openmpi-yield", "threads_mpi load -n 1,2 -s 100000 -i 2 -t 60 -c 0,0", 2 + 2},
		{"openmpi-tcp", "overlap_mpi both -s 100000 -i 2 -f 0.5,2 -c 0,0", 2 + 2},
		{"openmpi-tcp", "overlap_collectives_mpi allreduce -s 100000 -i 1 -g 1e6 -e 1e5 -l 1.5 -c 0,0", 9},
		{"mpich", "overlap_collectives_mpi alltoall -s 100000 -i 1 -g 1e6 -e 1e5 -l 1.5 -c 0,0", 9},
		{"mpich", "overlap_mpi receiver -s 100000 -i 2 -t 1000,2000 -c 0,0", 2 + 2},
	} {
		t.Run(x.setting+" "+x.line, func(t *testing.T) {
			words := append([]string{"job", "-dir", dir, x.setting}, strings.Fields(x.line)...)
			out, err := exec.Command(peers, words...).Output()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == statusMissing {
				t.Skipf("%s", exit.Stderr)
			} else if err != nil {
				t.Fatal(explain(err))
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if len(lines) != 2 {
				t.Fatalf("it printed %q", out)
			}
			for _, l := range lines {
				words := strings.Fields(l)
				if len(words) != x.each {
					t.Errorf("%q has %d words, want %d", l, len(words), x.each)
				}
				for _, w := range words {
					if v, err := strconv.ParseFloat(w, 64); err != nil || !(v > 0) {
						t.Errorf("%q is no time", w)
					}
				}
			}
			if built, err := os.ReadDir(dir); err != nil || len(built) == 0 {
				t.Errorf("nothing is left of what was built: %v", err)
			}
		})
	}
}
