package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("o", ".", "the folder for the library")
	race := flag.Bool("race", false, "build Go's part with the race detector")
	flag.Parse()
	if err := build(*out, *race); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// build makes the library in folder out, with race with the race detector in Go's part.
func build(out string, race bool) error {
	listed, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/pm2-go/pm2/nmad/mpi/abi").Output()
	if err != nil {
		return fmt.Errorf("find the sources: %w", err)
	}
	dir := strings.TrimSpace(string(listed))
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	// asyncpreemptoff: Go's runtime would interrupt its threads by SIGURG to share time among goroutines, and a program
	// with a handler for that signal would see it. No goroutine here computes for long. gcshrinkstackoff: the stacks on
	// which the program's threads run in Go have to stay large (nmad/mpi/abi/enter.go). pmix: a program in C is
	// compiled once and started by various launchers. PMIx needs its own library, which is loaded only where a PMIx
	// server has started the process.
	args := []string{"build", "-buildmode=c-shared", "-tags", "pmix", "-ldflags", "-X runtime.godebugDefault=asyncpreemptoff=1,gcshrinkstackoff=1", "-o", filepath.Join(out, "libpm2_mpi.so")}
	if race {
		args = append(args, "-race")
	}
	if err := run("go", append(args, "github.com/pm2-go/pm2/nmad/mpi/abi")...); err != nil {
		return err
	}
	library := filepath.Join(out, "libmpi_abi.so.1")
	cc := cmp.Or(os.Getenv("CC"), "gcc")
	// nodelete: a program that has loaded the library by dlopen may close it while the engine still has addresses in
	// it.
	err = run(cc, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden", "-shared", "-Wl,-soname,libmpi_abi.so.1", "-Wl,-z,defs", "-Wl,-z,nodelete", "-o", library, filepath.Join(dir, "front", "front.c"), "-ldl", "-lpthread")
	if err != nil {
		return err
	}
	link := filepath.Join(out, "libmpi_abi.so")
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(filepath.Base(library), link); err != nil {
		return err
	}
	header, err := os.ReadFile(filepath.Join(dir, "include", "mpi.h"))
	if err != nil {
		return err
	}
	functions, err := os.ReadFile(filepath.Join(dir, "include", "mpi_functions_gen.h"))
	if err != nil {
		return err
	}
	// Programs get one header, so that a copy of it is whole.
	header = bytes.Replace(header, []byte("#include \"mpi_functions_gen.h\"\n"), functions, 1)
	if err := os.Remove(filepath.Join(out, "libpm2_mpi.h")); err != nil && !errors.Is(err, fs.ErrNotExist) { // cgo makes it
		return err
	}
	return os.WriteFile(filepath.Join(out, "mpi.h"), header, 0o644)
}

func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
