package modeltest

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// model has one error for each of its mutations: an assertion, a process left waiting, a run without end.
const model = `
#define FINITE
byte x;
bit go;
inline step() { x++ }

active proctype A() {
#ifdef TWICE
	step();
#endif
	step();
	assert(x == 1);
#ifndef NO_GO
	go = 1
#endif
}

active proctype B() {
#if defined(AGAIN)
	do :: go -> go = 1 od
#else
	go
#endif
}
`

// TestSearch: what is sound passes, and each kind of error is found.
func TestSearch(t *testing.T) {
	if got := mutationsOf([]byte(model)); !slices.Equal(got, []string{"AGAIN", "NO_GO", "TWICE"}) {
		t.Errorf("mutations %q", got)
	}
	for _, tool := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s in PATH (Debian: spin, gcc)", tool)
		}
	}
	if !effort.Long() {
		t.Skip("it compiles a program for each model: with -long")
	}
	check(t, "model", []byte(model))
	unreachable := search(t, []byte("byte x; active proctype A() { if :: x > 3 -> x = 1 :: else fi }"), "")
	if len(unreachable.unreached) != 1 {
		t.Errorf("never reached: %q, want one line", unreachable.unreached)
	}
}
