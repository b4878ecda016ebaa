package modeltest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// Check has spin look at the models that match a pattern: none breaks an assertion or leaves a process waiting, and
// each statement of a process is reached; and with each mutation there is an error. A model with the line "#define
// FINITE" has no run that goes on for ever, either. Without -long it skips, since a model changes only when its file
// does, and without spin, or tcc or gcc.
func Check(t *testing.T, pattern string) {
	t.Helper()
	if !effort.Long() {
		t.Skip("a search of minutes, which depends on nothing but the model: with -long")
	}
	if _, err := exec.LookPath("spin"); err != nil {
		t.Skip("the models are not checked: no spin in PATH (Debian: spin)")
	}
	if compiler() == nil {
		t.Skip("the models are not checked: no tcc or gcc in PATH (Debian: tcc, gcc)")
	}
	models, err := filepath.Glob(pattern)
	if err != nil || len(models) == 0 {
		t.Fatal("no models: ", err)
	}
	for _, model := range models {
		text, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		check(t, strings.TrimSuffix(filepath.Base(model), ".pml"), text)
	}
}

// compiler is the command that compiles what spin makes of a model; nil: there is none. Most searches take a quarter of
// a second: gcc compiles for longer, even without optimizing (with it for up to two minutes), and a mutation is a
// program of its own; tcc takes a fiftieth of that, and what it makes searches as fast.
func compiler() []string {
	for _, command := range [][]string{{"tcc", "-w"}, {"gcc", "-O0", "-w"}} {
		if _, err := exec.LookPath(command[0]); err == nil {
			return command
		}
	}
	return nil
}

func check(t *testing.T, name string, text []byte) {
	t.Run(name, func(t *testing.T) {
		found := search(t, text, "")
		t.Logf("%s states", found.states)
		if found.error != "" {
			t.Errorf("%s\n%s", found.error, found.trail())
		}
		for _, line := range found.unreached {
			t.Errorf("never reached: %s", line)
		}
	})
	mutations := mutationsOf(text)
	if len(mutations) == 0 {
		t.Errorf("%s: nothing shows that it can find an error", name)
	}
	for _, m := range mutations {
		t.Run(name+"/"+m, func(t *testing.T) {
			if found := search(t, text, m); found.error == "" {
				t.Errorf("no error is found in %s states", found.states)
			} else {
				t.Log(found.error)
			}
		})
	}
}

var (
	conditional = regexp.MustCompile(`(?m)^#if(?:n?def| !?defined\()\s*(\w+)`)
	finite      = regexp.MustCompile(`(?m)^#define FINITE$`)
	inlined     = regexp.MustCompile(`(?ms)^inline .*?^}|^inline .*?}$`)
)

// mutationsOf are the names that text asks for.
func mutationsOf(text []byte) (names []string) {
	for _, m := range conditional.FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sound is how a model is told that it has no mutation.
const sound = "-DNO_MUTATION"

// pan is what spin has found.
type pan struct {
	t         *testing.T
	folder    string
	define    string
	error     string // "": none
	states    string
	unreached []string
}

var (
	panErrors    = regexp.MustCompile(`(?m)errors: (\d+)$`)
	panStates    = regexp.MustCompile(`(?m)^\s*(\d+) states, stored`)
	panError     = regexp.MustCompile(`(?m)^pan:\d+: (.*)$`)
	panUnreached = regexp.MustCompile(`(?m)^\tmodel\.pml:(\d+), state \d+, (".*")$`)
)

// search has spin look at a model, with a name defined unless that is "".
func search(t *testing.T, text []byte, define string) *pan {
	t.Helper()
	p := &pan{t: t, folder: t.TempDir(), define: sound}
	if define != "" {
		p.define = "-D" + define
	}
	if err := os.WriteFile(filepath.Join(p.folder, "model.pml"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	p.run("spin", p.define, "-a", "model.pml")
	out := p.look("-DSAFETY", "-m100000", "-w20")
	p.states = panStates.FindStringSubmatch(out)[1]
	for _, m := range panUnreached.FindAllStringSubmatch(out, -1) {
		if n, _ := strconv.Atoi(m[1]); m[2] != `"-end-"` && !isInlined(text, n) {
			p.unreached = append(p.unreached, "line "+m[1]+": "+m[2])
		}
	}
	if p.error == "" && finite.Match(text) {
		p.look("-DNP", "-m100000", "-w20", "-l") // a cycle without progress, of which there is none: a run without end
	}
	return p
}

// look compiles what spin has made of the model and runs it to the end of its search.
func (p *pan) look(how string, args ...string) string {
	p.t.Helper()
	cc := compiler()
	p.run(cc[0], append(cc[1:], how, "-DCOLLAPSE", "-o", "pan", "pan.c")...)
	out := p.run("./pan", args...)
	n := panErrors.FindStringSubmatch(out)
	if n == nil || panStates.FindString(out) == "" || strings.Contains(out, "Search not completed") && n[1] == "0" || strings.Contains(out, "max search depth too small") {
		p.t.Fatalf("the model has not been searched to the end:\n%s", out)
	}
	if n[1] != "0" {
		p.error = panError.FindStringSubmatch(out)[1]
	}
	return out
}

// isInlined: not each place that line n of text goes to can reach all of it.
func isInlined(text []byte, n int) bool {
	return slices.ContainsFunc(inlined.FindAllIndex(text, -1), func(at []int) bool {
		first := 1 + bytes.Count(text[:at[0]], []byte("\n"))
		return n >= first && n <= first+bytes.Count(text[at[0]:at[1]], []byte("\n"))
	})
}

// trail is the way to the error, its last part.
func (p *pan) trail() string {
	out := p.run("spin", p.define, "-t", "-p", "-g", "model.pml")
	return out[max(0, len(out)-12000):]
}

// run runs a command, which must succeed.
func (p *pan) run(name string, args ...string) string {
	p.t.Helper()
	// Bounded by the processor's time, in seconds, not by that of the clock: others use the machine, too.
	limited := append([]string{"-c", `ulimit -t 120; exec "$0" "$@"`, name}, args...)
	cmd := exec.CommandContext(p.t.Context(), "sh", limited...)
	cmd.Dir, cmd.WaitDelay = p.folder, time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
