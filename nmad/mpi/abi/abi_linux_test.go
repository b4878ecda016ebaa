//go:build cgo && !race

package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// library is built once: the folder that has it, and the launcher.
var library struct {
	sync.Once
	dir  string
	skip string
	err  string
}

// build builds the library, and the launcher, or skips the test.
func build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("short: it builds a library, and starts processes")
	}
	x := &library
	x.Do(func() {
		if _, err := exec.LookPath("gcc"); err != nil {
			x.skip = "no gcc: the library and its programs in C cannot be built"
			return
		}
		dir, err := os.MkdirTemp("", "abi")
		if err != nil {
			x.err = err.Error()
			return
		}
		x.dir = dir
		for _, args := range [][]string{{"run", "./internal/build", "-o", dir}, {"build", "-o", filepath.Join(dir, "mpiexec"), "github.com/pm2-go/pm2/cmd/mpiexec"}} {
			if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
				x.err = strings.Join(args, " ") + ": " + err.Error() + "\n" + string(out)
				return
			}
		}
	})
	if x.skip != "" {
		t.Skip(x.skip)
	}
	if x.err != "" {
		t.Fatal(x.err)
	}
	return x.dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if library.dir != "" {
		os.RemoveAll(library.dir)
	}
	os.Exit(code)
}

// compile compiles a program of testdata, once.
func compile(t *testing.T, name string, flags ...string) string {
	t.Helper()
	dir := build(t)
	program := filepath.Join(dir, name)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	args := append([]string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-I", dir, "-o", program, filepath.Join("testdata", name+".c")}, flags...)
	args = append(args, "-L", dir, "-Wl,--as-needed", "-lmpi_abi", "-Wl,-rpath,"+dir, "-lm", "-lpthread")
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return program
}

// run runs a program as so many processes, and returns what they write.
func run(t *testing.T, ranks string, program string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(filepath.Join(build(t), "mpiexec"), append([]string{"-n", ranks, program}, args...)...)
	if ranks == "0" { // without a launcher
		cmd = exec.Command(program, args...)
	}
	return output(t, cmd)
}

// output runs a command, and returns what it writes.
func output(t *testing.T, cmd *exec.Cmd) (string, error) {
	t.Helper()
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer late.Stop()
	err := cmd.Wait()
	return out.String(), err
}

// TestPrograms: programs in C find what they ask for right, alone, and as several processes.
func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks []string
	}{
		{"messages", []string{"0", "1", "2", "4"}},
		{"requests", []string{"1", "2"}},
		{"short", []string{"2"}},
		{"collectives", []string{"1", "2", "4"}},
		{"everycollective", []string{"1", "3"}},
		{"everycomm", []string{"4"}},
		{"persistent", []string{"1", "3", "4"}},
		{"datatypes", []string{"1"}},
		{"external", []string{"1"}},
		{"tools", []string{"0", "2"}},
		{"places", []string{"1"}},
		{"communicators", []string{"1", "4"}},
		{"objects", []string{"1"}},
		{"windows", []string{"1", "2"}},
		{"accumulates", []string{"1", "3"}},
		{"sessions", []string{"2"}},
		{"handles", []string{"1"}},
		{"forks", []string{"0"}},
		{"children", []string{"2"}},
		{"signals", []string{"1", "2"}},
		{"loaded", []string{"0", "2"}},
		{"refused", []string{"1"}},
		{"events", []string{"0"}},
		{"typed", []string{"1"}},
		{"windowed", []string{"1", "3"}},
		{"numbers", []string{"1"}},
		{"sets", []string{"1", "3"}},
		{"begun", []string{"1", "2", "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PM2_EAGER", "12345") // what tools.c expects, and others do not mind
			program := compile(t, c.name)
			for _, ranks := range c.ranks {
				if out, err := run(t, ranks, program); err != nil || !strings.Contains(out, "all is well") {
					t.Errorf("%s processes: %v\n%s", ranks, err, out)
				}
			}
		})
	}
}

// TestFatal: an error whose handler is the one from the start ends all processes, and says which rank had it, and where.
func TestFatal(t *testing.T) {
	program := compile(t, "fatal")
	out, err := run(t, "2", program)
	if err == nil || !strings.Contains(out, "rank 1 aborts the job with status 6: MPI_Send: rank 99 of 2 (invalid rank)") || strings.Contains(out, "went on") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = run(t, "2", program, "abort")
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 7 || !strings.Contains(out, "MPI_Abort(7) on MPI_COMM_WORLD") || !strings.Contains(out, "was buffered") {
		t.Errorf("%v\n%s", err, out)
	}
	// The low 8 bits of the status are 0, as of a process that ends well; a thread of the program that has a stream
	// delays the end for a while only.
	for _, how := range []string{"reads", "class"} {
		for _, ranks := range []string{"0", "2"} {
			out, err := run(t, ranks, program, how)
			if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 || !strings.Contains(out, "with status 1: ") || strings.Contains(out, "went on") || strings.Contains(out, "()") {
				t.Errorf("%s, %s processes: %v\n%s", how, ranks, err, out)
			}
		}
	}
	// The request that failed, whose process has died where, and what a program in C is to do.
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for how, wants := range map[string][]string{"dies": {"MPI_Waitall: request 1 of 2: ", "rank 1: peer lost", "(host " + host + ")"}, "leaves": {"MPI_Finalize"}} {
		out, err := run(t, "2", program, how)
		for _, want := range wants {
			if err == nil || !strings.Contains(out, want) {
				t.Errorf("%s: %v, and not %q in\n%s", how, err, want, out)
			}
		}
	}
}

// TestNames: the library has its name, and all names of the table: those of MPI_ weak, those of PMPI_ not, and no others.
func TestNames(t *testing.T) {
	f, err := elf.Open(filepath.Join(build(t), "libmpi_abi.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if name, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(name, []string{"libmpi_abi.so.1"}) {
		t.Errorf("its name is %q, %v", name, err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	bind := map[string]elf.SymBind{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			bind[s.Name] = elf.ST_BIND(s.Info)
		}
	}
	for _, name := range names(t) {
		if b, ok := bind["MPI_"+name]; !ok || b != elf.STB_WEAK {
			t.Errorf("MPI_%s is there: %v, bound as %v", name, ok, b)
		}
		if b, ok := bind["PMPI_"+name]; !ok || b != elf.STB_GLOBAL {
			t.Errorf("PMPI_%s is there: %v, bound as %v", name, ok, b)
		}
		delete(bind, "MPI_"+name)
		delete(bind, "PMPI_"+name)
	}
	if len(bind) != 0 {
		t.Errorf("besides the functions there are %v", bind)
	}
}

// TestGenerated: what is made from the table and the header is from these.
func TestGenerated(t *testing.T) {
	made := []string{"include/mpi_functions_gen.h", "front/calls_gen.h", "table_gen.go", "constants_gen.go"}
	before := map[string]string{}
	for _, name := range made {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = string(text)
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./internal/generate", "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range made {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != before[name] {
			t.Errorf("%s is not what go generate makes: %v", name, err)
		}
	}
}
