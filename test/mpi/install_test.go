package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

const greeting = `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
	int rank, size, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d, sum %d\n", rank, size, sum);
	fflush(stdout);
	if (argc > 1 && rank == 1)
		MPI_Abort(MPI_COMM_WORLD, 42);
	MPI_Finalize();
	return 0;
}
`

// TestInstall: what make install lays out compiles a program and runs it; DESTDIR stands before all that is written,
// and in nothing of it.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the library and three commands")
	}
	for _, tool := range []string{"make", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s here", tool)
		}
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"greeting.c": greeting})
	prefix := filepath.Join(dir, "prefix")
	output := func(c *exec.Cmd) (string, error) {
		c.Dir = dir
		out, err := c.CombinedOutput()
		return string(out), err
	}
	install := func(words ...string) {
		t.Helper()
		c := exec.Command("make", append([]string{"-C", "../..", "install", "BUILD=" + filepath.Join(dir, "build"), "PREFIX=" + prefix}, words...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("make install: %v\n%s", err, out)
		}
	}
	install()
	bin := func(name string) string { return filepath.Join(prefix, "bin", name) }
	program := filepath.Join(dir, "greeting")
	if out, err := output(exec.Command(bin("mpicc"), "-Wall", "-Werror", "-o", program, "greeting.c")); err != nil {
		t.Fatalf("mpicc: %v\n%s", err, out)
	}
	out, err := output(exec.Command(bin("mpiexec"), "-n", "2", program))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	slices.Sort(lines)
	if want := []string{"rank 0 of 2, sum 1", "rank 1 of 2, sum 1"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("mpiexec: %v, %q, want %q", err, lines, want)
	}
	c := exec.Command(bin("mpiexec"), "-n", "2", program, "abort")
	if out, _ := output(c); c.ProcessState.ExitCode() != 42 {
		t.Errorf("MPI_Abort(42) is status %d: %s", c.ProcessState.ExitCode(), out)
	}

	install("DESTDIR="+filepath.Join(dir, "dest"), "GO=true") // of what has been built above
	text, err := os.ReadFile(filepath.Join(dir, "dest", prefix, "lib/pkgconfig/pm2-mpi.pc"))
	if want := "prefix=" + prefix + "\n"; err != nil || !strings.HasPrefix(string(text), want) {
		t.Errorf("the file for pkg-config is %q, %v, and begins with %q", text, err, want)
	}
	if want := "\nVersion: " + nmad.Version + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("the file for pkg-config is %q, without %q", text, want)
	}
	for _, name := range []string{"bin/mpicc", "bin/mpiexec", "bin/mpirun", "lib/libmpi_abi.so", "include/mpi.h"} {
		if !exists(filepath.Join(dir, "dest", prefix, name)) {
			t.Errorf("%s is missing below DESTDIR", name)
		}
	}
}
