package nmad

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/pioman"

	"golang.org/x/sys/unix"
)

// TestConfigOfOne: a job of one process does not take what one of several would not.
func TestConfigOfOne(t *testing.T) {
	e := pioman.New(pioman.Config{})
	defer e.Close()
	for name, c := range map[string]Config{
		"Driver":    {Driver: "x"},
		"list":      {Driver: "tcp,"},
		"Profile":   {Profile: filepath.Join(t.TempDir(), "none")},
		"Announced": {Announced: flow.MaxCookies + 1},
		"Timeout":   {Timeout: -1},
		"Linger":    {Linger: -1},
	} {
		c.Size, c.Engine = 1, e
		if s, err := Open(context.Background(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				s.Close()
			}
		}
	}
	s, err := Open(context.Background(), Config{Size: 1, Engine: e, Announced: flow.MaxCookies, Driver: "tcp"})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// The documentation lists the variables of the tables, all of them, and nothing else.
func TestDocumentationListsTheEnvironment(t *testing.T) {
	b, err := os.ReadFile("../docs/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	var want [2]strings.Builder
	for _, v := range Environment {
		table := &want[0]
		if v.Told {
			table = &want[1]
		}
		table.WriteString("| `" + v.Name + "` | " + v.Values + " | " + v.Default + " | " + v.Meaning + " |\n")
	}
	for i := range want {
		if !strings.Contains(string(b), want[i].String()) {
			t.Errorf("docs/environment.md does not have this table:\n%s", &want[i])
		}
	}
	text, _, _ := strings.Cut(string(b), "## For tests")
	if n := strings.Count(text, "\n| `"); n != len(Environment) {
		t.Errorf("docs/environment.md has %d variables, want %d", n, len(Environment))
	}
}

// TestJoinWithoutASecret: Join ends with its context while the named pipe of EnvSecretFile has no writer, and does not say
// that the configuration is wrong.
func TestJoinWithoutASecret(t *testing.T) {
	name := filepath.Join(t.TempDir(), "secret")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	t.Setenv(EnvSecretFile, name)
	ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	if s, err := Join(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrConfig) {
		t.Fatalf("%v, %v", s, err)
	}
}

// A process that runs alone joins its job of one again and again, but once at a time.
func TestJoinTwice(t *testing.T) {
	for range 2 {
		s, err := Join(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Join(t.Context()); !errors.Is(err, ErrJoined) {
			t.Errorf("a second session: %v", err)
		}
		c, err := FromEnvironment()
		if err != nil {
			t.Fatal(err)
		}
		other, err := Open(t.Context(), c) // one that belongs to no job
		if err = errors.Join(err, other.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
