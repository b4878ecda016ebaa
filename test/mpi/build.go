package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A builder compiles a suite.
type builder struct {
	from, to string // its sources; where its programs go
	mpicc    string
	folders  []string
	at       int // compilers that run at once
	log      io.Writer
}

// run runs a command in a folder, with what it says in the log.
func (b *builder) run(ctx context.Context, dir string, env []string, words ...string) error {
	fmt.Fprintf(b.log, "%s: %s\n", dir, strings.Join(words, " "))
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = b.log, b.log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s in %s: %w", strings.Join(words, " "), dir, err)
	}
	return nil
}

// mpich builds MPICH's tests: makes configure, if there is none, configures for a C compiler of MPI, and makes the
// folders. What does not compile is left out, and found to be missing when the tests are run.
func (b *builder) mpich(ctx context.Context) error {
	source := b.from
	if deeper := filepath.Join(source, "test", "mpi"); exists(filepath.Join(deeper, "runtests")) {
		source = deeper
	}
	if !exists(filepath.Join(source, "runtests")) {
		return fmt.Errorf("-from %s: neither MPICH nor its folder test/mpi is there", b.from)
	}
	if !exists(filepath.Join(source, "configure")) {
		// What MPICH's own autogen.sh says to it.
		if err := b.run(ctx, source, []string{"MPICH_CONFDB=" + filepath.Join(source, "..", "..", "confdb")}, "./autogen.sh"); err != nil {
			return err
		}
	}
	if !exists(filepath.Join(b.to, "Makefile")) {
		words := []string{filepath.Join(source, "configure"), "MPICC=" + b.mpicc, "CC=" + b.mpicc, "--enable-strictmpi", "--disable-fortran", "--disable-cxx",
			"--disable-spawn", "--disable-io", "--disable-ft-tests", "--enable-threads"}
		if err := b.run(ctx, b.to, nil, words...); err != nil {
			return err
		}
	}
	folders := b.folders
	if len(folders) == 0 {
		folders = standardFolders
	}
	var failed []error
	for _, folder := range append([]string{"dtpools", "util"}, folders...) {
		if err := b.run(ctx, filepath.Join(b.to, folder), nil, "make", "-k", "-j", strconv.Itoa(b.at)); err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// osu builds OSU's benchmarks, those of MPI in C.
func (b *builder) osu(ctx context.Context) error {
	if !exists(filepath.Join(b.from, "configure")) {
		return fmt.Errorf("-from %s: OSU's benchmarks are not there: no configure", b.from)
	}
	if !exists(filepath.Join(b.to, "Makefile")) {
		if err := b.run(ctx, b.to, nil, "sh", filepath.Join(b.from, "configure"), "CC="+b.mpicc, "CXX="+b.mpicc); err != nil {
			return err
		}
	}
	return b.run(ctx, filepath.Join(b.to, "c", "mpi"), nil, "make", "-k", "-j", strconv.Itoa(b.at))
}
