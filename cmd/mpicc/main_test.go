package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mpicc": main, "mpicxx": main, "mpic++": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "script")})
}

// TestInstall: make puts all where PREFIX and DESTDIR say, blanks and all, takes it away again, and nothing else.
// Nothing is built for it.
func TestInstall(t *testing.T) {
	tool, err := exec.LookPath("make")
	if err != nil {
		t.Skip("there is no make here")
	}
	dir := t.TempDir()
	write := func(name string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	built := []string{"bin/mpicc", "bin/mpiexec", "bin/demo", "lib/libmpi_abi.so.1", "lib/libpm2_mpi.so", "lib/mpi.h"}
	for _, name := range built {
		write(filepath.Join("a build", name))
	}
	installed := append(built[:5:5], "bin/mpirun", "bin/mpicxx", "bin/mpic++", "lib/libmpi_abi.so", "include/mpi.h", "lib/pkgconfig/pm2-mpi.pc", "share/pm2/gdb.py", "share/pm2/valgrind.supp")
	write("opt/a") // a name that a blank in PREFIX must not make
	for _, c := range []struct{ destination, prefix, at string }{
		{"", filepath.Join(dir, "opt/a b"), "opt/a b"},
		{filepath.Join(dir, "a 'stage"), "/usr/it's $(x) $HOME", "a 'stage/usr/it's $(x) $HOME"},
	} {
		run := func(target string) {
			t.Helper()
			m := exec.Command(tool, "-s", "-C", filepath.Join("..", ".."), target, "GO=true",
				"BUILD="+filepath.Join(dir, "a build"), "DESTDIR="+dollars(c.destination), "PREFIX="+dollars(c.prefix))
			if out, err := m.CombinedOutput(); err != nil {
				t.Fatalf("make %s: %v\n%s", target, err, out)
			}
		}
		run("install")
		for _, name := range installed {
			if _, err := os.Stat(filepath.Join(dir, c.at, name)); err != nil {
				t.Error(err)
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, c.at, "lib/pkgconfig/pm2-mpi.pc"))
		if err != nil || !strings.HasPrefix(string(text), "prefix="+c.prefix+"\nincludedir=${prefix}/include\n") {
			t.Errorf("%v, %s", err, text)
		}
		run("uninstall")
		for _, name := range installed {
			if _, err := os.Lstat(filepath.Join(dir, c.at, name)); !os.IsNotExist(err) {
				t.Errorf("%s is still there: %v", name, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "opt/a")); err != nil {
		t.Error(err)
	}
}

// dollars writes a text as a value of make.
func dollars(text string) string { return strings.ReplaceAll(text, "$", "$$") }
