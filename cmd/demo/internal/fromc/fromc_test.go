package fromc

import (
	"strings"
	"testing"
)

// TestCallers: what is called runs, on both sides of C, as often as it is called.
func TestCallers(t *testing.T) {
	ran := 0
	err := Thread(func() {
		c := New(func() { ran++ })
		defer c.Close()
		for range 10 {
			c.Call()
		}
	})
	if err != nil || ran != 10 {
		t.Errorf("%d of 10 calls, %v", ran, err)
	}
}

// TestMissing: an error says what has to be installed.
func TestMissing(t *testing.T) {
	t.Setenv("CC", "no-such-compiler -x")
	if _, err := Build(t.Context(), "any/command"); err == nil || !strings.Contains(err.Error(), "no C compiler no-such-compiler") {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Build(t.Context(), "any/command"); err == nil || !strings.Contains(err.Error(), "no go command in PATH") {
		t.Error(err)
	}
}
