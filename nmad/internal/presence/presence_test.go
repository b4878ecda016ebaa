package presence

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

const variable = "PRESENCE_TEST"

func TestMain(m *testing.M) {
	if stages := os.Getenv(variable); stages != "" {
		t, err := Inherit("3")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, s := range stages {
			t.Tell(Stage(s))
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// TestStages: a process tells its stages and ends; the launcher hears the last one, also while another process has the
// pipe.
func TestStages(t *testing.T) {
	for stages, want := range map[string]Stage{
		"x":    Absent,
		"p":    Present,
		"pa":   Alone,
		"ap":   Alone, // it was told that all others had left before it was through with joining
		"pl":   Left,
		"pal":  Left,
		"plap": Left,
		"pxa":  Alone,
		"po":   Present,
		"opo":  Present,
		"poa":  Alone,
		"plo":  Left, // what is lost then does not matter
	} {
		w, end, err := New()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), variable+"="+stages)
		c.ExtraFiles = []*os.File{end}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		wantLost := strings.Contains(stages, "o") && !strings.Contains(stages, "lo")
		if got, lost := w.Close(); got != want || lost != wantLost {
			t.Errorf("%s: the launcher hears %q, lost %v, want %q, %v", stages, got, lost, want, wantLost)
		}
		end.Close()
	}
}

// TestNone: nothing is told where there is no launcher, and a descriptor that is none is an error.
func TestNone(t *testing.T) {
	(*Teller)(nil).Tell(Left)
	if got, lost := (*Watch)(nil).Close(); got != Absent || lost {
		t.Errorf("no watch: %q, lost %v", got, lost)
	}
	file, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, text := range []string{"", "2", "-1", "three", "1000000", fmt.Sprint(file.Fd())} {
		if _, err := Inherit(text); err == nil {
			t.Errorf("descriptor %q is taken", text)
		}
	}
}
