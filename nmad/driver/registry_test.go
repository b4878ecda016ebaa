package driver

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

type named string

func (n named) Name() string                { return string(n) }
func (named) Open(Config) (Endpoint, error) { return nil, ErrUnsupported }

// fresh empties the registry for a test.
func fresh(t *testing.T) {
	registry.Lock()
	old := registry.byName
	registry.byName = nil
	registry.Unlock()
	t.Cleanup(func() {
		registry.Lock()
		registry.byName = old
		registry.Unlock()
	})
}

func TestRegistry(t *testing.T) {
	fresh(t)
	if _, err := Lookup("shm"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "without any") {
		t.Errorf("no driver at all: %v", err)
	}
	for _, n := range []named{"tcp", "shm", "self"} {
		if err := Register(n); err != nil {
			t.Error(err)
		}
	}
	for _, n := range []named{"tcp", "", named(strings.Repeat("x", MaxName+1))} {
		if err := Register(n); err == nil {
			t.Errorf("%q was registered", n)
		}
	}
	if got := Names(); !slices.Equal(got, []string{"self", "shm", "tcp"}) {
		t.Errorf("names %q", got)
	}
	if d, err := Lookup("shm"); err != nil || d.Name() != "shm" {
		t.Errorf("%v, %v", d, err)
	}
	for name, hint := range map[string]string{
		"shmem": `"shm"`, "TCP": `"tcp"`, "tpc": `"tcp"`, "infiniband": "", "": "", "sharedmemory": "",
		strings.Repeat("y", 10000): "",
	} {
		_, err := Lookup(name)
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "self, shm, tcp") {
			t.Errorf("Lookup(%.20q): %v", name, err)
			continue
		}
		_, said, _ := strings.Cut(err.Error(), "did you mean ")
		if said = strings.TrimSuffix(said, "?)"); said != hint {
			t.Errorf("Lookup(%.20q) means %s, should be %s", name, said, hint)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		n    int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"shm", "shm", 0}, {"shm", "shn", 1}, {"tpc", "tcp", 2}, {"kitten", "sitting", 3}} {
		if got := edits(c.a, c.b); got != c.n {
			t.Errorf("%q to %q: %d edits, should be %d", c.a, c.b, got, c.n)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	good := Config{Rank: 1, Size: 2, Job: "j", Secret: []byte("s")}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Size = MaxSize + 1 },
		func(c *Config) { c.Size = 0; c.Rank = 0 },
		func(c *Config) { c.Rank = 2 },
		func(c *Config) { c.Rank = -1 },
		func(c *Config) { c.Secret = []byte{} },
		func(c *Config) { c.Job = strings.Repeat("j", MaxJob+1) },
	} {
		c := good
		change(&c)
		if err := c.Check(); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
