package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed src/*.c src/*.h
var sources embed.FS

// errMissing says that an instrument is not installed: a comparison that needs it is skipped.
var errMissing = errors.New("not installed")

// A workshop is the temporary folder with the sources and what was built of them.
type workshop struct {
	dir  string // of the sources
	out  string // of what was built
	jobs int    // started so far that needed a file
}

func newWorkshop() (*workshop, error) {
	dir, err := os.MkdirTemp("", "pm2-peers-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to build the peers in: %w", err)
	}
	w := &workshop{dir: dir, out: dir}
	entries, err := fs.ReadDir(sources, "src")
	for _, e := range entries {
		var text []byte
		if text, err = sources.ReadFile("src/" + e.Name()); err != nil {
			break
		}
		if err = os.WriteFile(w.path(e.Name()), text, 0o644); err != nil {
			break
		}
	}
	if err != nil {
		w.remove()
		return nil, fmt.Errorf("write the peers' sources: %w", err)
	}
	return w, nil
}

func (w *workshop) path(name string) string { return filepath.Join(w.dir, name) }

func (w *workshop) built(name string) string { return filepath.Join(w.out, name) }

func (w *workshop) remove() { os.RemoveAll(w.dir) }

// compile builds program from source with the given compiler, once. The options come after the source. The error is
// errMissing if there is no such compiler.
func (w *workshop) compile(ctx context.Context, compiler, source, program string, options ...string) error {
	if _, err := exec.LookPath(compiler); err != nil {
		return fmt.Errorf("%s: %w", compiler, errMissing)
	}
	if _, err := os.Stat(w.built(program)); err == nil {
		return nil
	}
	line := append([]string{"-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", w.built(program), source}, options...)
	cmd := exec.CommandContext(ctx, compiler, line...)
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		// Not wrapped: exitOf prints no error of a command that has written its own, and this one has not.
		return fmt.Errorf("compile %s with %s: %v\n%s", source, compiler, err, out)
	}
	return nil
}

// compileDemo builds this module's demo, from the folder in which the go command finds the module.
func (w *workshop) compileDemo(ctx context.Context) error {
	list := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "github.com/pm2-go/pm2/cmd/demo")
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("find cmd/demo (run this inside the module, or name a built one with -demo): %w", explain(err))
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", w.path("demo"), ".")
	build.Dir = strings.TrimSpace(string(out))
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build cmd/demo: %w\n%s", err, out)
	}
	return nil
}

// explain adds what a command wrote to its standard error.
func explain(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}
