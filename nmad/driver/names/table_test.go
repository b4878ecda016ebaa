package names

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

type named string

func (n named) Name() string { return string(n) }

var errUnknown = errors.New("unknown driver")

func TestTable(t *testing.T) {
	table := Table[named]{What: "driver", Unknown: errUnknown}
	if _, err := table.Lookup("shm"); !errors.Is(err, errUnknown) || !strings.Contains(err.Error(), "without any") {
		t.Errorf("no driver at all: %v", err)
	}
	for _, n := range []named{"tcp", "shm", "self"} {
		if err := table.Register(n); err != nil {
			t.Error(err)
		}
	}
	for _, n := range []named{"tcp", "", named(strings.Repeat("x", MaxName+1))} {
		if err := table.Register(n); err == nil {
			t.Errorf("%q was registered", n)
		}
	}
	if got := table.Names(); !slices.Equal(got, []string{"self", "shm", "tcp"}) {
		t.Errorf("names %q", got)
	}
	if d, err := table.Lookup("shm"); err != nil || d.Name() != "shm" {
		t.Errorf("%v, %v", d, err)
	}
	for name, hint := range map[string]string{
		"shmem": `"shm"`, "TCP": `"tcp"`, "tpc": `"tcp"`, "infiniband": "", "": "", "sharedmemory": "",
		strings.Repeat("y", 10000): "",
	} {
		_, err := table.Lookup(name)
		if !errors.Is(err, errUnknown) || !strings.Contains(err.Error(), "self, shm, tcp") {
			t.Errorf("Lookup(%.20q): %v", name, err)
			continue
		}
		_, meant, _ := strings.Cut(err.Error(), "did you mean ")
		if meant = strings.TrimSuffix(meant, "?)"); meant != hint {
			t.Errorf("Lookup(%.20q) means %s, should be %s", name, meant, hint)
		}
	}
}
