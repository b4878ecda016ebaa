package sched

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// mutation matches the checks and barriers that a model can be without.
var mutation = regexp.MustCompile(`(?m)^#ifn?def ([A-Z_]+)\b`)

// TestModels has spin search all states of the models in testdata/models: none breaks an
// assertion; without any one of the checks it is about, each model does.
func TestModels(t *testing.T) {
	if testing.Short() {
		t.Skip("the models take too long for -short")
	}
	for _, tool := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s (Debian: packages spin, gcc): the models are not checked", tool)
		}
	}
	models, err := filepath.Glob("testdata/models/*.pml")
	if err != nil || len(models) == 0 {
		t.Fatal("no models: ", err)
	}
	for _, model := range models {
		text, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(model), ".pml")
		t.Run(name, func(t *testing.T) {
			if out := search(t, text); !bytes.Contains(out, []byte("errors: 0")) || incomplete(out) {
				t.Errorf("the protocol breaks, or the search is not complete:\n%s", out)
			}
		})
		tried := map[string]bool{}
		for _, m := range mutation.FindAllSubmatch(text, -1) {
			without := string(m[1])
			if tried[without] {
				continue
			}
			tried[without] = true
			t.Run(name+"/"+without, func(t *testing.T) {
				if out := search(t, text, "-D"+without); !bytes.Contains(out, []byte("assertion violated")) {
					t.Errorf("spin finds nothing wrong:\n%s", out)
				}
			})
		}
		if len(tried) == 0 {
			t.Errorf("%s has no mutation", model)
		}
	}
}

// incomplete: spin has left states out.
func incomplete(out []byte) bool {
	return bytes.Contains(out, []byte("not completed")) || bytes.Contains(out, []byte("too small"))
}

// search has spin make a verifier of the model, and runs that.
func search(t *testing.T, text []byte, options ...string) []byte {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "model.pml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	run := func(name string, args ...string) []byte {
		c := exec.CommandContext(ctx, name, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil && name != "./pan" { // which says by its exit status, too, that it has found an error
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return out
	}
	run("spin", append(append([]string{"-a"}, options...), "model.pml")...)
	run("gcc", "-w", "-O2", "-DSAFETY", "-DMEMLIM=1500", "-o", "pan", "pan.c")
	return run("./pan", "-m20000")
}
